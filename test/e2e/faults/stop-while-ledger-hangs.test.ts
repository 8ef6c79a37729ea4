import pg from 'pg';
import { describe, expect, inject, it } from 'vitest';
import type { RunningCommand } from '../../support/lote/lote-command.ts';
import { withFleet, type WorkerFleet } from '../../support/lote/worker-fleet.ts';
import { until } from '../../support/until.ts';

const INVOICES = 40;
/** Answered before the ledger stands still. */
const ANSWERED = 6;
/** The rest takes seven seconds, so that the ledger is locked while invoices are still to be sent. */
const SLOW = {
  profile: { limits: { maxConcurrency: 1 } },
  env: { LOTE_PAGE_SIZE: '5' },
  sandbox: { latencyMs: 200 },
};

describe.skipIf(inject('postgresUrl') === null)('a worker that is stopped', { timeout: 240_000 }, () => {
  it('while its ledger answers nothing leaves, says what it gave up, and another one issues the rest', async () => {
    await withFleet({ workers: 1, ...SLOW }, async (fleet) => {
      const [worker] = fleet.workers as [RunningCommand];
      const batch = await fleet.startFile('night.csv', INVOICES);
      await until(() => fleet.postTimes().length > ANSWERED);
      const unlock = await lock(fleet, 'invoice, batch');
      try {
        worker.signal('SIGTERM');
        const { signal, stderr } = await worker.end;
        expect(signal, stderr).toBe('SIGKILL');
        expect(stderr).toContain('an activity goes on although it was cancelled');
        expect(stderr).toContain('a worker gave up work that did not end in time');
        expect(stderr).toMatch(/"left":\[\{"activities":[1-9]/);
        expect(stderr).toContain('GracefulShutdownPeriodExpiredError');
      } finally {
        await unlock();
      }

      fleet.startWorker();
      expect((await batch.result()).counts).toMatchObject({ invoices: INVOICES, issued: INVOICES });
      expect(fleet.sandbox.books().duplicates).toEqual([]);
    });
  });
});

describe.skipIf(inject('postgresUrl') === null)('a receiver that is stopped', () => {
  it('while its ledger answers nothing leaves', async () => {
    await withFleet({ workers: 0 }, async (fleet) => {
      const unlock = await lock(fleet, 'profile_misfit');
      try {
        // It looks for what does not fit the profile every ten seconds.
        await until(async () => (await fleet.database.rows(WAITING)).length > 0);
        fleet.receiver.signal('SIGTERM');
        const { code, stderr } = await fleet.receiver.end;

        expect(code, stderr).toBe(0);
      } finally {
        await unlock();
      }
    });
  });
});

const WAITING = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;

/** As a backup with locks, or an upgrade of the server, does; until the returned function is called. */
async function lock({ database }: WorkerFleet, tables: string): Promise<() => Promise<void>> {
  const other = new pg.Client({ connectionString: database.url });
  await other.connect();
  await other.query('BEGIN');
  await other.query(`LOCK TABLE ${tables} IN ACCESS EXCLUSIVE MODE`);
  return () => other.end();
}
