import { setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import type { RunningBatch } from '../../activities/batch/running-batch.ts';
import type {
  OperatorLinks,
  AskedOfRun,
  BatchProgress,
  PageControl,
  RetryRequestInput,
  BatchSnapshot,
  UnusualTotal,
} from '../../src/domain/messages/messages.ts';
import {
  type BatchAttributes,
  upsertBatchAttributes,
  batchDetails,
  type BatchEnd,
  PROFILE_WAIT,
} from './batch-details.ts';
import { activities } from '../activities.ts';
import type { NotedAction, SendingControl } from '../../src/domain/records/batch-record.ts';

const { recordControl } = activities;

/** A person's action on the whole batch, for the audit. */
export interface OperatorAction {
  readonly what: 'pause' | 'resume' | 'cancel-remaining' | 'settle-now' | 'confirm-total';
  /** Undefined if the action needs no reason. */
  readonly why?: string | undefined;
  readonly who?: string | undefined;
  /** Epoch milliseconds. The default is now. */
  readonly at?: number | undefined;
}

/** The state of a batch's run, and the methods that operators' orders use. */
export class BatchControl {
  /** Pages that have sent each of their invoices at least once. */
  readonly sentPages = new Set<number>();
  /** Actions of operators that are not yet in the audit. */
  readonly pendingActions: NotedAction[] = [];
  /** Retries that operators requested and no round has taken yet. */
  readonly retries: RetryRequestInput[] = [];
  /** The updates that this run and the runs that it replaces have accepted. */
  readonly asked: AskedOfRun[] = [];
  attachedTo: string | null = null;
  /** Rises with every pause, resume, cancel or settleNow; the pages are then notified. */
  controlVersion = 0;
  /** A pause, a cancellation or a wrong profile has stopped something since the last refresh, so another refresh is due. */
  refreshWanted = false;
  /** An operator has confirmed the total that the batch waits for. */
  totalConfirmed = false;
  readonly #donePages = new Set<number>();
  readonly #waiting = new Map<number, string>();
  #progress: BatchProgress = NOTHING_YET;
  #snapshot: BatchSnapshot | null = null;
  #links: OperatorLinks | null = null;
  #end: BatchEnd | null = null;
  #isUnreported = false;
  #running: RunningBatch | null = null;
  #settleNow = 0;
  #outageOver = false;
  /** Id of the first run that did this work. Later runs put it into the ids of their actions, so that the audit has each action once. */
  readonly #firstRunId: string;
  #actions = 0;
  #order: SendingControl['order'];

  constructor(firstRunId: string) {
    this.#firstRunId = firstRunId;
  }

  // State for the run.

  get paused(): boolean {
    return this.#progress.paused;
  }

  get cancelled(): boolean {
    return this.#progress.cancelled;
  }

  get pagesFailed(): number {
    return this.#progress.pagesFailed;
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

  /** Returns the order for the processes that send; null while the batch is not staged, because then nothing is sent. */
  sendingControl(): SendingControl | null {
    if (this.#running === null) return null;
    const { paused, cancelled } = this.#progress;
    const { batchId, run } = this.#running;
    const order = this.#order && { order: this.#order };
    return { batchId, ...run, version: this.controlVersion, paused, cancelled, ...order };
  }

  // Orders of operators.

  /** Carries out an order. Resolves to true if every process that sends knows it, or if nothing is sent yet because the batch is not staged. */
  async operate(next: Partial<BatchProgress>, action: OperatorAction): Promise<boolean> {
    const wasPaused = this.#progress.paused;
    this.#note(action);
    this.#order = { at: action.at ?? Date.now(), who: action.who ?? null, why: action.why ?? null };
    this.controlVersion += 1;
    this.#change(next);
    const { paused } = this.#progress;
    if (paused !== wasPaused) this.#list(this.#stateNow());
    const control = this.sendingControl();
    if (control === null || this.#running === null) return true;
    try {
      return await recordControl({ ...control, ledgerId: this.#running.ledgerId });
    } catch {
      // The ledger did not answer in time, or has an order that it takes for a later one.
      return false;
    }
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

  // Notices of pages.

  pageSent(page: number): void {
    this.sentPages.add(page);
    this.refreshWanted ||= this.#progress.cancelled;
    this.#change({});
  }

  pageDone(page: number, { failed }: { failed: boolean }): void {
    this.sentPages.add(page);
    this.#donePages.add(page);
    this.#waiting.delete(page);
    this.#change({ pagesFailed: this.#progress.pagesFailed + (failed ? 1 : 0) });
  }

  waitFor(page: number, reason: string | null): void {
    const isNew = reason !== null && ![...this.#waiting.values()].includes(reason);
    if (reason === null) this.#waiting.delete(page);
    else this.#waiting.set(page, reason);
    // The reason is only a code; a refresh reads its sentence from the ledger.
    if (isNew && PROFILE_WAIT.test(reason)) this.refreshWanted = true;
    this.#change({});
  }

  /** The service was away longer than the outage patience, so the pages of this round send nothing more. */
  outageOver(): void {
    this.#outageOver = true;
    this.controlVersion += 1;
  }

  // Progress of the run.

  /** Prepares a round: the service may be back, and the pages of the round have sent nothing yet. */
  beginRound(pages: readonly number[]): void {
    this.#outageOver = false;
    // Otherwise none of these pages would count as sending, and all of them would send at once.
    if (!pages.some((page) => this.sentPages.has(page))) return;
    for (const page of pages) {
      this.sentPages.delete(page);
      this.#donePages.delete(page);
    }
  }

  begin(batch: RunningBatch): void {
    this.#running = batch;
    this.attachedTo = null;
    this.#links = batch.desk;
    this.#snapshot = batch.standing;
    const { unusual: _, ...progress } = this.#progress;
    this.#progress = progress;
    this.#change({ batchId: batch.batchId, invoices: batch.invoices, pages: batch.pages.length, phase: 'merchants' });
    this.#list(this.#stateNow());
  }

  /** Shows that nothing is sent until an operator has confirmed the total. */
  confirming(unusual: UnusualTotal): void {
    this.#change({ phase: 'confirming', unusual });
    this.#list(this.#stateNow());
  }

  attach(workflowId: string): void {
    this.attachedTo = workflowId;
    this.#change({ phase: 'attached' });
  }

  phase(phase: BatchProgress['phase']): void {
    this.#change({ phase });
  }

  /** Shows a snapshot from the ledger. */
  showSnapshot(next: BatchSnapshot): void {
    this.#snapshot = next;
    this.#change({});
  }

  /** Ends the run after its report is written. */
  done(ended: BatchEnd): void {
    this.#end = ended;
    this.#links = ended.links;
    this.#waiting.clear();
    this.#change({ phase: 'done', batchId: ended.batchId });
    if (this.attachedTo === null) this.#list(ended.state, ended.problems);
  }

  /** Shows that the last steps of the run have failed for good; reconciliation does them. */
  unreported(): void {
    this.#isUnreported = true;
    this.#waiting.clear();
    this.#change({});
    if (this.#running !== null) this.#list(this.#progress.cancelled ? 'cancelled' : 'finished');
  }

  /** The only method that changes the progress, and with it the Temporal UI. */
  #change(next: Partial<BatchProgress>): void {
    const snapshot = this.#snapshot;
    this.#progress = {
      ...this.#progress,
      ...next,
      pagesSent: this.sentPages.size,
      pagesDone: this.#donePages.size,
      waitingFor: [...this.#waiting.values()][0] ?? null,
      asOf: snapshot === null ? null : new Date(snapshot.at).toISOString(),
      counts: snapshot?.counts ?? {},
      net: snapshot?.net ?? [],
    };
    const view = {
      ...{ progress: this.#progress, snapshot, links: this.#links },
      ...{ attachedTo: this.attachedTo, end: this.#end, isUnreported: this.#isUnreported },
    };
    setCurrentDetails(batchDetails(view));
  }

  #stateNow(): BatchAttributes['state'] {
    if (this.#progress.paused) return 'paused';
    return this.#progress.unusual === undefined ? 'running' : 'held';
  }

  #note({ what, why, who, at = Date.now() }: OperatorAction): void {
    const { workflowId } = workflowInfo();
    this.#actions += 1;
    this.pendingActions.push({
      actionId: `${workflowId}/${this.#firstRunId}/action-${this.#actions}`,
      at,
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
