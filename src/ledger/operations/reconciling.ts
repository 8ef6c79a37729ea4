import type { EndRepeats, OpenDocument, ReconcilingLedger } from '../../domain/ports/ledger/reconciling-ledger.ts';
import { NO_FINAL_ANSWER } from '../../domain/retry-decision.ts';
import { BATCH_COLUMNS, type BatchRow } from '../batches/batch-columns-sql.ts';
import { batchRecord } from '../batches/batch-record.ts';
import { arrayLiteral, column } from '../database/array-literal.ts';
import type { Database } from '../database/database.ts';
import { reasonOf } from '../database/reason-of.ts';
import { CLOSED_BATCH_STATES } from '../database/states.ts';
import {
  BATCHES_LEFT_UNKNOWN,
  END_REPEATS,
  GIVE_UP_REPEATS,
  MARK_REASONS_CHANGED,
  MISSED_CONTRADICTIONS,
  MISSED_EVENTS,
  OPEN_DOCUMENTS,
  type OpenDocumentRow,
  EXPIRE_PENDING,
  TAKE_UNKNOWN,
  type TakenRow,
  UNSETTLED_DOCUMENTS,
} from './reconciling-sql.ts';
import { REVIVE_ALL_ISSUED } from '../settling/revive-issued-sql.ts';
import { applyEvents, applyPastEvents } from '../settling/settled.ts';

/** application: batches that some run works on, or did before it was lost. */
const OPEN_BATCHES = `/* open-batches */
SELECT ${BATCH_COLUMNS} FROM batch
WHERE application = $1 AND state IN ('staging', 'running', 'paused')
ORDER BY seq`;

/** application, workflowId, runId. */
const BATCHES_CLOSED_BY = `/* batches-closed-by */
SELECT batch_id FROM batch
WHERE application = $1 AND workflow_id = $2 AND run_id = $3 AND state IN ${CLOSED_BATCH_STATES}
ORDER BY seq`;

const ANSWER_LOST = { code: 'answer-lost', message: 'Its last answer was lost, so its outcome is not known.' };

/** What was left open when batches closed. */
export function createReconciling(database: Database): ReconcilingLedger {
  return {
    async batchesLeftUnknown(application) {
      const rows = await database.query<{ batch_id: string }>(BATCHES_LEFT_UNKNOWN, [application]);
      return rows.map((row) => row.batch_id);
    },

    async takeUnknown({ application, now, retentionMs, staleMs, ...take }) {
      const times = [now, now - staleMs, now - retentionMs];
      await database.query(GIVE_UP_REPEATS, [...times, application]);
      const taken = await database.query<TakenRow>(TAKE_UNKNOWN, [
        ...times,
        String(take.all),
        take.limit,
        take.afterInvoiceId,
        application,
        String(take.refusalIsProof === true),
        arrayLiteral(take.exceptBatches ?? []),
      ]);
      // RETURNING gives rows in the order in which the plan meets them.
      const inOrder = taken.toSorted((one, other) => one.invoice_id - other.invoice_id);
      return inOrder.map((row) => ({
        invoiceId: row.invoice_id,
        generation: row.generation,
        idempotencyKey: row.idempotency_key,
        body: row.body,
        mayExistSince: row.frozen_at,
        lastTriedAt: row.tried_at,
        reason: reasonOf(row) ?? ANSWER_LOST,
      }));
    },

    endRepeats: (end) => endRepeats(database, end),

    async markReasonsChanged(invoiceIds) {
      await database.query(MARK_REASONS_CHANGED, [arrayLiteral(invoiceIds)]);
    },

    async openDocuments({ application, now, all, afterInvoiceId, limit }) {
      const rows = await database.query<OpenDocumentRow>(OPEN_DOCUMENTS, [
        now,
        String(all),
        afterInvoiceId,
        limit,
        application,
      ]);
      return rows.map(openDocument);
    },

    async unsettledDocuments({ batchId, afterInvoiceId, limit }) {
      const rows = await database.query<OpenDocumentRow>(UNSETTLED_DOCUMENTS, [batchId, afterInvoiceId, limit]);
      return rows.map(openDocument);
    },

    applyMissedEvents: () => applyMissedEvents(database),

    async expirePending({ application, acceptedBefore, now }) {
      const { code, message } = NO_FINAL_ANSWER;
      return (await database.query(EXPIRE_PENDING, [acceptedBefore, code, message, now, application])).length;
    },

    async openBatches(application) {
      return (await database.query<BatchRow>(OPEN_BATCHES, [application])).map(batchRecord);
    },

    batchesClosedBy: (run) => batchesClosedBy(database, run),
  };
}

async function batchesClosedBy(
  database: Database,
  { application, workflowId, runId }: Parameters<ReconcilingLedger['batchesClosedBy']>[0],
): Promise<readonly string[]> {
  const rows = await database.query<{ batch_id: string }>(BATCHES_CLOSED_BY, [application, workflowId, runId]);
  return rows.map((row) => row.batch_id);
}

/** A report that said another reason would stay if a crash came between the two statements. */
async function endRepeats(
  database: Database,
  { application, now, frozenUntil, reason, messageAhead }: EndRepeats,
): Promise<number> {
  const said = [reason.code, reason.message, application, messageAhead];
  return database.transaction(async (queries) => {
    const ended = await queries.query<{ invoice_id: number }>(END_REPEATS, [now, frozenUntil, ...said]);
    if (ended.length > 0) await queries.query(MARK_REASONS_CHANGED, [column(ended, (row) => row.invoice_id)]);
    return ended.length;
  });
}

function openDocument(row: OpenDocumentRow): OpenDocument {
  return {
    invoiceId: row.invoice_id,
    serviceId: row.service_id,
    failedEvent: row.has_failed_event ? { reason: reasonOf(row) } : null,
  };
}

async function applyMissedEvents(database: Database): Promise<number> {
  const missed = await database.query<{ service_id: string; past: boolean }>(MISSED_EVENTS);
  const live = await applyEvents(
    database,
    missed.filter(({ past }) => !past).map((row) => row.service_id),
  );
  const past = missed.filter((row) => row.past).map((row) => row.service_id);
  await applyPastEvents(database, past);
  const contradicted = await database.query<{ service_id: string }>(MISSED_CONTRADICTIONS);
  await applyEvents(
    database,
    contradicted.map((row) => row.service_id),
  );
  const revived = await database.query(REVIVE_ALL_ISSUED);
  return live.filter(({ state }) => state === 'issued').length + past.length + revived.length;
}
