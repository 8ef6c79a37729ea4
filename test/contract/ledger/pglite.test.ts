import { afterAll, describe } from 'vitest';
import { sendingLedgerContract } from './behaviour/ledger.contract.ts';
import { temporaryLedger } from '../../support/servers/temporary-database.ts';

const ledger = await temporaryLedger();

describe('the ledger on PGlite', () => {
  afterAll(() => ledger.close());

  sendingLedgerContract(ledger);
});
