import type { StatusUpdate } from '../../src/domain/ports/ledger/settling-ledger.ts';
import type { OpenDocument } from '../../src/domain/ports/ledger/reconciling-ledger.ts';
import { isContradicted, pollOne } from './poll-statuses.ts';
import type { ActivityDeps } from '../deps.ts';
import { attemptOver, requireRunningWorker } from '../attempt-over.ts';
import { eachOf } from '../../src/concurrency/each-of.ts';

/** Numbers of documents that were polled, and of those that now have a final word. */
export interface PolledDocuments {
  readonly asked: number;
  readonly settled: number;
  /** The service does not answer, or is not asked: the rest waits for the next time. */
  readonly serviceAway: boolean;
  /** As in `ReconciliationResult`. */
  readonly profileFoundWrong?: true;
}

/** After so many polls in a row without an answer, the service counts as away. */
export const TROUBLE_IN_A_ROW = 10;
const DOCUMENTS_AT_ONCE = 500;
/** A 429 or a lost answer says nothing of a document; the client waits out a Retry-After before the next try. */
const TRIES_PER_DOCUMENT = 3;

/**
 * Polls the documents that `next` lists, portion by portion in the order of their invoice ids, and records each answer.
 * @throws ApplicationFailure `worker-stops` when the worker stops before all of them were polled
 */
export async function pollDocuments(
  deps: ActivityDeps,
  next: (afterInvoiceId: number, limit: number) => Promise<readonly OpenDocument[]>,
): Promise<PolledDocuments> {
  const over = attemptOver();
  let asked = 0;
  let settled = 0;
  let troubles = 0;
  let isStopped = false;
  const halted = (): boolean => isStopped || over.aborted || troubles >= TROUBLE_IN_A_ROW;
  for (let afterInvoiceId = 0; !halted();) {
    if (await isContradicted(deps)) return { asked, settled, serviceAway: true, profileFoundWrong: true };
    const documents = await next(afterInvoiceId, DOCUMENTS_AT_ONCE);
    await eachOf(documents, deps.settings.maxConcurrency, async (document) => {
      isStopped ||= await deps.watch.isStopped();
      if (halted()) return;
      asked += 1;
      const update = await pollDocument(deps, document, { halted, signal: over });
      if (over.aborted && update === null) return;
      troubles = update === null ? troubles + 1 : 0;
      if (update === null) return;
      await deps.ledger.recordStatus([update]);
      if (update.status === 'issued' || update.status === 'failed') settled += 1;
    });
    const last = documents.at(-1);
    if (last === undefined || documents.length < DOCUMENTS_AT_ONCE) break;
    afterInvoiceId = last.invoiceId;
  }
  const serviceAway = isStopped || troubles >= TROUBLE_IN_A_ROW;
  if (!serviceAway) requireRunningWorker(over);
  return { asked, settled, serviceAway, ...(isStopped ? { profileFoundWrong: true as const } : {}) };
}

async function pollDocument(
  deps: ActivityDeps,
  { invoiceId, serviceId, failedEvent }: OpenDocument,
  { halted, signal }: { readonly halted: () => boolean; readonly signal: AbortSignal },
): Promise<StatusUpdate | null> {
  const reported = failedEvent === null ? {} : { reason: failedEvent.reason };
  for (let tries = 1; ; tries += 1) {
    const update = await pollOne(deps, { invoiceId, serviceId, ...reported, isLast: true }, signal);
    if (update !== null || tries >= TRIES_PER_DOCUMENT || halted() || (await deps.watch.isStopped())) return update;
  }
}
