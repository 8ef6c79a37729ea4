import { afterAll, describe, expect, it } from 'vitest';
import { openPostgresDatabase } from '../../../src/database/open-postgres-database.ts';
import { type Ledger, openLedger } from '../../../src/ledger/ledger.ts';
import { askedDatabase, wholeReads, type AskedStatements } from '../../support/ledger/statement-plans.ts';
import { postgresSchema, postgresUrl } from '../../support/servers/postgres-database.ts';
import { temporaryLedger } from '../../support/servers/temporary-database.ts';

/** Runs a contract on one embedded ledger for the whole file; each test has an application of its own. */
export async function contractOnPglite(title: string, contract: (ledger: Ledger) => void): Promise<void> {
  const ledger = await temporaryLedger();
  describe(`${title}`, () => {
    afterAll(() => ledger.close());

    contract(ledger);
  });
}

/** Runs a contract on one ledger in a schema of its own, where this machine has PostgreSQL. `mayRead` names plans that may read a whole table. */
export async function contractOnPostgres(
  title: string,
  contract: (ledger: Ledger) => void,
  mayRead: readonly string[] = [],
): Promise<void> {
  const url = postgresUrl();
  if (url === null) {
    describe.skipIf(true)(`${title}: this machine has no PostgreSQL`, () => {
      it('runs the contract', () => expect(url).not.toBeNull());
    });
    return;
  }
  const { connectionString, schema, drop } = postgresSchema(url);
  const asked: AskedStatements = new Map();
  const database = openPostgresDatabase({ connectionString, schema });
  const ledger = await openLedger(askedDatabase(database, asked), schema);
  describe(`${title}`, () => {
    afterAll(async () => {
      await ledger.close();
      await drop();
    });

    contract(ledger);

    it('looks up the invoices of a batch, however large a part of all invoices it seems', async () => {
      const read = await wholeReads(database, asked);
      expect(read.filter((one) => !mayRead.includes(one))).toEqual([]);
    });
  });
}
