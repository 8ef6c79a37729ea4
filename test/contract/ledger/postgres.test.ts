import { afterAll, describe } from 'vitest';
import { postgresUrl } from '../../support/servers/postgres-schema.ts';
import { sendingLedgerContract } from './behaviour/ledger.contract.ts';
import { sharedPostgresLedger } from './shared-ledger.ts';

const url = postgresUrl();

describe.skipIf(url === null)('the ledger on PostgreSQL', () => {
  const shared = sharedPostgresLedger(url ?? '');
  afterAll(() => shared.close());

  sendingLedgerContract(shared.open);
});
