import { proxyLocalActivities, setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import type { ControlInput } from '../../activities/batch/record-control.ts';
import type { RunningBatch } from '../../activities/batch/running-batch.ts';
import type { Activities } from '../../activities/index.ts';
import type {
  OperatorLinks,
  BatchProgress,
  PageControl,
  RetryRequestInput,
  BatchSnapshot,
} from '../../src/contract/messages.ts';
import type { NotedAction } from '../../src/domain/ports/operating-ledger.ts';
import type { SendingControl } from '../../src/domain/ports/sending-control-ledger.ts';
import { type BatchAttributes, upsertBatchAttributes } from './batch-attributes.ts';
import { batchDetails } from './batch-details.ts';
import { type OperatorAction, registerBatchHandlers } from './batch-handlers.ts';
import type { BatchEnd } from './batch-view.ts';

/**
 * A local activity: its slots are never all taken by slices, as those of other activities may be for a minute, and it costs one event. An operator
 * waits for it, so that a ledger which is away is given up soon; the look at the ledger that follows writes the same word, however long that takes.
 */
const { recordControl } = proxyLocalActivities<Activities>({
  startToCloseTimeout: '2s',
  scheduleToCloseTimeout: '3s',
  retry: { initialInterval: '100ms', backoffCoefficient: 2, maximumInterval: '500ms' },
});

/** Tells every process that sends for the batch what an operator wants. False: the ledger could not be told in time. */
async function notifySenders(control: ControlInput): Promise<boolean> {
  try {
    await recordControl(control);
    return true;
  } catch {
    return false;
  }
}

/** What a run of a batch knows about itself, and the operator's handles on it. */
export interface BatchControl {
  readonly paused: boolean;
  readonly cancelled: boolean;
  readonly pagesFailed: number;
  readonly attachedTo: string | null;
  /** Pages whose last invoice is sent. */
  readonly sentPages: ReadonlySet<number>;
  /** Rises with every pause, resume, cancel or settleNow: the pages are then told. */
  readonly controlVersion: number;
  control(): PageControl;
  /** Operators asked for invoices to be sent again, and no round has taken that up yet. */
  readonly retryWaiting: boolean;
  takeRetries(): readonly RetryRequestInput[];
  /** What operators did and the audit does not know yet. */
  readonly pendingActions: readonly NotedAction[];
  /** The first so many of them are in the audit. */
  notified(actions: number): void;
  /** What processes that send are to know; null: they are not told, in runs of an earlier version. */
  sendingControl(): SendingControl | null;
  /** Something was stopped since the last look at the ledger, and it is worth another one. */
  readonly refreshWanted: boolean;
  refreshing(): void;
  begin(batch: RunningBatch): void;
  attach(workflowId: string): void;
  phase(phase: BatchProgress['phase']): void;
  pageDone(page: number, outcome: { failed: boolean }): void;
  waitFor(page: number, reason: string | null): void;
  /** The ledger was looked at. */
  stands(standing: BatchSnapshot): void;
  /** The report is written: the end of the run. */
  done(end: BatchEnd): void;
}

/** Registers every handler before the first await; all of them are synchronous. */
export function followBatch(): BatchControl {
  const sentPages = new Set<number>();
  const donePages = new Set<number>();
  const waiting = new Map<number, string>();
  const pendingActions: NotedAction[] = [];
  let progress: BatchProgress = NOTHING_YET;
  let standing: BatchSnapshot | null = null;
  let desk: OperatorLinks | null = null;
  let end: BatchEnd | null = null;
  let settleNow = 0;
  let controlVersion = 0;
  let attachedTo: string | null = null;
  let outageOver = false;
  let retries: RetryRequestInput[] = [];
  let actions = 0;
  let running: RunningBatch | null = null;
  let refreshWanted = false;

  function change(next: Partial<BatchProgress>): void {
    progress = {
      ...progress,
      ...next,
      pagesSent: sentPages.size,
      pagesDone: donePages.size,
      waitingFor: firstOf(waiting),
      asOf: standing === null ? null : new Date(standing.at).toISOString(),
      counts: standing?.counts ?? {},
      net: standing?.net ?? [],
    };
    setCurrentDetails(batchDetails({ progress, standing, desk, attachedTo, end }));
  }

  function operate(next: Partial<BatchProgress>, action: OperatorAction): true | Promise<boolean> {
    const wasPaused = progress.paused;
    note(action);
    controlVersion += 1;
    change(next);
    if (progress.paused !== wasPaused) list(progress.paused ? 'paused' : 'running');
    const control = sendingControl();
    if (control === null || running === null) return true;
    return notifySenders({ ...control, ledgerId: running.ledgerId });
  }

  /** Nothing is sent before the batch is staged; histories of an earlier version do not know which run holds the claim. */
  function sendingControl(): SendingControl | null {
    if (running?.run === undefined) return null;
    const { paused, cancelled } = progress;
    return { batchId: running.batchId, ...running.run, version: controlVersion, paused, cancelled };
  }

  function note({ what, why, who }: OperatorAction): void {
    const { workflowId, runId } = workflowInfo();
    actions += 1;
    pendingActions.push({
      actionId: `${workflowId}/${runId}/action-${actions}`,
      at: Date.now(),
      what,
      why: why ?? 'no reason was asked for',
      who: who ?? null,
    });
  }

  function list(state: BatchAttributes['state'], problems = standing?.problems ?? 0): void {
    const batchId = progress.batchId ?? end?.batchId;
    if (desk?.searchable === true && batchId !== undefined) upsertBatchAttributes({ batchId, state, problems });
  }

  function waitFor(page: number, reason: string | null): void {
    if (reason === null) waiting.delete(page);
    else waiting.set(page, reason);
    change({});
  }

  registerBatchHandlers({
    progress: () => progress,
    standing: () => standing,
    attachedTo: () => attachedTo,
    operate,
    settleNow(action) {
      settleNow += 1;
      controlVersion += 1;
      note(action);
      change({});
    },
    retry: (request) => void retries.push(request),
    pageSent(page) {
      sentPages.add(page);
      refreshWanted ||= progress.cancelled && running?.run !== undefined;
      change({});
    },
    pageStopped: () => void (refreshWanted = true),
    outageOver() {
      outageOver = true;
      controlVersion += 1;
    },
    waitFor,
  });

  return {
    get paused() {
      return progress.paused;
    },
    get cancelled() {
      return progress.cancelled;
    },
    get pagesFailed() {
      return progress.pagesFailed;
    },
    get attachedTo() {
      return attachedTo;
    },
    get controlVersion() {
      return controlVersion;
    },
    sentPages,
    get retryWaiting() {
      return retries.length > 0;
    },
    takeRetries() {
      const taken = retries;
      retries = [];
      return taken;
    },
    pendingActions,
    notified: (number) => void pendingActions.splice(0, number),
    control: () => ({ paused: progress.paused, cancelled: progress.cancelled, outageOver, settleNow }),
    sendingControl,
    get refreshWanted() {
      return refreshWanted;
    },
    refreshing: () => void (refreshWanted = false),
    begin(batch) {
      running = batch;
      attachedTo = null;
      desk = batch.desk;
      standing = batch.standing;
      change({ batchId: batch.batchId, invoices: batch.invoices, pages: batch.pages.length, phase: 'merchants' });
      list(progress.paused ? 'paused' : 'running');
    },
    attach(workflowId) {
      attachedTo = workflowId;
      change({ phase: 'attached' });
    },
    phase: (phase) => change({ phase }),
    pageDone(page, { failed }) {
      sentPages.add(page);
      donePages.add(page);
      waiting.delete(page);
      change({ pagesFailed: progress.pagesFailed + (failed ? 1 : 0) });
    },
    waitFor,
    stands(next) {
      standing = next;
      change({});
    },
    done(ended) {
      end = ended;
      desk = ended.desk;
      waiting.clear();
      change({ phase: 'done', batchId: ended.batchId });
      if (attachedTo === null) list(ended.state, ended.problems);
    },
  };
}

const NOTHING_YET: BatchProgress = {
  batchId: null,
  phase: 'reading',
  paused: false,
  cancelled: false,
  invoices: 0,
  pages: 0,
  pagesSent: 0,
  pagesDone: 0,
  pagesFailed: 0,
  waitingFor: null,
  asOf: null,
  counts: {},
  net: [],
};

function firstOf(waiting: ReadonlyMap<number, string>): string | null {
  for (const reason of waiting.values()) return reason;
  return null;
}
