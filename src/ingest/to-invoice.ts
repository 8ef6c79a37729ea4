import type { InvoiceLine } from '../domain/invoice.ts';
import { netOf } from '../domain/money.ts';
import type { GroupedInvoice, RawRow } from '../domain/row.ts';
import { CellFindings } from './cell-findings.ts';
import { checkGroup } from './check-group.ts';
import { headOf } from './invoice-head.ts';
import type { Conversion } from './ingest-result.ts';
import { lineOf } from './invoice-line.ts';

/** Turns the rows of one identity into an invoice, or into the findings that keep it from being one. Pure. */
export function toInvoice(group: readonly RawRow[], conversion: Conversion): GroupedInvoice {
  const [first] = group;
  if (first === undefined) throw new RangeError('Building an invoice: expected at least one row, found none');
  const findings = new CellFindings(conversion.labels);
  for (const { row } of group) findings.addAll(conversion.damaged[row] ?? []);
  checkLostReference(first, conversion, findings);
  checkGroup(group, conversion, findings);
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
    ref: first.ref,
    nif: first.nif,
    rows,
    currency: head.currency,
    net: readable.length === lines.length ? netOf(readable) : null,
    findings: findings.list(),
  };
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
  if (format === 'csv') return false;
  return damaged[row.row]?.some((finding) => finding.column?.startsWith('lines')) ?? false;
}
