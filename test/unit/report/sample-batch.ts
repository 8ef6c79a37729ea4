import type { Finding } from '../../../src/domain/invoice.ts';
import type { OriginalCsv, OriginalSheet } from '../../../src/report/corrections/original-file.ts';
import { batchInvoice, batchOf, each, NOON, unsentInvoice, finding } from './batch-invoices.ts';
import type { BatchInvoice, BatchRecord } from '../../../src/domain/records/batch-record.ts';

const because = (code: string, message: string) => ({ reason: { code, message } });
const PRICE = 'Row 11, unit_price: expected a decimal number, found "12,5O"';
const HOSTILE = '<script>alert(1)</script> tax_code "X"; not known';
const UNANSWERED = { serviceId: null, settledAt: null, attempts: 6, ...because('answer-lost', 'No answer came.') };

/** One invoice in each state that a finished batch can have, with texts that try to break each format. */
export const SAMPLE_INVOICES: readonly BatchInvoice[] = [
  batchInvoice({ ordinal: 1, rows: [2, 3], net: '1234567.89' }),
  batchInvoice({ ordinal: 2, rows: [4], state: 'already-issued', currency: 'BRL', net: '-40' }),
  batchInvoice({
    ...{ ordinal: 3, rows: [5], state: 'rejected', serviceId: null, ref: '=HYPERLINK("http://127.0.0.1/","x")' },
    ...because('validation', HOSTILE),
  }),
  batchInvoice({
    ...{ ordinal: 4, rows: [6], state: 'failed' },
    ...because('engine-failed', 'Não foi possível emitir.\nTente de novo.'),
  }),
  batchInvoice({ ordinal: 5, rows: [7], state: 'unknown', ...UNANSWERED }),
  batchInvoice({
    ...{ ordinal: 6, rows: [8], state: 'unsettled', settledAt: null },
    ...because('silent', 'No final word yet.'),
  }),
  unsentInvoice({
    ...{ ordinal: 7, rows: [9], state: 'held' },
    ...because('merchant-details-missing', 'Name and e-mail are missing.'),
  }),
  unsentInvoice({
    ...{ ordinal: 8, rows: [10], state: 'conflict' },
    ...because('known-with-other-content', 'Known with other content.'),
  }),
  unsentInvoice({
    ...{ ordinal: 9, rows: [11, 12], state: 'invalid', net: null },
    findings: [
      finding(11, 'unit_price', 'unit-price-unreadable', PRICE),
      finding(12, 'tax_code', 'tax-code-missing', 'Row 12, tax_code: must not be empty'),
    ],
  }),
  batchInvoice({ ordinal: 10, rows: [13], ref: 'F\u20281', flags: ['issued-after-failed'] }),
];

export const SAMPLE_FINDINGS: readonly Finding[] = [
  finding(null, null, 'encoding-assumed', 'Read as windows-1252: "Café".', 'warning'),
  finding(14, 'invoice_ref', 'ref-missing', 'Row 14: no reference.'),
  finding(15, null, 'totals-row', 'Row 15 looks like a totals row.', 'info'),
];

export const SAMPLE_BATCH: BatchRecord = batchOf(SAMPLE_INVOICES, {
  file: 'may & <june>.csv',
  rowsWithoutInvoice: 2,
  proof: { encoding: 'windows-1252', delimiter: ';' },
  startedAt: NOON - 60_000,
});

const ROWS = Array.from({ length: 14 }, (_, at) => at + 2);

/** Rows 2 to 15 of the file, each with its row number in the description. */
export function sampleOriginal(): OriginalCsv {
  const records = ROWS.map((row) => ({ row, cells: [`ref ${row}`, `row ${row}`], original: '' }));
  return {
    kind: 'csv',
    readAs: '',
    extension: 'CSV',
    header: ['invoice_ref', 'description'],
    dialect: { delimiter: ';', newline: '\r\n', encoding: 'windows-1252', byteOrderMark: false },
    records: each(records),
  };
}

/** The same file as a workbook whose sheet has this name. */
export function sampleSheet(name: string): OriginalSheet {
  const cell = (text: string) => ({ kind: 'text', text, format: null }) as const;
  return {
    kind: 'sheet',
    name,
    header: ['invoice_ref', 'description'],
    readAs: 'form=workbook',
    columns: new Map([['invoice_ref', { position: 0, column: 'invoice_ref' as const }]]),
    rows: each(ROWS.map((row) => ({ row, hidden: false, cells: [cell(`ref ${row}`), cell('row')] }))),
    merged: () => [],
  };
}
