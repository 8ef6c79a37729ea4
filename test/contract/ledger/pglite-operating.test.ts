import { afterAll, describe } from 'vitest';
import { operatingLedgerContract } from './behaviour/ledger.contract.ts';
import { temporaryLedger } from '../../support/servers/temporary-database.ts';

/** Half as many as on PostgreSQL: the statements are the same, and PGlite computes in one thread. */
const MODEL_RUNS = 40;

const ledger = await temporaryLedger();

describe('the ledger on PGlite, operated', () => {
  afterAll(() => ledger.close());

  operatingLedgerContract(ledger, MODEL_RUNS);
});
