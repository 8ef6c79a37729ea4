import { afterAll, describe } from 'vitest';
import { postgresUrl } from '../../support/servers/postgres-schema.ts';
import { operatingLedgerContract } from './behaviour/ledger.contract.ts';
import { sharedPostgresLedger } from './shared-ledger.ts';

const MODEL_RUNS = 80;

const url = postgresUrl();

describe.skipIf(url === null)('the ledger on PostgreSQL, operated', () => {
  const shared = sharedPostgresLedger(url ?? '');
  afterAll(() => shared.close());

  operatingLedgerContract(shared.open, MODEL_RUNS);
});
