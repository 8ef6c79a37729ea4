import { afterAll, describe } from 'vitest';
import { operatingLedgerContract } from './behaviour/ledger.contract.ts';
import { temporaryLedger } from '../../support/servers/temporary-database.ts';

const ledger = await temporaryLedger();

describe('the ledger on PGlite, operated', () => {
  afterAll(() => ledger.close());

  operatingLedgerContract(ledger);
});
