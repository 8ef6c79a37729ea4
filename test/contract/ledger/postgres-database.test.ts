import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Database } from '../../../src/database/database.ts';
import { openPostgresDatabase } from '../../../src/database/open-postgres-database.ts';
import { openPostgresLedger } from '../../../src/ledger/open-postgres-ledger.ts';
import { postgresSchema, postgresUrl, sql } from '../../support/servers/postgres-database.ts';
import { databaseContract } from './behaviour/database.contract.ts';
import { migratingContract } from './behaviour/migrating.contract.ts';
import { passingErrorsContract } from './behaviour/passing-errors.contract.ts';

const url = postgresUrl();

describe.skipIf(url === null)('PostgreSQL', () => {
  const place = postgresSchema(url ?? '');
  const { connectionString, schema } = place;
  beforeAll(() => sql(connectionString, `CREATE SCHEMA "${schema}"`));
  afterAll(() => place.drop());

  databaseContract(async () => openPostgresDatabase({ connectionString, schema }));
  passingErrorsContract(async () => openPostgresDatabase({ connectionString, schema }));
  migratingContract(async () => {
    const empty = postgresSchema(connectionString);
    await sql(connectionString, `CREATE SCHEMA "${empty.schema}"`);
    onTestFinished(() => empty.drop());
    return { isShared: true, connect: () => Promise.resolve(openPostgresDatabase(empty)) };
  });

  describe('under contention', () => {
    let database: Database;
    beforeAll(async () => {
      database = openPostgresDatabase({ connectionString, schema });
      await database.query('CREATE TABLE account (id integer PRIMARY KEY, n integer NOT NULL)');
      await database.query('INSERT INTO account VALUES (1, 0), (2, 0)');
    });
    afterAll(() => database.close());

    it('runs the loser of a deadlock again', async () => {
      let arrived = 0;
      let runs = 0;
      let losers = 0;

      await Promise.all([lockBoth(1, 2), lockBoth(2, 1)]);

      expect(await database.query('SELECT n FROM account ORDER BY id')).toEqual([{ n: 2 }, { n: 2 }]);
      // PostgreSQL may end both when they look at the same moment.
      expect(losers).toBeGreaterThan(0);
      expect(runs, 'each loser again, and once for each time it lost').toBe(2 + losers);

      async function lockBoth(first: number, second: number): Promise<void> {
        await database.transaction(async (queries) => {
          runs += 1;
          await queries.query('UPDATE account SET n = n + 1 WHERE id = $1', [first]);
          arrived += 1;
          while (arrived < 2) await new Promise((resolve) => setImmediate(resolve));
          await queries.query('UPDATE account SET n = n + 1 WHERE id = $1', [second]).catch((error: unknown) => {
            losers += 1;
            throw error;
          });
        });
      }
    });

    it('gives its locks to others when it stands still in the middle of a transaction', async () => {
      let locked = (): void => undefined;
      const hasLock = new Promise<void>((resolve) => (locked = resolve));
      let goOn = (): void => undefined;
      const gone = new Promise<void>((resolve) => (goOn = resolve));
      const still = database.transaction(async (queries) => {
        await queries.query('UPDATE account SET n = 100 WHERE id = 1');
        locked();
        await gone;
        await queries.query('UPDATE account SET n = 100 WHERE id = 2');
      });
      const ended: Promise<unknown> = still.catch((error: unknown) => error);
      await hasLock;

      await database.query('UPDATE account SET n = 7 WHERE id = 1');
      goOn();

      expect(await ended).toMatchObject({ code: 'ledger-unavailable' });
      expect(await database.query('SELECT n FROM account WHERE id = 1')).toEqual([{ n: 7 }]);
    });

    it('says that it is unavailable when the server ends the connection, and works again afterwards', async () => {
      const ended = database.transaction(async (queries) => {
        const [row] = await queries.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
        await database.query('SELECT pg_terminate_backend($1)', [row?.pid ?? 0]);
        await queries.query('SELECT 1');
      });

      await expect(ended).rejects.toMatchObject({ code: 'ledger-unavailable' });
      expect(await database.query('SELECT 1 AS n')).toEqual([{ n: 1 }]);
    });
  });

  describe('statements that have a name', () => {
    const FIND = '/* find-counted */ SELECT n FROM counted WHERE id = $1';
    const KEPT = 'SELECT generic_plans + custom_plans AS runs, statement FROM pg_prepared_statements';
    let database: Database;
    beforeAll(async () => {
      database = openPostgresDatabase({ connectionString, schema });
      await database.query('CREATE TABLE counted (id integer PRIMARY KEY, n integer NOT NULL)');
    });
    afterAll(() => database.close());

    it('are parsed once by a connection, and others are not kept', async () => {
      const kept = await database.transaction(async (queries) => {
        for (let run = 1; run <= 3; run += 1) await queries.query(FIND, [run]);
        for (let run = 1; run <= 3; run += 1) await queries.query('SELECT n FROM counted WHERE id = $1', [run]);
        return queries.query<{ runs: number; statement: string }>(KEPT);
      });

      expect(kept).toEqual([{ runs: 3, statement: FIND }]);
    });

    it('keep a plan that still finds its row by the index when the table has grown', async () => {
      const plan = await database.transaction(async (queries) => {
        // PostgreSQL decides on a plan for all parameters with the sixth run: here, for an empty table.
        for (let run = 1; run <= 8; run += 1) await queries.query(FIND, [run]);
        await queries.query('INSERT INTO counted SELECT n, n FROM generate_series(1, 20000) AS n');
        const [name] = await queries.query<{ name: string }>('SELECT name FROM pg_prepared_statements');
        return queries.query<{ 'QUERY PLAN': string }>(`EXPLAIN EXECUTE "${name?.name ?? ''}" (7)`);
      });

      expect(plan.map((row) => row['QUERY PLAN']).join('\n')).toContain('Index Scan');
      expect(plan.map((row) => row['QUERY PLAN']).join('\n')).not.toContain('Seq Scan');
    });
  });

  const openIn = (name: string) => openPostgresLedger({ connectionString, schema: name });

  it('names a schema that is none, before anything is sent', async () => {
    for (const name of ['', 'Upper', 'a"b', 'a b', 'a;drop', '1a', 'x'.repeat(64)]) {
      await expect(openIn(name)).rejects.toMatchObject({ code: 'configuration-invalid' });
    }
  });

  it('opened by many at once is one ledger', async () => {
    const fresh = postgresSchema(connectionString);
    const ledgers = await Promise.all([1, 2, 3, 4, 5].map(() => openIn(fresh.schema)));

    expect(new Set(ledgers.map((ledger) => ledger.id)).size).toBe(1);
    await Promise.all(ledgers.map((ledger) => ledger.close()));
    await fresh.drop();
  });

  it('refuses the schema of a newer Lote', async () => {
    const fresh = postgresSchema(connectionString);
    await (await openIn(fresh.schema)).close();
    await sql(connectionString, `INSERT INTO "${fresh.schema}".ledger_migration VALUES (999)`);

    await expect(openIn(fresh.schema)).rejects.toMatchObject({ code: 'ledger-conflict' });
    await fresh.drop();
  });

  it('is unavailable where nobody listens or the password is wrong, and the error holds no password', async () => {
    const address = 'postgres://lote:hunter2@127.0.0.1:1/postgres';

    const failure: unknown = await openPostgresLedger({ connectionString: address }).catch((error: unknown) => error);

    expect(failure).toMatchObject({ code: 'ledger-unavailable' });
    expect((failure as Error).message).toContain('ECONNREFUSED');
    expect(`${(failure as Error).stack} ${JSON.stringify(failure)}`).not.toContain('hunter2');
  });
});
