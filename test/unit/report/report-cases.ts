import type { Finding } from '../../../src/domain/invoice.ts';
import type { ReportHistory, ReportNote } from '../../../src/report/report-model.ts';
import { batchInvoice, batchOf, NOON, unsentInvoice, finding } from './batch-invoices.ts';
import type { BatchInvoice, BatchRecord } from '../../../src/domain/records/batch-record.ts';

/** A batch as a report finds it; `test/golden/report/<name>/` holds what the report says of it. */
export interface ReportCase {
  readonly batch: BatchRecord;
  readonly invoices: readonly BatchInvoice[];
  readonly findings?: readonly Finding[];
  readonly notes?: readonly ReportNote[];
  readonly history?: ReportHistory;
}

const CANCELLED = {
  code: 'cancelled',
  message: 'An operator cancelled what was not sent yet. Drop the file again to send it.',
};
const PENDING_INVOICES = {
  code: 'silent',
  message: 'The service accepted it and has not said yet whether it was issued.',
};
const LOST = { code: 'answer-lost', message: 'No answer came.' };

const cancelled = [
  batchInvoice({ ordinal: 1 }),
  batchInvoice({ ordinal: 2, state: 'unsettled', settledAt: null, reason: PENDING_INVOICES }),
  unsentInvoice({ ordinal: 3, state: 'held', reason: CANCELLED }),
];
const reconciled = [
  batchInvoice({ ordinal: 1 }),
  batchInvoice({ ordinal: 2, settledAt: NOON + 3_600_000 }),
  batchInvoice({ ordinal: 3, generation: 2, attempts: 2 }),
  batchInvoice({ ordinal: 4, state: 'unknown', serviceId: null, settledAt: null, attempts: 6, reason: LOST }),
];

export const REPORT_CASES: Readonly<Record<string, ReportCase>> = {
  refused: {
    batch: batchOf([], {
      ...{ file: 'phone-bill.csv', state: 'refused', rows: 2 },
      proof: { encoding: { name: 'utf-8', how: 'proved' } },
    }),
    invoices: [],
    findings: [finding(1, null, 'columns-missing', 'Row 1: expected the column invoice_ref, found a, b.')],
  },
  cancelled: {
    batch: batchOf(cancelled, { file: 'cancelled.csv', state: 'cancelled' }),
    invoices: cancelled,
    notes: [{ kind: 'no-webhook', cause: 'no WEBHOOK_URL is set' }],
    history: {
      changes: null,
      audit: [
        {
          at: new Date(NOON).toISOString(),
          ...{ who: 'ana', what: 'cancel-remaining', why: 'wrong month <b>', acceptedDuplicateRisk: false },
          ...{ invoices: 0, examples: [] },
        },
      ],
    },
  },
  reconciled: {
    batch: batchOf(reconciled, { file: 'reconciled.csv', revision: 1 }),
    invoices: reconciled,
    history: {
      changes: {
        sinceRevision: 1,
        byState: [
          { from: 'unsettled', to: 'issued', invoices: 1, examples: ['F-2'] },
          { from: 'failed', to: 'issued', invoices: 1, examples: ['F-3'] },
        ],
      },
      audit: [
        {
          at: new Date(NOON + 1_800_000).toISOString(),
          ...{ who: null, what: 'retry', why: 'the tax engine is back', acceptedDuplicateRisk: true, invoices: 1 },
          examples: [{ ref: 'F-3', rows: [6, 7], move: 'regenerate', from: 'failed', generation: 1 }],
        },
      ],
    },
  },
};
