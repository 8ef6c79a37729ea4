import { setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import { hasPatch } from '../has-patch.ts';
import type { RunningBatch } from '../../activities/batch/running-batch.ts';
import type {
  OperatorLinks,
  BatchProgress,
  PageControl,
  RetryRequestInput,
  BatchSnapshot,
  UnusualTotal,
} from '../../src/contract/messages.ts';
import type { NotedAction } from '../../src/domain/ports/ledger/operating-ledger.ts';
import type { SendingControl } from '../../src/domain/ports/ledger/sending-control-ledger.ts';
import { type BatchAttributes, upsertBatchAttributes } from './batch-attributes.ts';
import { detailsFormat, type DetailsFormat } from '../texts/details-format.ts';
import { batchDetails } from './batch-details.ts';
import { registerBatchHandlers, type BatchHandles, type OperatorAction } from './batch-handlers.ts';
import type { BatchEnd } from './batch-view.ts';
import { PROFILE_WAIT } from './next-step.ts';
import { notifySenders } from './notify-senders.ts';

/** What a run of a batch knows about itself, and the operator's handles on it. */
export interface BatchControl {
  readonly paused: boolean;
  readonly cancelled: boolean;
  /** An operator has confirmed the total that the batch waits with. */
  readonly totalConfirmed: boolean;
  readonly pagesFailed: number;
  readonly attachedTo: string | null;
  /** Pages whose last invoice is sent. */
  readonly sentPages: ReadonlySet<number>;
  /** Each page of this round has begun, and is one of these. */
  readonly allPagesSent: boolean;
  /** Pages each of whose invoices was tried. */
  readonly triedPages: ReadonlySet<number>;
  /** Rises with every pause, resume, cancel or settleNow: the pages are then notified. */
  readonly controlVersion: number;
  control(): PageControl;
  /** Operators asked for invoices to be sent again, and no round has taken that up yet. */
  readonly retryWaiting: boolean;
  takeRetries(): readonly RetryRequestInput[];
  /** Actions of operators that are not yet in the audit. */
  readonly pendingActions: readonly NotedAction[];
  /** The first so many of them are in the audit. */
  notified(actions: number): void;
  /** What processes that send are to know; null: they are not notified, in runs of an earlier version. */
  sendingControl(): SendingControl | null;
  /** Something was stopped since the last refresh: another one is due. */
  readonly refreshWanted: boolean;
  refreshing(): void;
  begin(batch: RunningBatch): void;
  /** Nothing is sent until an operator has confirmed the total. */
  confirming(unusual: UnusualTotal): void;
  /** `language`: as in `OperatorLinks`. */
  attach(workflowId: string, language?: string): void;
  phase(phase: BatchProgress['phase']): void;
  pageDone(page: number, outcome: { failed: boolean }): void;
  waitFor(page: number, reason: string | null): void;
  /** The service was away for longer than anybody waits for it: the pages of this round send nothing more. */
  outageOver(): void;
  /** What goes again is sent to a service that may be back, and by pages of which nothing is sent yet. */
  beginRound(pages: readonly number[]): void;
  /** Shows what was read from the ledger. */
  showSnapshot(snapshot: BatchSnapshot): void;
  /** The report is written: the end of the run. */
  done(end: BatchEnd): void;
  /** Its last steps have failed for good: the end of the run, and reconciliation goes on. */
  unreported(): void;
}

/** Registers every handler before the first await; all of them are synchronous. */
export function followBatch(): BatchControl {
  const control = new FollowedBatch();
  registerBatchHandlers(control);
  return control;
}

class FollowedBatch implements BatchControl, BatchHandles {
  readonly sentPages = new Set<number>();
  readonly triedPages = new Set<number>();
  #pagesOfRound: readonly number[] = [];
  readonly pendingActions: NotedAction[] = [];
  attachedTo: string | null = null;
  controlVersion = 0;
  refreshWanted = false;
  totalConfirmed = false;
  readonly #donePages = new Set<number>();
  readonly #waiting = new Map<number, string>();
  #progress: BatchProgress = NOTHING_YET;
  #snapshot: BatchSnapshot | null = null;
  #links: OperatorLinks | null = null;
  /** English until an activity has told the language of its worker. */
  #format: DetailsFormat = detailsFormat(undefined);
  #end: BatchEnd | null = null;
  #isUnreported = false;
  #running: RunningBatch | null = null;
  #retries: RetryRequestInput[] = [];
  #settleNow = 0;
  #outageOver = false;
  #actions = 0;

  // What a run reads.

  get paused(): boolean {
    return this.#progress.paused;
  }

  get allPagesSent(): boolean {
    return this.#progress.phase === 'waiting' && this.#pagesOfRound.every((page) => this.sentPages.has(page));
  }

  get cancelled(): boolean {
    return this.#progress.cancelled;
  }

  get pagesFailed(): number {
    return this.#progress.pagesFailed;
  }

  get retryWaiting(): boolean {
    return this.#retries.length > 0;
  }

  progress(): BatchProgress {
    return this.#progress;
  }

  snapshot(): BatchSnapshot | null {
    return this.#snapshot;
  }

  control(): PageControl {
    const { paused, cancelled } = this.#progress;
    return { paused, cancelled, outageOver: this.#outageOver, settleNow: this.#settleNow };
  }

  /**
   * Nothing is sent before the batch is staged; histories of an earlier version do not know which run holds the claim.
   */
  sendingControl(): SendingControl | null {
    if (this.#running?.run === undefined) return null;
    const { paused, cancelled } = this.#progress;
    const { batchId, run } = this.#running;
    return { batchId, ...run, version: this.controlVersion, paused, cancelled };
  }

  // What operators do.

  operate(next: Partial<BatchProgress>, action: OperatorAction): true | Promise<boolean> {
    const wasPaused = this.#progress.paused;
    this.#note(action);
    this.controlVersion += 1;
    this.#change(next);
    const { paused } = this.#progress;
    if (paused !== wasPaused) this.#list(this.#stateNow());
    const control = this.sendingControl();
    if (control === null || this.#running === null) return true;
    return notifySenders({ ...control, ledgerId: this.#running.ledgerId });
  }

  confirmTotal(action: OperatorAction): void {
    this.totalConfirmed = true;
    this.#note(action);
    this.#change({});
  }

  settleNow(action: OperatorAction): void {
    this.#settleNow += 1;
    this.controlVersion += 1;
    this.#note(action);
    this.#change({});
  }

  retry(request: RetryRequestInput): void {
    this.#retries.push(request);
  }

  takeRetries(): readonly RetryRequestInput[] {
    const taken = this.#retries;
    this.#retries = [];
    return taken;
  }

  notified(actions: number): void {
    this.pendingActions.splice(0, actions);
  }

  // What pages say.

  pageSent(page: number): void {
    this.sentPages.add(page);
    this.refreshWanted ||= this.#progress.cancelled && this.#running?.run !== undefined;
    this.#change({});
  }

  pageTried(page: number): void {
    this.triedPages.add(page);
  }

  pageStopped(): void {
    this.refreshWanted = true;
  }

  pageDone(page: number, { failed }: { failed: boolean }): void {
    this.sentPages.add(page);
    this.#donePages.add(page);
    this.#waiting.delete(page);
    this.#change({ pagesFailed: this.#progress.pagesFailed + (failed ? 1 : 0) });
  }

  waitFor(page: number, reason: string | null, language?: string): void {
    if (language !== undefined) this.#speak(language);
    const isNew = reason !== null && ![...this.#waiting.values()].includes(reason);
    if (reason === null) this.#waiting.delete(page);
    else this.#waiting.set(page, reason);
    // The sentence behind the code is in the ledger. Runs of an earlier version read it with the next snapshot.
    if (isNew && PROFILE_WAIT.test(reason) && hasPatch('read-why-the-profile-waits')) this.refreshWanted = true;
    this.#change({});
  }

  outageOver(): void {
    this.#outageOver = true;
    this.controlVersion += 1;
  }

  // How the run goes on.

  beginRound(pages: readonly number[]): void {
    this.#outageOver = false;
    this.#pagesOfRound = pages;
    // Otherwise none of them counts as sending, and all of them would send at once.
    if (!pages.some((page) => this.sentPages.has(page)) || !hasPatch('window-of-each-round')) return;
    for (const page of pages) {
      this.sentPages.delete(page);
      this.triedPages.delete(page);
      this.#donePages.delete(page);
    }
  }

  begin(batch: RunningBatch): void {
    this.#running = batch;
    this.attachedTo = null;
    this.#show(batch.desk);
    this.#snapshot = batch.standing;
    const { unusual: _, ...progress } = this.#progress;
    this.#progress = progress;
    this.#change({ batchId: batch.batchId, invoices: batch.invoices, pages: batch.pages.length, phase: 'merchants' });
    this.#list(this.#stateNow());
  }

  confirming(unusual: UnusualTotal): void {
    this.#change({ phase: 'confirming', unusual });
    this.#list(this.#stateNow());
  }

  attach(workflowId: string, language?: string): void {
    this.#speak(language);
    this.attachedTo = workflowId;
    this.#change({ phase: 'attached' });
  }

  phase(phase: BatchProgress['phase']): void {
    this.#change({ phase });
  }

  refreshing(): void {
    this.refreshWanted = false;
  }

  showSnapshot(next: BatchSnapshot): void {
    this.#snapshot = next;
    this.#change({});
  }

  done(ended: BatchEnd): void {
    this.#end = ended;
    this.#show(ended.links);
    this.#waiting.clear();
    this.#change({ phase: 'done', batchId: ended.batchId });
    if (this.attachedTo === null) this.#list(ended.state, ended.problems);
  }

  unreported(): void {
    this.#isUnreported = true;
    this.#waiting.clear();
    this.#change({});
    if (this.#running !== null && hasPatch('end-without-a-report'))
      this.#list(this.#progress.cancelled ? 'cancelled' : 'finished');
  }

  /** The only place where progress changes, and with it what the Temporal UI shows. */
  #change(next: Partial<BatchProgress>): void {
    const snapshot = this.#snapshot;
    this.#progress = {
      ...this.#progress,
      ...next,
      pagesSent: this.sentPages.size,
      pagesDone: this.#donePages.size,
      waitingFor: firstOf(this.#waiting),
      asOf: snapshot === null ? null : new Date(snapshot.at).toISOString(),
      counts: snapshot?.counts ?? {},
      net: snapshot?.net ?? [],
    };
    const view = {
      ...{ progress: this.#progress, snapshot, links: this.#links },
      ...{ attachedTo: this.attachedTo, end: this.#end, isUnreported: this.#isUnreported },
    };
    setCurrentDetails(batchDetails(view, this.#format));
  }

  #show(links: OperatorLinks): void {
    this.#links = links;
    this.#speak(links.language);
  }

  #speak(language: string | undefined): void {
    this.#format = detailsFormat(language);
  }

  #stateNow(): BatchAttributes['state'] {
    if (this.#progress.paused) return 'paused';
    return this.#progress.unusual === undefined ? 'running' : 'held';
  }

  #note({ what, why, who }: OperatorAction): void {
    const { workflowId, runId } = workflowInfo();
    this.#actions += 1;
    this.pendingActions.push({
      actionId: `${workflowId}/${runId}/action-${this.#actions}`,
      at: Date.now(),
      what,
      why: why ?? 'no reason was asked for',
      who: who ?? null,
    });
  }

  #list(state: BatchAttributes['state'], problems = this.#snapshot?.problems ?? 0): void {
    const batchId = this.#progress.batchId ?? this.#end?.batchId;
    if (this.#links?.searchable === true && batchId !== undefined) upsertBatchAttributes({ batchId, state, problems });
  }
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
