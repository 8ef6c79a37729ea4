import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import type { Sandbox } from '../../../src/sandbox/sandbox.ts';
import { writeInvoiceFile } from '../../support/files/invoice-file.ts';
import { distributedPlace } from '../../support/lote/distributed-place.ts';
import { newPlace, type Place, type RunningCommand } from '../../support/lote/lote-command.ts';
import { processes } from '../../support/lote/processes.ts';
import { independentSandbox, SANDBOX_KEY } from '../../support/servers/sandbox-books.ts';
import { sandboxEnv } from '../../support/servers/sandbox-env.ts';
import { startServiceFront } from '../../support/servers/service-front.ts';
import { sharedTemporal } from '../../support/servers/shared-temporal.ts';
import { until } from '../../support/until.ts';

describe('a command that waits for the owner of its data directory', { timeout: 300_000 }, () => {
  const all = processes();
  let place: Place;
  let sandbox: Sandbox;
  let env: Readonly<Record<string, string>>;
  let file: string;
  let owner: RunningCommand;

  beforeEach(async () => {
    place = await newPlace();
    // No invoice has its final word while a test runs.
    sandbox = await independentSandbox({ settleMs: 3_600_000 });
    env = { ...(await sandboxEnv(place, sandbox)), ...sharedTemporal(), LOTE_DROP_STABLE_FOR: '50ms' };
    await mkdir(place.inputDir, { recursive: true });
    file = join(place.inputDir, 'waiting.csv');
    await writeInvoiceFile(file, { invoices: 3 });
    owner = all.start(['up'], env);
    await owner.said('Console');
  });

  afterEach(async () => {
    await sandbox.close();
    await place.remove();
  });

  afterAll(() => all.killAll());

  it('leaves at Ctrl-C where the owner is stopped, or says after a while that it is silent', async () => {
    owner.signal('SIGSTOP');
    const patient = all.start(['run', file], env);
    await patient.said('Handing over');
    const interrupted = all.start(['run', file], env);
    await interrupted.said('Handing over');
    interrupted.signal('SIGINT');
    const others = [['nightly', 'now'], ['reconcile']].map((parameters) => all.start(parameters, env));

    const first = await Promise.race([interrupted.end, patient.end]);
    expect(first.code, 'the one that was interrupted waits for nothing').toBe(130);
    const { code, stderr } = await patient.end;
    expect(code, stderr).toBe(3);
    expect(stderr).toContain('its console must answer within 90 s, and it does not');
    expect(stderr).not.toContain('has left');
    for (const other of others) {
      const end = await other.end;
      expect(end.code, end.stderr).toBe(3);
      expect(end.stderr).toContain('its console must answer within 30 s, and it does not. It may be stopped, or busy');
    }
    owner.killGroup();
    await owner.end;
    expect(sandbox.books().totals.invoices).toBe(0);
  });

  it('ends and says so where the owner is killed, though its Temporal server lives on', async () => {
    const night = all.start(['nightly', 'now'], env);
    await until(() => sandbox.books().totals.invoices === 3);
    owner.killGroup();

    const { code, stderr } = await night.end;

    expect(code, stderr).toBe(3);
    expect(stderr).toContain('Waiting for the owner of the data directory: it has ended.');
  });
});

describe.skipIf(inject('postgresUrl') === null)('a command whose work is done elsewhere', { timeout: 120_000 }, () => {
  it('starts nothing where it is interrupted while the service does not answer yet', async () => {
    const there = await distributedPlace({
      postgresUrl: inject('postgresUrl') ?? '',
      temporalAddress: inject('temporalAddress'),
    });
    const front = await startServiceFront(there.env['INVOICING_BASE_URL'] ?? '');
    let answer = (): void => undefined;
    front.script = () => new Promise((resolve) => (answer = () => resolve('pass')));
    try {
      const worker = there.processes.start(['worker'], there.env);
      await worker.said('Worker on task queue');
      const file = join(there.place.inputDir, 'interrupted.csv');
      await writeInvoiceFile(file, { invoices: 3 });
      const service = { INVOICING_BASE_URL: front.url, INVOICING_API_KEY: SANDBOX_KEY };
      const run = there.processes.start(['run', file], { ...there.client, ...service });
      await until(() => front.requests.length > 0);
      run.signal('SIGINT');

      expect((await run.end).code).toBe(130);
      expect(await there.database.rows('SELECT FROM batch')).toEqual([]);
    } finally {
      answer();
      await front.close();
      await there.remove();
    }
  });
});
