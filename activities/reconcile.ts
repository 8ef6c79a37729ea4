import { Context } from '@temporalio/activity';
import type { CreateAnswer } from '../src/domain/ports/invoicing-service.ts';
import type { SendOutcome, StatusNews } from '../src/domain/ports/ledger.ts';
import type { OpenDocument, RepeatInvoice } from '../src/domain/ports/reconciling-ledger.ts';
import type { ActivityDeps } from './deps.ts';
import { eachOf } from './each-of.ts';
import { askOne } from './ask-all.ts';
import { retentionWindow, type RetentionWindow } from './retention-window.ts';

export interface ReconcileInput {
  readonly ledgerId?: string | undefined;
  /** False: each invoice waits half of the age that it had at its last try. */
  readonly all: boolean;
}

export interface RepeatedUnknown {
  readonly ledgerId: string;
  readonly repeated: number;
  readonly found: number;
  /** The service does not answer: the rest waits for the next time. */
  readonly serviceAway: boolean;
}

export interface AskedDocuments {
  readonly asked: number;
  readonly settled: number;
  /** The service does not answer: the rest waits for the next time. */
  readonly serviceAway: boolean;
}

/** Taken and repeated together; what is taken is out of reach of others for that long. */
const REPEATS_AT_ONCE = 50;
/** Longer than any such group may take: a repeat older than this is one that a crash ended. */
const STALE_MS = 10 * 60_000;
/** So many without an answer one after the other: the service is away, and each more try would prove nothing. */
const TROUBLE_IN_A_ROW = 10;
const DOCUMENTS_AT_ONCE = 500;
/** A 429 or a lost answer says nothing of a document; the client waits out a Retry-After before the next try. */
const TRIES_PER_DOCUMENT = 3;

/** Repeats `unknown` invoices of closed batches: same key, same bytes, inside the retention window. Applies events that a crash left unapplied. */
export async function repeatUnknown(deps: ActivityDeps, { all }: ReconcileInput): Promise<RepeatedUnknown> {
  const { application, ledger, settings } = deps;
  await ledger.applyMissedEvents();
  const { cancellationSignal } = Context.current();
  const window = retentionWindow(deps);
  let repeated = 0;
  let found = 0;
  let troubles = 0;
  for (let afterInvoiceId = 0; !cancellationSignal.aborted && troubles < TROUBLE_IN_A_ROW;) {
    const taken = await ledger.takeUnknown({
      application,
      now: deps.now(),
      retentionMs: settings.retry.retentionMs,
      staleMs: STALE_MS,
      all,
      afterInvoiceId,
      limit: REPEATS_AT_ONCE,
    });
    if (taken.length === 0) break;
    afterInvoiceId = Math.max(...taken.map(({ invoiceId }) => invoiceId));
    await eachOf(taken, settings.maxConcurrency, async (invoice) => {
      const answer = await repeatOne(deps, window, invoice);
      if (answer === 'too-late') return;
      repeated += 1;
      if (answer === 'found') found += 1;
      troubles = answer === 'trouble' ? troubles + 1 : 0;
    });
  }
  return { ledgerId: ledger.id, repeated, found, serviceAway: troubles >= TROUBLE_IN_A_ROW };
}

async function repeatOne(
  deps: ActivityDeps,
  window: RetentionWindow,
  invoice: RepeatInvoice,
): Promise<'found' | 'nothing' | 'trouble' | 'too-late'> {
  const sentAt = deps.now();
  const { invoiceId, generation, mayExistSince } = invoice;
  // It was taken together with others, whose answers may have taken their time.
  if (window.isOver(mayExistSince)) {
    await deps.ledger.recordSends([{ invoiceId, generation, attempts: 0, sentAt, outcome: window.outcome }]);
    return 'too-late';
  }
  const signal = window.signal(mayExistSince);
  const answer = await deps.service.createInvoice(invoice.body, invoice.idempotencyKey, { signal });
  await deps.ledger.recordSends([
    { invoiceId, generation, attempts: 1, sentAt, answeredAt: deps.now(), outcome: outcomeOf(answer, invoice) },
  ]);
  if (answer.kind === 'created') return 'found';
  return answer.kind === 'refused' || answer.kind === 'key-mismatch' ? 'nothing' : 'trouble';
}

/** Only an id tells anything of a lost answer; a refusal now says nothing about the POST of then. */
function outcomeOf(answer: CreateAnswer, { reason }: RepeatInvoice): SendOutcome {
  switch (answer.kind) {
    case 'created':
      return { kind: 'accepted', serviceId: answer.serviceId };
    case 'refused':
    case 'key-mismatch':
      return { kind: 'unknown', reason: answer.reason };
    case 'not-now':
    case 'not-permitted':
    case 'lost':
    case 'closed-door':
      return { kind: 'unknown', reason };
  }
}

/** Asks for every document of closed batches that has no final word; what is silent for longer than the settle time is `unsettled`. */
export async function askOpenDocuments(deps: ActivityDeps, { all }: ReconcileInput): Promise<AskedDocuments> {
  const { cancellationSignal } = Context.current();
  const { application } = deps;
  const now = deps.now();
  let asked = 0;
  let settled = 0;
  let troubles = 0;
  const halted = (): boolean => cancellationSignal.aborted || troubles >= TROUBLE_IN_A_ROW;
  for (let afterInvoiceId = 0; !halted();) {
    const documents = await deps.ledger.openDocuments({
      application,
      now,
      all,
      afterInvoiceId,
      limit: DOCUMENTS_AT_ONCE,
    });
    await eachOf(documents, deps.settings.maxConcurrency, async (document) => {
      if (halted()) return;
      asked += 1;
      const news = await askDocument(deps, document, halted);
      troubles = news === null ? troubles + 1 : 0;
      if (news === null) return;
      await deps.ledger.recordStatus([news]);
      if (news.status === 'issued' || news.status === 'failed') settled += 1;
    });
    const last = documents.at(-1);
    if (last === undefined || documents.length < DOCUMENTS_AT_ONCE) break;
    afterInvoiceId = last.invoiceId;
  }
  const until = deps.now();
  await deps.ledger.silenceClosed({ application, acceptedBefore: until - deps.settings.settleMs, now: until });
  return { asked, settled, serviceAway: troubles >= TROUBLE_IN_A_ROW };
}

async function askDocument(
  deps: ActivityDeps,
  { invoiceId, serviceId, failedEvent }: OpenDocument,
  halted: () => boolean,
): Promise<StatusNews | null> {
  const reported = failedEvent === null ? {} : { reason: failedEvent.reason };
  for (let tries = 1; ; tries += 1) {
    const news = await askOne(deps, { invoiceId, serviceId, ...reported });
    if (news !== null || tries >= TRIES_PER_DOCUMENT || halted()) return news;
  }
}

/** Closed batches whose report no longer says what the ledger says, or was never written. */
export async function outdatedReports(deps: ActivityDeps): Promise<readonly string[]> {
  const outdated = await deps.ledger.outdatedReports(deps.application);
  return [...outdated, ...(await missingReports(deps))];
}

/** A run that is still open writes its report itself. */
async function missingReports({ ledger, runs, application }: ActivityDeps): Promise<readonly string[]> {
  const missing: string[] = [];
  for (const { batchId, workflowId, runId } of await ledger.unreportedBatches(application)) {
    if ((await runs.endedForMs(workflowId, runId)) !== null) missing.push(batchId);
  }
  return missing;
}
