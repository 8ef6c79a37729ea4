import { afterBatchesContract } from './after-batches.contract.ts';
import { answerCountsContract } from './answer-counts.contract.ts';
import { answersContract } from './answers.contract.ts';
import { calibrationContract } from './calibration.contract.ts';
import { claimingContract } from './claiming.contract.ts';
import { fencingContract } from './fencing.contract.ts';
import { lateNewsContract } from './late-news.contract.ts';
import { lookupContract } from './lookup.contract.ts';
import { neighboursContract } from './neighbours.contract.ts';
import { rowsContract } from './rows.contract.ts';
import { operatingContract } from './operating.contract.ts';
import { purgeContract } from './purge.contract.ts';
import type { Ledger } from '../../../../src/ledger/ledger.ts';
import { reconcilingContract } from './reconciling.contract.ts';
import { sendingContract } from './sending.contract.ts';
import { lostSendsContract } from './lost-sends.contract.ts';
import { sendingControlContract } from './sending-control.contract.ts';
import { serviceUseContract, sharedFoldersContract } from './service-use.contract.ts';
import { settlingContract } from './settling.contract.ts';
import { stagingContract } from './staging.contract.ts';
import { totalChecksContract } from '../total-checks.contract.ts';
import { webhooksContract } from './webhooks.contract.ts';

/*
 * Everything that docs/architecture.md promises, of any driver, in two halves that take about the same time: each has a test file of its own,
 * so that two workers share a driver.
 */

/** A batch from its claim to its answers. */
export function sendingLedgerContract(ledger: Ledger): void {
  claimingContract(ledger);
  fencingContract(ledger);
  rowsContract(ledger);
  stagingContract(ledger);
  sendingContract(ledger);
  sendingControlContract(ledger);
  settlingContract(ledger);
  answersContract(ledger);
  answerCountsContract(ledger);
  webhooksContract(ledger);
  neighboursContract(ledger);
}

/** What comes after. */
export function operatingLedgerContract(ledger: Ledger): void {
  lateNewsContract(ledger);
  operatingContract(ledger);
  reconcilingContract(ledger);
  serviceUseContract(ledger);
  sharedFoldersContract(ledger);
  lostSendsContract(ledger);
  calibrationContract(ledger);
  totalChecksContract(ledger);
  lookupContract(ledger);
  purgeContract(ledger);
  afterBatchesContract(ledger);
}
