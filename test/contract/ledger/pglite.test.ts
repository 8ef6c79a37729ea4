import { afterAll, describe } from 'vitest';
import { sendingLedgerContract } from './behaviour/ledger.contract.ts';
import { sharedLedger } from './shared-ledger.ts';
import { temporaryLedger } from '../../support/servers/temporary-database.ts';

describe('the ledger on PGlite', () => {
  const shared = sharedLedger(temporaryLedger);
  afterAll(() => shared.close());

  sendingLedgerContract(shared.open);
});
