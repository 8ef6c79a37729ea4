import { afterAll, describe } from 'vitest';
import { idempotencyKeyOf } from '../../../src/domain/fingerprint.ts';
import { openPostgresLedger } from '../../../src/ledger/database/postgres/open-postgres-ledger.ts';
import { postgresSchema, postgresUrl } from '../../support/servers/postgres-schema.ts';
import { sendingLedgerContract } from './behaviour/ledger.contract.ts';
import { sharedLedger } from './shared-ledger.ts';

const url = postgresUrl();

describe.skipIf(url === null)('the ledger on PostgreSQL', () => {
  const place = postgresSchema(url ?? '');
  const { connectionString, schema } = place;
  const shared = sharedLedger(() => openPostgresLedger({ connectionString, schema, keyOf: idempotencyKeyOf }));
  afterAll(async () => {
    await shared.close();
    await place.drop();
  });

  sendingLedgerContract(shared.open);
});
