import { answerCountsContract } from './answer-counts.contract.ts';
import { claimingContract } from './claiming.contract.ts';
import { fencingContract } from './fencing.contract.ts';
import { lateNewsContract } from './late-news.contract.ts';
import { lookupContract } from './lookup.contract.ts';
import { lostSendsContract } from './lost-sends.contract.ts';
import { measuringContract } from './measuring.contract.ts';
import { neighboursContract } from './neighbours.contract.ts';
import { purgeContract } from './purge.contract.ts';
import { reconcilingContract } from './reconciling.contract.ts';
import { reportsContract } from './reports.contract.ts';
import { retryingContract } from './retrying.contract.ts';
import { rowsContract } from './rows.contract.ts';
import { sendingContract } from './sending.contract.ts';
import { serviceContract } from './service.contract.ts';
import { settlingContract } from './settling.contract.ts';
import { stagingContract } from './staging.contract.ts';
import { totalChecksContract } from './total-checks.contract.ts';
import { webhooksContract } from './webhooks.contract.ts';
import type { Ledger } from '../../../../src/ledger/ledger.ts';

type Contract = (ledger: Ledger) => void;

/*
 * Everything that docs/architecture.md promises, of any driver, in two halves that take about the same time: each has a test file of its own,
 * so that two workers share a driver.
 */

/** A batch from its claim to its answers. */
const SENDING: readonly Contract[] = [
  ...[claimingContract, fencingContract, rowsContract, stagingContract, neighboursContract, sendingContract],
  ...[settlingContract, answerCountsContract, webhooksContract],
];

/** What comes after. */
const OPERATING: readonly Contract[] = [
  ...[lateNewsContract, retryingContract, reconcilingContract, reportsContract, serviceContract, lostSendsContract],
  ...[totalChecksContract, lookupContract, measuringContract, purgeContract],
];

export function sendingLedgerContract(ledger: Ledger): void {
  for (const contract of SENDING) contract(ledger);
}

export function operatingLedgerContract(ledger: Ledger): void {
  for (const contract of OPERATING) contract(ledger);
}
