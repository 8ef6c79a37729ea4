import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { RunningCommand } from '../../support/lote/lote-command.ts';
import { startFleet } from '../../support/lote/worker-fleet.ts';
import { until } from '../../support/until.ts';

const INVOICES = 40;
/** Those after them are never answered. */
const ANSWERED = 6;
/** Two requests at a time, for which others of the same page wait, and several slices: they do not end before the worker gives them up. */
const TWO_AT_A_TIME = { profile: { limits: { maxConcurrency: 2 } }, env: { LOTE_PAGE_SIZE: '5' } };
const SLOW_MS = 3_000;

/** The worker that sends the rest of the first test's file is the one that the second test stops. */
describe.skipIf(inject('postgresUrl') === null)('a worker that is stopped', { timeout: 240_000 }, () => {
  let fleet: Awaited<ReturnType<typeof startFleet>>;
  let worker: RunningCommand;

  beforeAll(async () => {
    fleet = await startFleet({ workers: 1, ...TWO_AT_A_TIME });
    [worker] = fleet.workers as [RunningCommand];
  });

  afterAll(() => fleet.remove());

  it('sends nothing more, leaves as soon as what it has on the wire is answered, and another one sends the rest', async () => {
    const { front, postTimes, sandbox } = fleet;
    const released = new AbortController();
    front.script = async ({ path, method }) => {
      if (method === 'POST' && path === '/v1/invoices' && postTimes().length > ANSWERED)
        await sleep(SLOW_MS, undefined, { signal: released.signal }).catch(() => undefined);
      return 'pass' as const;
    };
    const batch = await fleet.startFile('night.csv', INVOICES);
    const onTheWire = ANSWERED + TWO_AT_A_TIME.profile.limits.maxConcurrency;
    await until(() => postTimes().length === onTheWire);

    worker.signal('SIGTERM');
    const { code, stderr } = await worker.end;
    expect(code, stderr).toBe(0);
    expect(postTimes()).toHaveLength(onTheWire);

    released.abort();
    worker = fleet.startWorker();
    expect((await batch.result()).counts).toMatchObject({ invoices: INVOICES, issued: INVOICES });
    const { duplicates, totals } = sandbox.books();
    expect(duplicates).toEqual([]);
    expect(totals).toMatchObject({ issued: INVOICES, failed: 0 });
  });

  it('leaves although the service never answers', async () => {
    const answered = fleet.postTimes().length + ANSWERED;
    fleet.front.script = ({ path, method }) =>
      method === 'POST' && path === '/v1/invoices' && fleet.postTimes().length > answered
        ? new Promise<never>(() => undefined)
        : 'pass';
    await fleet.startFile('next.csv', INVOICES, 'N');
    await until(() => fleet.postTimes().length > answered);

    worker.signal('SIGTERM');
    const { code, signal, stderr } = await worker.end;
    expect([0, 'SIGKILL'], stderr).toContain(code ?? signal);
  });

  it('leaves in order, too, when it has just come up and sends what waited for it', async () => {
    fleet.front.script = () => 'pass' as const;
    const before = fleet.postTimes().length;
    worker = fleet.startWorker();
    await until(() => fleet.postTimes().length > before);

    worker.signal('SIGTERM');

    const { code, signal, stderr } = await worker.end;
    expect(code ?? signal, stderr).toBe(0);
  });
});
