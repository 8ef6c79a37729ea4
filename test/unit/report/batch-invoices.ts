import type { Finding } from '../../../src/domain/invoice.ts';
import type { ReportLedger } from '../../../src/report/write-report.ts';
import { createOutcomeTally } from '../../../src/report/check-balance.ts';
import type { BatchInvoice, BatchRecord, OutcomeCount } from '../../../src/domain/records/batch-record.ts';

export const NOON = Date.UTC(2026, 4, 1, 12);

/** An issued invoice of two rows, 12.5 EUR; each test names what matters to it. */
export function batchInvoice(given: Partial<BatchInvoice> = {}): BatchInvoice {
  const ordinal = given.ordinal ?? 1;
  return {
    ordinal,
    page: 1,
    ref: `F-${ordinal}`,
    merchantNif: '501964843',
    rows: [ordinal * 2, ordinal * 2 + 1],
    currency: 'EUR',
    net: '12.5',
    state: 'issued',
    serviceId: `inv_${ordinal}`,
    idempotencyKey: `lote_${String(ordinal).padStart(4, '0')}`,
    generation: 1,
    attempts: 1,
    reason: null,
    findings: [],
    flags: [],
    sentAt: NOON,
    settledAt: NOON + 1500,
    ...given,
  };
}

/** Something that was found in a file: an error, unless a test says otherwise. */
export function finding(
  row: number | null,
  column: string | null,
  code: string,
  message: string,
  severity: Finding['severity'] = 'error',
): Finding {
  return { row, column, code, message, severity };
}

/** An invoice that never left: nothing of the service is known of it. */
export function unsentInvoice(given: Partial<BatchInvoice>): BatchInvoice {
  return batchInvoice({ serviceId: null, idempotencyKey: null, attempts: 0, sentAt: null, settledAt: null, ...given });
}

/** The batch that these invoices make, with sums that fit. */
export function batchOf(invoices: readonly BatchInvoice[], given: Partial<BatchRecord> = {}): BatchRecord {
  const rowsWithoutInvoice = given.rowsWithoutInvoice ?? 0;
  return {
    batchId: 'batch-may-0a1b2c3d',
    application: 'default',
    file: 'may.csv',
    sha256: '0a1b2c3d'.repeat(8),
    state: 'finished',
    workflowId: 'batch-may-0a1b2c3d',
    runId: 'run-1',
    stopped: null,
    pageSize: 2000,
    pages: 1,
    rows: invoices.reduce((sum, { rows }) => sum + rows.length, 0) + rowsWithoutInvoice,
    rowsWithoutInvoice,
    invoices: invoices.length,
    startedAt: NOON - 60_000,
    finishedAt: NOON + 60_000,
    revision: 0,
    fencingToken: 1,
    proof: {},
    ...given,
  };
}

export function countsOf(invoices: readonly BatchInvoice[]): readonly OutcomeCount[] {
  const tally = createOutcomeTally();
  tally.add(invoices);
  return tally.counts();
}

export async function* portionsOf<T>(items: readonly T[], size = 2): AsyncGenerator<readonly T[]> {
  for (let from = 0; from < items.length; from += size) yield items.slice(from, from + size);
}

export async function* each<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}

export async function textOf(pieces: AsyncIterable<string | Uint8Array>): Promise<string> {
  let text = '';
  for await (const piece of pieces) text += typeof piece === 'string' ? piece : Buffer.from(piece).toString('utf8');
  return text;
}

/** The part of the ledger that the report reads, over a batch that stands still unless a test moves it. */
export function ledgerOf(
  batch: BatchRecord,
  invoices: readonly BatchInvoice[],
  given: Partial<ReportLedger> = {},
): ReportLedger {
  let revision = batch.revision;
  return {
    findBatch: async (batchId) => (batchId === batch.batchId ? { ...batch, revision } : null),
    countOutcomes: async () => countsOf(invoices),
    fileFindings: async () => [],
    batchInvoices: () => portionsOf(invoices),
    nextRevision: async () => {
      revision += 1;
      return revision;
    },
    sinceReport: async () => ({ revision: 0, mark: '', isFlagged: false, contradicted: 0, changes: [] }),
    ...given,
  };
}
