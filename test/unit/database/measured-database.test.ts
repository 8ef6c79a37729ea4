import { describe, expect, it } from 'vitest';
import { LoteError } from '../../../src/domain/errors.ts';
import { type Database, type Queries, runTransaction, measuredDatabase } from '../../../src/database/database.ts';
import { StatementFailure } from '../../../src/database/statement-failure.ts';

const UNAVAILABLE = new LoteError('ledger-unavailable', 'away');
const refused = (sqlState: string): StatementFailure => new StatementFailure('/* freeze */ INSERT', sqlState, null);

/** What failed, of a database whose named statements fail with `error`. */
async function failedOf(error: Error | null, use: (database: Database) => Promise<unknown>): Promise<string[]> {
  const failed: string[] = [];
  const queries: Queries = {
    async query(text) {
      if (error !== null && text.startsWith('/*')) throw error;
      return [];
    },
  };
  const database: Database = {
    ...queries,
    transaction: (work) => runTransaction(queries, work),
    close: async () => undefined,
  };
  const measured = measuredDatabase(database, (statement, _ms, hasFailed) => {
    if (hasFailed) failed.push(statement);
  });
  await use(measured).catch(() => undefined);
  return failed;
}

const alone = (database: Database): Promise<unknown> => database.query('/* freeze */ INSERT');
const inside = (database: Database): Promise<unknown> =>
  database.transaction((queries) => queries.query('/* freeze */ INSERT'));

describe('failures of a measured database', () => {
  it.each([refused('23514'), refused('40P01'), UNAVAILABLE])('are each counted once: %s', async (error) => {
    expect(await failedOf(error, alone)).toEqual(['freeze']);
    expect(await failedOf(error, inside)).toEqual(['transaction']);
  });

  it('are not those in which another writer of the key was faster', async () => {
    expect(await failedOf(refused('23505'), alone)).toEqual([]);
    expect(await failedOf(refused('23505'), inside)).toEqual([]);
  });

  it('are not refusals of the ledger itself', async () => {
    const refusing = (database: Database): Promise<unknown> =>
      database.transaction(async () => {
        throw new LoteError('claim-lost', 'A later start goes on');
      });

    expect(await failedOf(null, refusing)).toEqual([]);
  });
});
