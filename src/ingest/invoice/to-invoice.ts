import type { InvoiceLine } from '../../domain/invoice.ts';
import { bySpelling, shownSpelling } from '../../domain/look-alike.ts';
import { netOf } from '../../domain/money.ts';
import type { GroupedInvoice, RawRow } from '../../domain/row.ts';
import { fittingReference } from '../../domain/text/fitting-reference.ts';
import { isCutReference } from '../csv/cut-references.ts';
import { CellFindings, shownCell } from './cell-findings.ts';
import { checkGroup } from './check-group.ts';
import { headOf } from './invoice-head.ts';
import type { Conversion } from '../ingest-result.ts';
import { lineOf } from './invoice-line.ts';

/** Turns the rows of a group into invoices: one, unless their references or tax numbers only look alike. Pure. */
export function toInvoices(group: readonly RawRow[], conversion: Conversion): readonly GroupedInvoice[] {
  const spellings = bySpelling(group);
  return spellings.map((rows) => toInvoice(rows, conversion, spellings.find((other) => other !== rows)?.[0]));
}

/** Turns the rows of one identity into an invoice, or into the findings that keep it from being one. `lookAlike`: a row of another one that looks the same. */
export function toInvoice(group: readonly RawRow[], conversion: Conversion, lookAlike?: RawRow): GroupedInvoice {
  const [first] = group;
  if (first === undefined) throw new RangeError('Building an invoice: expected at least one row, found none');
  const findings = new CellFindings(conversion.labels);
  for (const { row } of group) findings.addAll(conversion.damaged[row] ?? []);
  checkLostReference(first, conversion, findings);
  checkGroup(group, conversion, findings);
  checkCutReference(first, conversion, findings);
  if (lookAlike !== undefined && conversion.lookAlikes === 'refuse') checkLookAlike(first, lookAlike, findings);
  const shifted = group.filter((row) => isShifted(row, conversion));
  const head = headOf(
    group.filter((row) => !shifted.includes(row)),
    findings,
  );
  const lines = group.map((row) =>
    shifted.includes(row) || hasNoLine(row, conversion)
      ? null
      : lineOf(row, { conversion, currency: head.currency ?? '', findings }),
  );
  const readable = lines.filter((line): line is InvoiceLine => line !== null);
  const rows = group.map(({ row }) => row);
  if (!findings.hasError && readable.length === lines.length && head.currency !== null) {
    const { merchant, customer, currency } = head;
    return {
      ok: true,
      invoice: { ref: first.ref, merchant, customer, currency, lines: readable },
      rows,
      findings: findings.list(),
    };
  }
  return {
    ok: false,
    ref: fittingReference(first.ref),
    nif: first.nif,
    rows,
    currency: head.currency,
    net: readable.length === lines.length ? netOf(readable) : null,
    findings: findings.list(),
  };
}

/** One of them may be a line of the other, and an invoice that went out without a line cannot be called back. */
function checkLookAlike(first: RawRow, other: RawRow, findings: CellFindings): void {
  if (other.nif !== first.nif) {
    findings.error(first.row, 'merchant_nif', {
      code: 'nif-look-alike',
      message: `found ${shownCell(first.nif)}, which differs from ${shownCell(other.nif)} of row ${other.row} only in the zeros in front, with a reference that is the same or looks so. A spreadsheet drops such zeros: write the tax number in the same way if they are of one merchant; if they are of two, keep them with --look-alikes keep`,
    });
    return;
  }
  findings.error(first.row, 'invoice_ref', {
    code: 'reference-look-alike',
    message: `found ${JSON.stringify(shownSpelling(first.ref))}, which looks like ${JSON.stringify(shownSpelling(other.ref))} of row ${other.row} and is not the same. Write both in the same way if they are one invoice; if they are two, keep them with --look-alikes keep`,
  });
}

/** Two invoices may have become one under it, and one that was issued may have got another reference. */
function checkCutReference(first: RawRow, { areReferencesCut, lookAlikes }: Conversion, findings: CellFindings): void {
  if (areReferencesCut !== true || lookAlikes === 'keep' || !isCutReference(first.ref)) return;
  findings.error(first.row, 'invoice_ref', {
    code: 'reference-damaged',
    message: `found ${shownCell(first.ref)}: a spreadsheet keeps 15 digits of a number, and every longer reference of this file, or of the one that it corrects, has only zeros behind them. Export the file again without a spreadsheet; if the references are right, run it, or its corrections, with --look-alikes keep`,
  });
}

/** A row of the same reference whose tax number cannot be read may be one more line of this invoice. */
function checkLostReference(first: RawRow, { lostReferences }: Conversion, findings: CellFindings): void {
  const lost = Object.hasOwn(lostReferences, first.ref) ? lostReferences[first.ref] : undefined;
  if (lost === undefined) return;
  findings.error(first.row, 'invoice_ref', {
    code: 'line-may-be-missing',
    message: `row ${lost} has the same reference and no usable tax number, and may be a line of this invoice, so the invoice is not sent. Correct the tax number of row ${lost}`,
  });
}

/** Cells of a row with a wrong cell count may stand in the wrong columns: whatever else is said of them would mislead. */
function isShifted(row: RawRow, { damaged }: Conversion): boolean {
  return damaged[row.row]?.some((finding) => finding.code === 'cell-count') ?? false;
}

/** The line object itself is missing or of a wrong type, and that has been said. */
function hasNoLine(row: RawRow, { damaged, format }: Conversion): boolean {
  if (format !== 'json' && format !== 'ndjson') return false;
  return damaged[row.row]?.some((finding) => finding.column?.startsWith('lines')) ?? false;
}
