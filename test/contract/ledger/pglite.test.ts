import { afterAll, describe } from 'vitest';
import { idempotencyKeyOf } from '../../../src/domain/fingerprint.ts';
import { openPgliteLedger } from '../../../src/ledger/database/pglite/open-pglite-ledger.ts';
import { ledgerContract } from './behaviour/ledger.contract.ts';
import { sharedLedger } from './shared-ledger.ts';

describe('the ledger on PGlite', () => {
  const shared = sharedLedger(() => openPgliteLedger({ directory: null, keyOf: idempotencyKeyOf }));
  afterAll(() => shared.close());

  ledgerContract(shared.open);
});
