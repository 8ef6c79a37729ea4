import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../../src/database/database.ts';
import { makeLedger } from '../../../src/ledger/open-pglite-ledger.ts';
import { openPgliteDatabase } from '../../../src/database/open-pglite-database.ts';
import { smallDisk, type SmallDisk } from '../../support/crash/small-disk.ts';
import { LEDGER_TEMPLATES } from '../../support/servers/temporary-database.ts';

/** A new cluster takes 39 MB, and each recovery wants room for one more file of the log, 16 MB. */
const DISK_MB = 112;
const ROWS = 5_000;
/** Written to the log alone: nothing but the log can be what is full. */
const TO_LOG = `SELECT pg_logical_emit_message(true, 'test', repeat('x', 200000))`;

const disk = await smallDisk(DISK_MB);

describe.skipIf(disk === null)('PGlite on a full disk', { timeout: 300_000 }, () => {
  const place = disk as SmallDisk;
  let database: Database;
  beforeAll(async () => {
    const directory = join(place.path, 'ledger');
    await makeLedger(directory, LEDGER_TEMPLATES);
    database = await openPgliteDatabase(directory);
    await database.query('CREATE TABLE note (id integer PRIMARY KEY, text text NOT NULL)');
  }, 300_000);
  afterAll(async () => {
    place.empty();
    await database.close();
    await place.remove();
  });

  it('refuses a row that has no room as trouble that passes, and takes it when there is room', async () => {
    place.fill();
    const failure = await untilRefused((id) =>
      database.query('INSERT INTO note VALUES ($1, $2)', [id, 'x'.repeat(2_000)]),
    );
    place.empty();

    expect(failure).toMatchObject({ code: 'ledger-unavailable' });
    expect(await untilTaken(() => database.query(`INSERT INTO note VALUES (-1, 'late') RETURNING id`))).toEqual([
      { id: -1 },
    ]);
  });

  it('starts again after it could not write its log, without anything that was acknowledged being lost', async () => {
    await database.query(`INSERT INTO note VALUES (-2, 'acknowledged')`);
    place.fill();
    const failure = await untilRefused(() => database.query(TO_LOG));
    const whileFull: unknown = await database.query('SELECT 1').catch((error: unknown) => error);
    const inside = database.transaction(async (queries) => {
      await queries.query(`INSERT INTO note VALUES (-3, 'never')`);
    });
    await expect(inside).rejects.toMatchObject({ code: 'ledger-unavailable' });
    place.empty();

    expect(failure).toMatchObject({
      code: 'ledger-unavailable',
      message: expect.stringContaining('broke down') as string,
    });
    expect(whileFull).toMatchObject({ code: 'ledger-unavailable' });
    expect(await untilTaken(() => database.query('SELECT id FROM note WHERE id < -1'))).toEqual([{ id: -2 }]);
    expect(await database.query(`INSERT INTO note VALUES (-4, 'new') RETURNING id`)).toEqual([{ id: -4 }]);
  });

  it('refuses all that waited together when one of them could not write its log', async () => {
    place.fill();
    const outcomes = await untilBroken(() =>
      // The first goes alone; those that wait for it go in one message, and the database ends with the first of them.
      Promise.allSettled([
        database.query('SELECT 1'),
        database.query(TO_LOG),
        database.query(TO_LOG),
        database.query('SELECT 1'),
      ]),
    );
    place.empty();

    expect(outcomes.at(-1)).toMatchObject({ status: 'rejected', reason: { code: 'ledger-unavailable' } });
    expect(await untilTaken(() => database.query(`INSERT INTO note VALUES (-5, 'after') RETURNING id`))).toEqual([
      { id: -5 },
    ]);
  });
});

async function untilBroken(
  write: () => Promise<readonly PromiseSettledResult<unknown>[]>,
): Promise<readonly PromiseSettledResult<unknown>[]> {
  for (let round = 1; round <= ROWS; round += 1) {
    const outcomes = await write();
    if (outcomes[1]?.status === 'rejected') return outcomes;
  }
  throw new Error('The disk never was full');
}

async function untilRefused(write: (id: number) => Promise<unknown>): Promise<unknown> {
  for (let id = 1; id <= ROWS; id += 1) {
    const failure: unknown = await write(id).then(
      () => null,
      (error: unknown) => error,
    );
    if (failure !== null) return failure;
  }
  throw new Error('The disk never was full');
}

async function untilTaken<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch {
      await sleep(200);
    }
  }
}
