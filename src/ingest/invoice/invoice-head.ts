import type { Invoice } from '../../domain/invoice.ts';
import type { Column, RawRow } from '../../domain/row.ts';
import { LONGEST_REFERENCE } from '../../domain/text/fitting-reference.ts';
import { cellOf, shownCell } from './cell-findings.ts';
import type { CellFindings } from './cell-findings.ts';
import { damagedReference, hasValidChecksum, isDamagedTaxId } from './identity.ts';

/** What all rows of an invoice must say alike. */
export interface InvoiceHead {
  readonly merchant: Invoice['merchant'];
  readonly customer: Invoice['customer'];
  /** null when there is none, or not one. */
  readonly currency: string | null;
}

const UNREADABLE: InvoiceHead = {
  merchant: { nif: '', legalName: null, email: null },
  customer: { name: '', taxId: null },
  currency: null,
};

/** Reads the fields that belong to the whole invoice, and reports where its rows disagree. */
export function headOf(group: readonly RawRow[], findings: CellFindings): InvoiceHead {
  if (group.length === 0) return UNREADABLE;
  checkIdentity(group, findings);
  const name = agreed(group, 'customer_name', findings);
  const taxId = agreed(group, 'customer_tax_id', findings);
  const first = group[0]?.row ?? 0;
  if (name === '')
    findings.error(first, 'customer_name', {
      code: 'customer-name-missing',
      message: 'expected the name of the buyer, found an empty cell',
    });
  if (taxId !== null && isDamagedTaxId(taxId)) {
    findings.error(first, 'customer_tax_id', {
      code: 'customer-tax-id-damaged',
      message: `expected a tax number, found ${shownCell(taxId)}: a spreadsheet turned it into a number. Format the column as text and enter it again`,
    });
  }
  return {
    merchant: {
      nif: group[0]?.nif ?? '',
      legalName: firstOf(group, 'merchant_legal_name', findings),
      email: firstOf(group, 'merchant_email', findings),
    },
    customer: { name: name ?? '', taxId: taxId === '' ? null : taxId },
    currency: currencyOf(group, findings),
  };
}

function checkIdentity(group: readonly RawRow[], findings: CellFindings): void {
  const [first] = group;
  if (first === undefined) return;
  const damage = damagedReference(first.ref);
  if (damage !== null) {
    findings.error(first.row, 'invoice_ref', {
      code: 'reference-damaged',
      message: `expected a reference, found ${shownCell(first.ref)}: ${damage}. Format the column as text and enter it again`,
    });
  }
  if (first.ref.length > LONGEST_REFERENCE) {
    findings.error(first.row, 'invoice_ref', {
      code: 'reference-too-long',
      message: `expected at most ${LONGEST_REFERENCE} characters, found ${first.ref.length}, which begin with ${shownCell(first.ref)}. Write the reference alone`,
    });
  }
  if (!hasValidChecksum(first.nif)) {
    findings.warning(first.row, 'merchant_nif', {
      code: 'nif-checksum',
      message: `expected nine digits with a valid check digit, found ${shownCell(first.nif)}; it is used as it is`,
    });
  }
}

function currencyOf(group: readonly RawRow[], findings: CellFindings): string | null {
  const text = agreed(group, 'currency', findings, (cell) => cell.toUpperCase());
  if (text === null || /^[A-Z]{3}$/.test(text)) return text;
  const found = text === '' ? 'an empty cell' : shownCell(text);
  findings.error(group[0]?.row ?? 0, 'currency', {
    code: text === '' ? 'currency-missing' : 'currency-unreadable',
    message: `expected a code of three letters such as EUR, found ${found}`,
  });
  return null;
}

/** The value that every row has; null, with a finding that names two rows, when they disagree. */
function agreed(
  group: readonly RawRow[],
  column: Column,
  findings: CellFindings,
  normal: (cell: string) => string = (cell) => cell,
): string | null {
  const [first] = group;
  if (first === undefined) return null;
  const value = normal(cellOf(first, column));
  const other = group.find((row) => normal(cellOf(row, column)) !== value);
  if (other === undefined) return value;
  findings.error(other.row, column, {
    code: `${column.replaceAll('_', '-')}-differs`,
    message: `expected the same value in every row of an invoice, found ${shownCell(cellOf(other, column))} where row ${first.row} has ${shownCell(cellOf(first, column))}`,
  });
  return null;
}

/** The first value there is: merchant details are not sent with an invoice, so that rows which disagree are a warning. */
function firstOf(group: readonly RawRow[], column: Column, findings: CellFindings): string | null {
  const first = group.find((row) => cellOf(row, column) !== '');
  if (first === undefined) return null;
  const value = cellOf(first, column);
  const other = group.find((row) => cellOf(row, column) !== '' && cellOf(row, column) !== value);
  if (other !== undefined) {
    findings.warning(other.row, column, {
      code: `${column.replaceAll('_', '-')}-differs`,
      message: `found ${shownCell(cellOf(other, column))} where row ${first.row} has ${shownCell(value)}; the first one is used, and only when the merchant must be created`,
    });
  }
  return value;
}
