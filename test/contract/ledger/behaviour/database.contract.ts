import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../../../src/database/database.ts';
import { arrayLiteral } from '../../../../src/ledger/sql.ts';

/** What the ledger relies on in a driver. */
export function databaseContract(open: () => Promise<Database>): void {
  describe('a database', () => {
    let database: Database;
    beforeAll(async () => {
      database = await open();
      await database.query('CREATE TABLE note (id integer PRIMARY KEY, text text)');
    });
    afterAll(() => database.close());

    it('gives int8 as number, and arrays as arrays', async () => {
      const [row] = await database.query(
        `SELECT 1700000000000::bigint AS big, count(*) AS n, '{1,2}'::int[] AS numbers, '{a,"b c"}'::text[] AS texts, true AS yes`,
      );

      expect(row).toEqual({ big: 1_700_000_000_000, n: 1, numbers: [1, 2], texts: ['a', 'b c'], yes: true });
    });

    it('reads array literals back as they were', async () => {
      const texts = [
        ...['', null, 'NULL', 'null', '"', '\\', '{}', ',', ' a ', "'", 'é€🎉', '\n\r\t', '\\"', '{"a":"b\\\\n"}'],
        ...['n\u007F\u2028\uFFFD', '\u0001"\\'],
      ];

      const rows = await database.query<{ text: string | null }>('SELECT u.text FROM unnest($1::text[]) AS u(text)', [
        arrayLiteral(texts),
      ]);

      expect(rows.map((row) => row.text)).toEqual(texts);
    });

    it('commits a transaction that resolves and rolls back one that throws', async () => {
      await database.transaction(async (queries) => {
        await queries.query(`INSERT INTO note VALUES (1, 'kept')`);
      });
      const thrown = new Error('on purpose');
      await expect(
        database.transaction(async (queries) => {
          await queries.query(`INSERT INTO note VALUES (2, 'dropped')`);
          throw thrown;
        }),
      ).rejects.toBe(thrown);

      expect(await database.query('SELECT id FROM note WHERE id IN (1, 2)')).toEqual([{ id: 1 }]);
    });

    it('never takes a commit for done when a statement inside had failed, even when nobody listened', async () => {
      const swallowing = database.transaction(async (queries) => {
        await queries.query(`INSERT INTO note VALUES (3, 'x')`);
        await queries.query('SELECT * FROM no_such_table').catch(() => undefined);
      });

      await expect(swallowing).rejects.toMatchObject({ sqlState: '42P01' });
      expect(await database.query('SELECT id FROM note WHERE id = 3')).toEqual([]);
    });

    it('keeps other queries out of a transaction', async () => {
      let seen: unknown = null;
      const transaction = database.transaction(async (queries) => {
        await queries.query(`INSERT INTO note VALUES (4, 'x')`);
        throw new Error('roll back');
      });
      const outside = database.query(`INSERT INTO note VALUES (5, 'mine') RETURNING id`).then((rows) => (seen = rows));

      await expect(transaction).rejects.toThrow('roll back');
      await outside;

      expect(seen).toEqual([{ id: 5 }]);
      expect(await database.query('SELECT id FROM note WHERE id IN (4, 5)')).toEqual([{ id: 5 }]);
    });

    it('lets one failing query fail alone among many', async () => {
      const results = await Promise.allSettled([
        database.query('SELECT 1 AS n'),
        database.query('SELECT * FROM no_such_table'),
        database.query('SELECT 2 AS n'),
      ]);

      expect(results.map((result) => result.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    });

    it('names statement, SQLSTATE and constraint in a failure, and no value', async () => {
      const secret = 'Maria Silva 501964843';
      await database.query('CREATE TABLE person (name text PRIMARY KEY)');
      const insert = `/* insert-person */ INSERT INTO person VALUES ($1)`;
      await database.query(insert, [secret]);

      const failure: unknown = await database.query(insert, [secret]).catch((error: unknown) => error);

      expect(failure).toMatchObject({ code: 'ledger-race', sqlState: '23505', constraint: 'person_pkey' });
      expect((failure as Error).message).toContain('"insert-person"');
      expect(`${(failure as Error).stack} ${JSON.stringify(failure)}`).not.toContain('Maria');
      expect((failure as Error).cause).toBeUndefined();
    });
  });
}
