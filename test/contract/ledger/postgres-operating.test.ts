import { afterAll, describe, expect, it } from 'vitest';
import { postgresUrl } from '../../support/servers/postgres-database.ts';
import { operatingLedgerContract } from './behaviour/ledger.contract.ts';
import { sharedPostgresLedger } from './shared-ledger.ts';

const shared = await sharedPostgresLedger(postgresUrl());

describe.skipIf(shared === null)('the ledger on PostgreSQL, operated', () => {
  if (shared === null) return;
  afterAll(() => shared.close());

  operatingLedgerContract(shared.ledger);

  it('looks up the invoices of a batch, however large a part of all invoices it seems', async () => {
    // The first mark of a ledger asks whether anything was ever sent, and stops at the first row that was.
    expect((await shared.wholeReads()).filter((read) => read !== 'first-sending-mark reads invoice')).toEqual([]);
  });
});
