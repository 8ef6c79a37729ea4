import { afterAll, describe, expect, it } from 'vitest';
import { postgresUrl } from '../../support/servers/postgres-database.ts';
import { sendingLedgerContract } from './behaviour/ledger.contract.ts';
import { sharedPostgresLedger } from './shared-ledger.ts';

const shared = await sharedPostgresLedger(postgresUrl());

describe.skipIf(shared === null)('the ledger on PostgreSQL', () => {
  if (shared === null) return;
  afterAll(() => shared.close());

  sendingLedgerContract(shared.ledger);

  it('looks up the invoices of a batch, however large a part of all invoices it seems', async () => {
    expect(await shared.wholeReads()).toEqual([]);
  });
});
