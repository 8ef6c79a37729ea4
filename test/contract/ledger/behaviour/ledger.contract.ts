import { afterBatchesContract } from './after-batches.contract.ts';
import { answerCountsContract } from './answer-counts.contract.ts';
import { answersContract } from './answers.contract.ts';
import { claimingContract } from './claiming.contract.ts';
import { fencingContract } from './fencing.contract.ts';
import { lateNewsContract } from './late-news.contract.ts';
import { lookupContract } from './lookup.contract.ts';
import { neighboursContract } from './neighbours.contract.ts';
import { rowsContract } from './rows.contract.ts';
import { modelContract } from './model.contract.ts';
import { operatingContract } from './operating.contract.ts';
import { profileMisfitsContract } from './profile-misfits.contract.ts';
import { purgeContract } from './purge.contract.ts';
import type { OpenLedger } from '../scenario.ts';
import { reconcilingContract } from './reconciling.contract.ts';
import { sendingContract } from './sending.contract.ts';
import { sendingControlContract, sendingMarksContract } from './sending-control.contract.ts';
import { serviceUseContract } from './service-use.contract.ts';
import { settlingContract } from './settling.contract.ts';
import { sharedFoldersContract } from './shared-folders.contract.ts';
import { stagingContract } from './staging.contract.ts';
import { totalChecksContract } from '../total-checks.contract.ts';
import { webhooksContract } from './webhooks.contract.ts';

/*
 * Everything that docs/ledger.md promises, of any driver, in two halves that take about the same time: each has a test file of its own,
 * so that two workers share a driver.
 */

/** A batch from its claim to its answers. */
export function sendingLedgerContract(open: OpenLedger): void {
  claimingContract(open);
  fencingContract(open);
  rowsContract(open);
  stagingContract(open);
  sendingContract(open);
  sendingControlContract(open);
  settlingContract(open);
  answersContract(open);
  answerCountsContract(open);
  webhooksContract(open);
  neighboursContract(open);
}

/** What comes after, and the random lives of an invoice; `modelRuns`: how many. */
export function operatingLedgerContract(open: OpenLedger, modelRuns: number): void {
  lateNewsContract(open);
  operatingContract(open);
  reconcilingContract(open);
  serviceUseContract(open);
  sharedFoldersContract(open);
  sendingMarksContract(open);
  profileMisfitsContract(open);
  totalChecksContract(open);
  lookupContract(open);
  purgeContract(open);
  afterBatchesContract(open);
  modelContract(open, modelRuns);
}
