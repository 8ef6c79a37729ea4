import { afterAll, describe } from 'vitest';
import { idempotencyKeyOf } from '../../../src/domain/fingerprint.ts';
import { openPostgresLedger } from '../../../src/ledger/database/postgres/open-postgres-ledger.ts';
import { postgresSchema, postgresUrl } from '../../support/servers/postgres-schema.ts';
import { operatingLedgerContract } from './behaviour/ledger.contract.ts';
import { sharedLedger } from './shared-ledger.ts';

const MODEL_RUNS = 80;

const url = postgresUrl();

describe.skipIf(url === null)('the ledger on PostgreSQL, operated', () => {
  const place = postgresSchema(url ?? '');
  const { connectionString, schema } = place;
  const shared = sharedLedger(() => openPostgresLedger({ connectionString, schema, keyOf: idempotencyKeyOf }));
  afterAll(async () => {
    await shared.close();
    await place.drop();
  });

  operatingLedgerContract(shared.open, MODEL_RUNS);
});
