import type { BatchInvoice } from '../domain/ports/ledger/batch-record.ts';
import { isoTime } from '../domain/time/iso-time.ts';
import { isContradicted } from './outcome-tally.ts';
import { reasonOf } from './state-reason.ts';
import type { ReportInvoice } from './report-model.ts';

/** The ledger's view of an invoice, in the words and the order of report.json. */
export function reportInvoice(invoice: BatchInvoice): ReportInvoice {
  return {
    ref: invoice.ref,
    merchantNif: invoice.merchantNif,
    rows: invoice.rows,
    state: invoice.state,
    currency: invoice.currency,
    net: invoice.net,
    serviceId: invoice.serviceId,
    idempotencyKey: invoice.idempotencyKey,
    generation: invoice.generation,
    attempts: invoice.attempts,
    reason: reasonOf(invoice),
    sentAt: isoTime(invoice.sentAt),
    settledAt: isoTime(invoice.settledAt),
    findings: invoice.findings,
    flags: invoice.flags,
    ...(isContradicted(invoice) && { contradictions: invoice.contradictions }),
  };
}
