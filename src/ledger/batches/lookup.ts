import type { Invoice } from '../../domain/invoice.ts';
import type { InvoiceState } from '../../domain/invoice-state.ts';
import type { RetryMove } from '../../domain/retry-decision.ts';
import type {
  HoldingBatch,
  InvoiceAction,
  InvoiceDetails,
  InvoiceGeneration,
  InvoiceLookup,
  OpenTry,
  StoredDelivery,
} from '../../domain/ports/invoice-lookup.ts';
import { batchInvoice, foundInvoice } from './batch-invoice.ts';
import { lookThrough } from './look-through.ts';
import { batchRecord } from './batch-record.ts';
import type { Database } from '../database/database.ts';
import { reasonOf } from '../database/reason-of.ts';
import { arrayLiteral } from '../database/array-literal.ts';
import type { BatchRow } from './batch-columns-sql.ts';
import {
  BATCH_LINE,
  BATCH_OF_FILE,
  BATCHES_OF_INVOICE,
  FIND_INVOICES,
  INVOICE_ACTIONS,
  INVOICE_DELIVERIES,
  INVOICE_GENERATIONS,
  INVOICE_TRIES,
  LAST_DELIVERY,
} from './lookup-sql.ts';
import type {
  ActionRow,
  DeliveryRow,
  FoundInvoiceRow,
  GenerationRow,
  HoldingBatchRow,
  LineRow,
  TryRow,
} from './lookup-sql.ts';

/** What people ask: search, and everything about one invoice. */
export function createLookup(database: Database): InvoiceLookup {
  const lookup: InvoiceLookup = {
    async batchOfFile(application, sha256) {
      const [row] = await database.query<BatchRow>(BATCH_OF_FILE, [application, sha256]);
      return row === undefined ? null : batchRecord(row);
    },

    async findInvoices(words, limit) {
      // No PostgreSQL text holds NUL, so nothing that is stored can match.
      if (words.includes('\u0000')) return [];
      const rows = await database.query<FoundInvoiceRow>(FIND_INVOICES, [words, limit]);
      return rows.map(foundInvoice);
    },

    async searchInvoices(search, bounds) {
      const { words, parts = false, net, from, before } = search;
      const onlyWords = !parts && net === undefined && from === undefined && before === undefined;
      if (onlyWords && words !== undefined && bounds.after === undefined) {
        // The indexes give hits in no order: of more than fit, they would keep any.
        const found = await lookup.findInvoices(words, bounds.results + 1);
        const isAll = found.length <= bounds.results;
        if (found.length > 0 && isAll) return { found, lookedAt: 0, backTo: null, next: null };
      }
      return lookThrough(database, search, bounds);
    },

    async invoiceDetails(batchId, ordinal) {
      const [row] = await database.query<LineRow>(BATCH_LINE, [batchId, ordinal]);
      return row === undefined ? null : details(database, row);
    },

    async lastDelivery(since) {
      const [row] = await database.query<{ received_at: number | null }>(LAST_DELIVERY, [since]);
      return row?.received_at ?? null;
    },
  };
  return lookup;
}

async function details(database: Database, row: LineRow): Promise<InvoiceDetails> {
  const line = batchInvoice(row);
  const known = { line, content: row.content === null ? null : (JSON.parse(row.content) as Invoice) };
  if (row.invoice_id === null)
    return { ...known, generations: [], deliveries: [], batches: [], tries: [], actions: [] };
  const generations = (await database.query<GenerationRow>(INVOICE_GENERATIONS, [row.invoice_id])).map(life);
  const serviceIds = generations.flatMap(({ serviceId }) => serviceId ?? []);
  const deliveries =
    serviceIds.length === 0 ? [] : await database.query<DeliveryRow>(INVOICE_DELIVERIES, [arrayLiteral(serviceIds)]);
  const batches = await database.query<HoldingBatchRow>(BATCHES_OF_INVOICE, [row.invoice_id]);
  const tries = await database.query<TryRow>(INVOICE_TRIES, [row.invoice_id]);
  const actions = await database.query<ActionRow>(INVOICE_ACTIONS, [row.invoice_id]);
  return {
    ...known,
    generations,
    deliveries: deliveries.map(delivery),
    batches: batches.map(holdingBatch),
    tries: tries.map(openTry),
    actions: actions.map(invoiceAction),
  };
}

function life(row: GenerationRow): InvoiceGeneration {
  return {
    generation: row.generation,
    idempotencyKey: row.idempotency_key,
    state: row.state as InvoiceState,
    serviceId: row.service_id,
    attempts: row.attempts,
    asks: row.asks,
    frozenAt: row.frozen_at,
    firstSentAt: row.first_sent_at,
    acceptedAt: row.accepted_at,
    settledAt: row.settled_at,
    changedAt: row.changed_at,
    reason: reasonOf(row),
    flags: row.flags,
    body: row.body,
  };
}

function delivery(row: DeliveryRow): StoredDelivery {
  return {
    receivedAt: row.received_at,
    type: row.event_type,
    eventId: row.event_id,
    serviceId: row.service_id,
    verdict: row.verdict,
    reason: reasonOf(row),
  };
}

function holdingBatch(row: HoldingBatchRow): HoldingBatch {
  return { batchId: row.batch_id, file: row.file, ordinal: row.ordinal, readAt: row.started_at, rows: row.file_rows };
}

function openTry(row: TryRow): OpenTry {
  const reason = { code: row.reason_code, message: row.reason_message };
  return { generation: row.generation, sentAt: row.sent_at, answeredAt: row.answered_at, reason };
}

function invoiceAction(row: ActionRow): InvoiceAction {
  const { at, who, what, why, accepted_duplicate_risk: acceptedDuplicateRisk } = row;
  return { at, who, what, why, acceptedDuplicateRisk, move: row.move as RetryMove | null };
}
