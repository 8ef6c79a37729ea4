import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { shared } from '../../support/lifetime.ts';
import { startFleet, testFleet, type Fleet } from '../../support/lote/fleet.ts';
import type { RunningCommand } from '../../support/lote/lote-command.ts';
import { isInvoice } from '../../support/servers/service-front.ts';
import { until } from '../../support/until.ts';

const INVOICES = 40;
/** Answered before the ledger or the service stands still. */
const ANSWERED = 6;
const AT_A_TIME = 2;
const SLOW_MS = 3_000;
/** Longer than `lote run` looks for a worker. */
const STANDS_STILL_MS = 12_000;
const PARTS = { roles: ['receiver', 'worker'], isProved: true } as const;
const noPostgres = inject('postgresUrl') === null;

describe.skipIf(noPostgres)('a worker that stands still', () => {
  it('and had begun a run is waited for by `lote run`, however long it stands still', async () => {
    const fleet = await testFleet({ ...PARTS, sandbox: { latencyMs: 1_000 } });
    const worker = fleet.parts[1];
    await fleet.startFile('frozen.csv', 200);
    await until(() => fleet.postTimes().length > 5);
    worker?.signal('SIGSTOP');

    const run = fleet.all.start(['run', `${fleet.place.inputDir}/frozen.csv`], fleet.env);
    await sleep(STANDS_STILL_MS);
    worker?.signal('SIGCONT');

    const { code, stdout, stderr } = await run.end;
    expect(code, stderr).toBe(0);
    expect(stdout + stderr).not.toContain('Nothing was sent');
    expect(stdout).toMatch(/issued +200/u);
  });
});

describe.skipIf(noPostgres)('a worker that is stopped while its ledger answers nothing', () => {
  it('leaves, says what it gave up, and another one issues the rest', async () => {
    // The rest takes seven seconds, so that the ledger is locked while invoices are still to be sent.
    const slow = { profile: { limits: { maxConcurrency: 1 } }, sandbox: { latencyMs: 200 } };
    const fleet = await testFleet({ ...PARTS, ...slow, env: { LOTE_PAGE_SIZE: '5' } });
    const worker = fleet.parts[1] as RunningCommand;
    const batch = await fleet.startFile('night.csv', INVOICES);
    await until(() => fleet.postTimes().length > ANSWERED);
    const unlock = await lock(fleet, 'invoice, batch');
    try {
      worker.signal('SIGTERM');
      const { signal, stderr } = await worker.end;
      expect(signal, stderr).toBe('SIGKILL');
      expect(stderr).toContain('a worker gave up work that did not end in time');
      expect(stderr).toMatch(/"left":\[\{"activities":[1-9]/);
      expect(stderr).toContain('GracefulShutdownPeriodExpiredError');
    } finally {
      await unlock();
    }

    fleet.start('worker');
    expect((await batch.result()).counts).toMatchObject({ invoices: INVOICES, issued: INVOICES });
    fleet.expectIssued(INVOICES);
  });
});

/** As a backup with locks, or an upgrade of the server, does; until the returned function is called. */
async function lock({ database }: Fleet, tables: string): Promise<() => Promise<void>> {
  const other = new pg.Client({ connectionString: database.url });
  await other.connect();
  await other.query('BEGIN');
  await other.query(`LOCK TABLE ${tables} IN ACCESS EXCLUSIVE MODE`);
  return () => other.end();
}

/** The worker that sends the rest of the first test's file is the one that the second test stops. */
describe.skipIf(noPostgres)('a worker that is stopped while it sends', () => {
  // Others of the same page wait for the two requests, and several slices: they do not end before the worker gives them up.
  const options = { ...PARTS, profile: { limits: { maxConcurrency: AT_A_TIME } }, env: { LOTE_PAGE_SIZE: '5' } };
  const fleet = shared(() => startFleet(options));
  let worker: RunningCommand;

  beforeAll(() => {
    worker = fleet.parts[1] as RunningCommand;
  });

  it('sends nothing more, leaves as soon as what it has on the wire is answered, and another one sends the rest', async () => {
    const released = new AbortController();
    fleet.front.script = async (request) => {
      if (isInvoice(request) && fleet.postTimes().length > ANSWERED)
        await sleep(SLOW_MS, undefined, { signal: released.signal }).catch(() => undefined);
      return 'pass' as const;
    };
    const batch = await fleet.startFile('night.csv', INVOICES);
    await until(() => fleet.postTimes().length === ANSWERED + AT_A_TIME);

    worker.signal('SIGTERM');
    const { code, stderr } = await worker.end;
    expect(code, stderr).toBe(0);
    expect(fleet.postTimes()).toHaveLength(ANSWERED + AT_A_TIME);

    released.abort();
    worker = fleet.start('worker');
    expect((await batch.result()).counts).toMatchObject({ invoices: INVOICES, issued: INVOICES });
    fleet.expectIssued(INVOICES);
  });

  it('leaves although the service never answers', async () => {
    const answered = fleet.postTimes().length + ANSWERED;
    fleet.front.script = (request) =>
      isInvoice(request) && fleet.postTimes().length > answered ? new Promise<never>(() => undefined) : 'pass';
    await fleet.startFile('next.csv', INVOICES, 'N');
    await until(() => fleet.postTimes().length > answered);

    worker.signal('SIGTERM');
    const { code, signal, stderr } = await worker.end;
    expect([0, 'SIGKILL'], stderr).toContain(code ?? signal);
  });

  it('leaves in order, too, when it has just come up and sends what waited for it', async () => {
    fleet.front.script = () => 'pass' as const;
    const before = fleet.postTimes().length;
    worker = fleet.start('worker');
    await until(() => fleet.postTimes().length > before);

    worker.signal('SIGTERM');

    const { code, signal, stderr } = await worker.end;
    expect(code ?? signal, stderr).toBe(0);
  });
});
