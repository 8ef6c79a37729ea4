import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, inject, it } from 'vitest';
import { startFleet, type Fleet } from '../../support/lote/fleet.ts';
import type { PostgresDatabase } from '../../support/servers/postgres-database.ts';

const INVOICES = 30;
const LINES = 200;
/** Rows go to the ledger 2,000 at a time. */
const PORTIONS = (INVOICES * LINES) / 2_000;

/** What a stale attempt has for its next write. */
const STALE_TIME_MS = 10_000;
const POLL_INTERVAL_MS = 100;

/** Both cases wait for a heartbeat time-out most of the time; each has a ledger of its own. */
const BESIDE_EACH_OTHER = { concurrent: true };

/**
 * Two workers, one file: the one that reads is stopped for longer than its heartbeat time-out, a second one takes over, and the first goes on
 * while the second still reads. The second is stopped in the middle of it, so that the first has all the time it wants.
 */
describe.skipIf(inject('postgresUrl') === null)('a worker that is stopped while it reads', BESIDE_EACH_OTHER, () => {
  it.for([
    // It would forget what the second one wrote, and leave the first portions of its own in their place.
    ['after-claim', `after-rows:${PORTIONS}`],
    // It would write portions that the second one is about to write.
    ['after-rows:2', 'after-rows:1'],
  ])('at %s leaves the file to the one that took over, stopped at %s', async ([first, second], { onTestFinished }) => {
    const series = randomBytes(3).toString('hex').toUpperCase();
    const fleet = await startFleet({ sandbox: { latencyMs: 5, settleMs: 500 } }, onTestFinished);
    const { database } = fleet;
    const file = await fleet.file('wide.csv', { invoices: INVOICES, linesEach: LINES, series });
    const stopped = await fleet.up('worker', { CRASH_AT: `stop@${first}` });
    const run = fleet.all.start(['run', file, '--json'], fleet.clientEnv);
    await stopped.said('CRASH_AT: stopped at');
    const taker = await fleet.up('worker', { CRASH_AT: `stop@${second}` });
    await taker.said('CRASH_AT: stopped at');
    const before = await rowsRead(database);

    stopped.signal('SIGCONT');
    let lost = false;
    void stopped.said('claim-lost').then(
      () => (lost = true),
      () => undefined,
    );
    // It is told of its lost claim, or Temporal tells it that the attempt is over, before it writes anything.
    for (const over = performance.now() + STALE_TIME_MS; !lost && performance.now() < over;) {
      expect(await rowsRead(database), 'a stale attempt changes nothing').toBe(before);
      await sleep(POLL_INTERVAL_MS);
    }
    taker.signal('SIGCONT');
    const end = await run.end;

    expect(end.code, end.stderr).toBe(0);
    expect(await sentOf(fleet, series)).toEqual({
      invoices: INVOICES,
      shortest: LINES,
      longest: LINES,
      booked: INVOICES,
    });
    expect(fleet.sandbox.books().duplicates).toEqual([]);
  });

  async function rowsRead(database: PostgresDatabase): Promise<number> {
    const [found] = await database.rows<{ rows: number }>('SELECT count(*)::int AS rows FROM batch_row');
    return found?.rows ?? 0;
  }

  /** The bytes that the ledger froze, line by line, and how many of them the service has booked. */
  async function sentOf({ database, sandbox }: Fleet, series: string) {
    const bodies = await database.rows<{ lines: number; sha256: string }>(
      `SELECT jsonb_array_length(b.body::jsonb -> 'lines') AS lines, encode(sha256(convert_to(b.body, 'UTF8')), 'hex') AS sha256
       FROM invoice_body b JOIN invoice i USING (invoice_id) WHERE i.invoice_ref LIKE '${series}/%'`,
    );
    const booked = new Set(sandbox.books().invoices.map(({ bodySha256 }) => bodySha256));
    const lengths = bodies.map(({ lines }) => lines);
    return {
      invoices: bodies.length,
      shortest: Math.min(...lengths),
      longest: Math.max(...lengths),
      booked: bodies.filter(({ sha256 }) => booked.has(sha256)).length,
    };
  }
});
