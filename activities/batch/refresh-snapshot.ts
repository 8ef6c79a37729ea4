import { isProblem, wentOut } from '../../src/domain/invoice-state.ts';
import { countsByOutcome } from '../../src/domain/outcome-counts.ts';
import { sumDecimals } from '../../src/domain/money.ts';
import type { OutcomeCount } from '../../src/domain/ports/ledger/batch-record.ts';
import type { NotedAction } from '../../src/domain/ports/ledger/operating-ledger.ts';
import type { SendingControl } from '../../src/domain/ports/ledger/sending-control-ledger.ts';
import type { BatchSnapshot } from '../../src/contract/messages.ts';
import type { ActivityDeps } from '../deps.ts';
import { profileFindings } from './profile-findings.ts';

export interface RefreshSnapshotInput {
  readonly ledgerId: string;
  readonly batchId: string;
  /** Left out: the run has no batch that it may change. */
  readonly paused?: boolean;
  /** What senders are to know; left out by runs of an earlier version, which write the state alone. */
  readonly control?: SendingControl | undefined;
  /** What operators did since the look before. */
  readonly actions: readonly NotedAction[];
}

/** History keeps what a look returns: enough to see the pattern, a few kilobytes at most. */
const MOST_CURRENCIES = 8;
const MOST_GROUPS = 20;
const ROWS_OF_A_GROUP = 10;
const MOST_FINDINGS = 4;

/** Writes down what operators did, and reads how the batch stands. */
export async function refreshSnapshot(deps: ActivityDeps, input: RefreshSnapshotInput): Promise<BatchSnapshot> {
  const { batchId, actions, paused, control } = input;
  await deps.ledger.noteActions(batchId, actions);
  // At each look, not only after an operator's word: a ledger that was restored, or a standby that was promoted, may have lost the last one. A later word,
  // and a batch that has ended, stand against it.
  if (control !== undefined) await deps.ledger.recordControl(control);
  else if (actions.length > 0 && paused !== undefined)
    await deps.ledger.setBatchState(batchId, paused ? 'paused' : 'running', deps.now());
  return snapshotOf(deps, batchId);
}

/** Counts by state, net by currency, what went wrong by reason: rows and codes, nothing that names anybody. */
export async function snapshotOf(deps: ActivityDeps, batchId: string): Promise<BatchSnapshot> {
  const { ledger, now, profileDigest, service } = deps;
  const counts = await ledger.countOutcomes(batchId);
  const problems = counts.filter(({ outcome }) => isProblem(outcome)).reduce((sum, { invoices }) => sum + invoices, 0);
  const findings = await profileFindings(ledger, { profileDigest, baseUrl: service.baseUrl, now });
  return {
    at: now(),
    counts: countsByOutcome(counts),
    net: netOf(counts),
    problems,
    problemGroups:
      problems === 0 ? [] : await ledger.problemGroups(batchId, { groups: MOST_GROUPS, rows: ROWS_OF_A_GROUP }),
    ...(findings.length > 0 && { misfits: findings.slice(0, MOST_FINDINGS).map(({ message }) => message) }),
  };
}

function netOf(counts: readonly OutcomeCount[]): BatchSnapshot['net'] {
  const currencies = [...new Set(counts.flatMap(({ currency }) => (currency === null ? [] : [currency])))];
  return currencies.slice(0, MOST_CURRENCIES).map((currency) => {
    const own = counts.filter((count) => count.currency === currency);
    return {
      currency,
      all: sumDecimals(own.map(({ net }) => net)),
      out: sumDecimals(own.filter(({ outcome }) => wentOut(outcome)).map(({ net }) => net)),
    };
  });
}
