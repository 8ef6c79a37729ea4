import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Sandbox } from '../../../src/sandbox/sandbox.ts';
import { newPlace, type Place, type RunningCommand } from '../../support/lote/lote-command.ts';
import { postgresDatabase, type PostgresDatabase } from '../../support/servers/postgres-database.ts';
import { processes } from '../../support/lote/processes.ts';
import { independentSandbox, SANDBOX_KEY } from '../../support/servers/sandbox-books.ts';
import { writeWideFile } from '../../support/files/wide-file.ts';

const INVOICES = 30;
const LINES = 200;
/** Rows go to the ledger 2,000 at a time. */
const PORTIONS = (INVOICES * LINES) / 2_000;

/** What a stale attempt has for its next write. */
const STALE_TIME_MS = 10_000;
const POLL_INTERVAL_MS = 100;

const server = inject('postgresUrl');
/** Both cases wait for a heartbeat time-out most of the time; each has a ledger of its own. */
const BESIDE_EACH_OTHER = { concurrent: true, timeout: 300_000 };

/**
 * Two workers, one file: the one that reads is stopped for longer than its heartbeat time-out, a second one takes over, and the first goes on
 * while the second still reads. The second is stopped in the middle of it, so that the first has all the time it wants.
 */
describe.skipIf(server === null)('a worker that is stopped while it reads', BESIDE_EACH_OTHER, () => {
  const all = processes();
  let place: Place;
  const databases: PostgresDatabase[] = [];
  let sandbox: Sandbox;

  beforeAll(async () => {
    place = await newPlace();
    sandbox = await independentSandbox({ latencyMs: 5, settleMs: 500 });
  });

  afterAll(async () => {
    await all.killAll();
    await sandbox.close();
    await Promise.all(databases.map((database) => database.drop()));
    await place.remove();
  });

  it.each([
    // It would forget what the second one wrote, and leave the first portions of its own in their place.
    ['after-claim', `after-rows:${PORTIONS}`],
    // It would write portions that the second one is about to write.
    ['after-rows:2', 'after-rows:1'],
  ])('at %s leaves the file to the one that took over, stopped at %s', async (first, second) => {
    const series = randomBytes(3).toString('hex').toUpperCase();
    const file = join(place.inputDir, `${series}.csv`);
    await writeWideFile(file, { invoices: INVOICES, lines: LINES, series });
    const database = await postgresDatabase(server ?? '');
    databases.push(database);
    const client = {
      ...place.env,
      DATABASE_URL: database.url,
      TEMPORAL_ADDRESS: inject('temporalAddress'),
      LOTE_TASK_QUEUE: `lote-${series}`,
    };
    const env = { ...client, INVOICING_BASE_URL: sandbox.url, INVOICING_API_KEY: SANDBOX_KEY };
    const startAt = async (crashAt: string): Promise<RunningCommand> => {
      const worker = all.start(['worker'], { ...env, LOTE_CRASH_AT: `stop@${crashAt}` });
      await worker.said('Worker on task queue');
      return worker;
    };
    const stopped = await startAt(first);
    const run = all.start(['run', file, '--json'], client);
    await stopped.said('LOTE_CRASH_AT: stopped at');
    const taker = await startAt(second);
    await taker.said('LOTE_CRASH_AT: stopped at');
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
    expect(await sentOf(database, series)).toEqual({
      invoices: INVOICES,
      shortest: LINES,
      longest: LINES,
      booked: INVOICES,
    });
    expect(sandbox.books().duplicates).toEqual([]);
    for (const worker of [stopped, taker]) worker.killGroup();
  });

  async function rowsRead(database: PostgresDatabase): Promise<number> {
    const [found] = await database.rows<{ rows: number }>('SELECT count(*)::int AS rows FROM batch_row');
    return found?.rows ?? 0;
  }

  /** The bytes that the ledger froze, line by line, and how many of them the service has booked. */
  async function sentOf(database: PostgresDatabase, series: string) {
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
