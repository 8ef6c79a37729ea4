import { afterAll, describe, expect, it } from 'vitest';
import { postgresUrl } from '../../support/servers/postgres-schema.ts';
import { sendingLedgerContract } from './behaviour/ledger.contract.ts';
import { sharedPostgresLedger } from './shared-ledger.ts';

const url = postgresUrl();

describe.skipIf(url === null)('the ledger on PostgreSQL', () => {
  const shared = sharedPostgresLedger(url ?? '');
  afterAll(() => shared.close());

  sendingLedgerContract(shared.open);

  it('looks up the invoices of a batch, however large a part of all invoices it seems', async () => {
    expect(await shared.wholeReads()).toEqual([]);
  });
});
