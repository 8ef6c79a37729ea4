import type { Finding } from '../../domain/invoice.ts';
import type { Contradiction, Outcome } from '../../domain/invoice-state.ts';
import type { BatchInvoice } from '../../domain/ports/ledger/batch-record.ts';
import { reasonOf } from '../database/reason-of.ts';
import type { FoundInvoice } from '../../domain/ports/invoice-search.ts';
import type { BatchInvoiceRow } from './batch-invoices-sql.ts';
import type { FoundInvoiceRow } from './lookup-sql.ts';

/** A line of a batch in the words of the port. */
export function batchInvoice(row: BatchInvoiceRow): BatchInvoice {
  return {
    ordinal: row.ordinal,
    page: row.page,
    ref: row.invoice_ref,
    merchantNif: row.merchant_nif,
    rows: row.file_rows,
    currency: row.currency,
    net: row.net,
    state: row.state as Outcome,
    serviceId: row.service_id,
    idempotencyKey: row.idempotency_key,
    generation: row.generation ?? 0,
    attempts: row.attempts ?? 0,
    reason: reasonOf(row),
    findings: row.findings === null ? [] : (JSON.parse(row.findings) as Finding[]),
    flags: row.flags ?? [],
    ...(row.contradictions.length === 0 ? {} : { contradictions: row.contradictions as readonly Contradiction[] }),
    sentAt: row.sent_at,
    settledAt: row.settled_at,
    ...(row.issued_elsewhere ? { issuedElsewhere: true } : {}),
  };
}

/** A line that a search found, with its batch. */
export function foundInvoice(row: FoundInvoiceRow): FoundInvoice {
  const { batch_id: batchId, application, file, read_at: readAt } = row;
  return { ...batchInvoice(row), batchId, application, file, readAt };
}
