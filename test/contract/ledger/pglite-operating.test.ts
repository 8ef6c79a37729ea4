import { afterAll, describe } from 'vitest';
import { operatingLedgerContract } from './behaviour/ledger.contract.ts';
import { sharedLedger } from './shared-ledger.ts';
import { temporaryLedger } from '../../support/servers/temporary-database.ts';

/** Half as many as on PostgreSQL: the statements are the same, and PGlite computes in one thread. */
const MODEL_RUNS = 40;

describe('the ledger on PGlite, operated', () => {
  const shared = sharedLedger(temporaryLedger);
  afterAll(() => shared.close());

  operatingLedgerContract(shared.open, MODEL_RUNS);
});
