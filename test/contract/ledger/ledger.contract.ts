import { claimingContract } from './claiming.contract.ts';
import { rowsContract } from './rows.contract.ts';
import type { OpenLedger } from './scenario.ts';
import { stagingContract } from './staging.contract.ts';

/** Everything that docs/ledger.md promises, of any driver. */
export function ledgerContract(open: OpenLedger): void {
  claimingContract(open);
  rowsContract(open);
  stagingContract(open);
}
