import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../../../src/database/database.ts';
import { PASSING_SQLSTATES, passingSqlState } from '../../../../src/database/statement-failure.ts';

/** Each row of the table: a code, or a class with a code that falls under it. */
const PASSING = new Map(
  [
    '08 08006|25006|25P02|25P03|25P04|26000|42P05|42P10|28 28P01|3D000|42501|40001|40P01|40003|53100|53300',
    '53 53400|55P03|57014|57 57P01|58 58030|72 72000|XX001|XX002',
  ].flatMap((rows) => rows.split('|').map((row) => [row.split(' ')[0] ?? '', row.split(' ')[1] ?? row] as const)),
);

/** Constraints, types, syntax, missing tables, limits of the program: the next try fails in the same way. */
const LASTING = ['23502', '23514', '22P02', '22003', '42P01', '42601', '42703', '0A000', '21000', '54000', 'XX000'];

/** Both drivers hear which errors pass, from a database that really raises them. */
export function passingErrorsContract(open: () => Promise<Database>): void {
  describe('errors of the database', () => {
    let database: Database;
    beforeAll(async () => {
      database = await open();
    });
    afterAll(() => database.close());

    it('have a test for each row of the table', () => {
      expect([...PASSING.keys()].toSorted()).toEqual(PASSING_SQLSTATES.map(({ sqlState }) => sqlState).toSorted());
    });

    it.each(PASSING_SQLSTATES.map((row) => [row.sqlState, PASSING.get(row.sqlState) ?? '', row] as const))(
      'pass by row %s (%s), say what was found, and leave a database that works',
      async (_row, sqlState, { found }) => {
        const failure: unknown = await raise(database, sqlState);

        expect(failure).toMatchObject({ code: 'ledger-unavailable', sqlState });
        expect((failure as Error).message).toContain(`${found} (SQLSTATE ${sqlState}, statement "raise-error")`);
        expect(await database.query('SELECT 1 AS n')).toEqual([{ n: 1 }]);
      },
    );

    it.each(LASTING)('do not pass by %s', async (sqlState) => {
      expect(passingSqlState(sqlState)).toBeNull();
      expect(await raise(database, sqlState)).toMatchObject({ code: 'internal', sqlState });
    });

    it('are told by the first statement of a transaction that failed, not by one that was refused for it', async () => {
      const failure: unknown = await database
        .transaction(async (queries) => {
          await queries.query(raising('53100')).catch(() => undefined);
          await queries.query('SELECT 1');
        })
        .catch((error: unknown) => error);

      expect(failure).toMatchObject({ code: 'ledger-unavailable', sqlState: '53100' });
    });
  });
}

function raise(database: Database, sqlState: string): Promise<unknown> {
  return database.query(raising(sqlState)).catch((error: unknown) => error);
}

function raising(sqlState: string): string {
  return `/* raise-error */ DO $$ BEGIN RAISE EXCEPTION 'Maria Silva' USING ERRCODE = '${sqlState}'; END $$`;
}
