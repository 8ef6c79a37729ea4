import { afterAll, describe, expect, it } from 'vitest';
import { postgresUrl } from '../../support/servers/postgres-schema.ts';
import { operatingLedgerContract } from './behaviour/ledger.contract.ts';
import { sharedPostgresLedger } from './shared-ledger.ts';

const MODEL_RUNS = 80;

const url = postgresUrl();

describe.skipIf(url === null)('the ledger on PostgreSQL, operated', () => {
  const shared = sharedPostgresLedger(url ?? '');
  afterAll(() => shared.close());

  operatingLedgerContract(shared.open, MODEL_RUNS);

  it('looks up the invoices of a batch, however large a part of all invoices it seems', async () => {
    // The first mark of a ledger asks whether anything was ever sent, and stops at the first row that was.
    expect((await shared.wholeReads()).filter((read) => read !== 'first-sending-mark reads invoice')).toEqual([]);
  });
});
