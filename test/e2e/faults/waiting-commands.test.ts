import { beforeEach, describe, expect, inject, it } from 'vitest';
import { forTest } from '../../support/lifetime.ts';
import { testFleet } from '../../support/lote/fleet.ts';
import type { RunningCommand } from '../../support/lote/lote-command.ts';
import { ageSendLog, lotePlace, type LotePlace } from '../../support/lote/running-lote.ts';
import { sql } from '../../support/servers/postgres-database.ts';
import { until } from '../../support/until.ts';

const DAY_MS = 24 * 60 * 60_000;

describe('a command that waits for the owner of its data directory', () => {
  let place: LotePlace;
  let file: string;
  let owner: RunningCommand;

  beforeEach(async () => {
    // No invoice has its final word while a test runs.
    place = await forTest(lotePlace({ sandbox: { settleMs: 3_600_000 }, env: { LOTE_SETTLE_TIMEOUT: '15m' } }));
    file = await place.file('waiting.csv', { invoices: 3 });
    owner = place.start('up');
    await owner.said('Console');
  });

  it('leaves at Ctrl-C where the owner is stopped, or says after a while that it is silent', async () => {
    owner.signal('SIGSTOP');
    const patient = place.start('run', file);
    await patient.said('Waiting for the process that owns the data directory');
    const interrupted = place.start('run', file);
    await interrupted.said('Waiting for the process that owns the data directory');
    interrupted.signal('SIGINT');
    const others = [place.start('nightly', 'now'), place.start('reconcile')];

    const first = await Promise.race([interrupted.end, patient.end]);
    expect(first.code, 'the one that was interrupted waits for nothing').toBe(130);
    const { code, stderr } = await patient.end;
    expect(code, stderr).toBe(3);
    expect(stderr).toContain('within 30 s. Nothing was opened or changed. That process may be stopped');
    expect(stderr).not.toContain('has left');
    for (const other of others) {
      const end = await other.end;
      expect(end.code, end.stderr).toBe(3);
      expect(end.stderr).toContain('within 30 s. Nothing was opened or changed. That process may be stopped');
    }
    owner.killGroup();
    await owner.end;
    expect(place.sandbox.books().totals.invoices).toBe(0);
  });

  it('ends and says so where the owner is killed, though its Temporal server lives on', async () => {
    const night = place.start('nightly', 'now');
    await until(() => place.sandbox.books().totals.invoices === 3);
    owner.killGroup();

    const { code, stderr } = await night.end;

    expect(code, stderr).toBe(3);
    expect(stderr).toContain('Waiting for the owner of the data directory: it has ended.');
  });
});

describe.skipIf(inject('postgresUrl') === null)('a command whose work is done elsewhere', () => {
  it('starts nothing where it is interrupted while the service does not answer yet', async () => {
    const fleet = await testFleet({ roles: ['worker'] });
    const file = await fleet.file('interrupted.csv', { invoices: 3 });
    const before = fleet.front.requests.length;
    let answer = (): void => undefined;
    fleet.front.script = () => new Promise((resolve) => (answer = () => resolve('pass')));

    const run = fleet.all.start(['run', file], fleet.env);
    await until(() => fleet.front.requests.length > before);
    run.signal('SIGINT');

    expect((await run.end).code).toBe(130);
    expect(await fleet.database.rows('SELECT FROM batch')).toEqual([]);
    answer();
  });

  it('says within seconds that the ledger must be confirmed', async () => {
    const fleet = await testFleet();
    await fleet.file('known.csv', { invoices: 3 });
    const first = await fleet.up('worker');
    const night = await fleet.run('nightly', 'now');
    expect(night.stdout, night.stderr).toContain('1 files');
    first.signal('SIGTERM');
    await first.end;
    await sql(fleet.database.url, 'DROP SCHEMA public CASCADE; CREATE SCHEMA public');
    await ageSendLog(fleet.place.reportsDir, 2 * DAY_MS);
    await fleet.file('after.csv', { invoices: 2, series: 'B' });
    // The worker of the lost ledger polled the other queue within the last 90 s.
    const env = { ...fleet.clientEnv, LOTE_TASK_QUEUE: `${fleet.clientEnv['LOTE_TASK_QUEUE']}-new` };
    await fleet.up('worker', env);

    const waiting = [['nightly', 'now'], ['reconcile']].map((command) => fleet.all.start(command, env));

    for (const command of waiting) await command.said('confirm it once: lote confirm-ledger');
  });
});
