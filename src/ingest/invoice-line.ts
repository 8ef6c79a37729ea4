import type { InvoiceLine } from '../domain/invoice.ts';
import type { RawRow } from '../domain/row.ts';
import { cellOf, shownCell } from './cell-findings.ts';
import type { CellFindings } from './cell-findings.ts';
import type { Conversion } from './ingest-result.ts';
import { numberCell } from './number-cell.ts';

const TAX_CODE = /^IVA_\d+(?:[._]\d+)?$/;

/** One line of an invoice; null when its amount cannot be read. Whatever is wrong stands in the findings. */
export function lineOf(
  row: RawRow,
  given: { readonly conversion: Conversion; readonly currency: string; readonly findings: CellFindings },
): InvoiceLine | null {
  const { findings } = given;
  const description = cellOf(row, 'description');
  const taxCode = cellOf(row, 'tax_code');
  if (description === '')
    findings.error(row.row, 'description', {
      code: 'description-missing',
      message: 'expected a text, found an empty cell',
    });
  if (taxCode === '')
    findings.error(row.row, 'tax_code', {
      code: 'tax-code-missing',
      message: 'expected a tax code such as IVA_23, found an empty cell',
    });
  else if (!TAX_CODE.test(taxCode)) {
    findings.warning(row.row, 'tax_code', {
      code: 'tax-code-unusual',
      message: `expected the form IVA_<rate>, found ${shownCell(taxCode)}; it is sent as it is`,
    });
  }
  const quantity = numberCell(row, 'quantity', given);
  const unitPrice = numberCell(row, 'unit_price', given);
  return quantity === null || unitPrice === null ? null : { description, quantity, unitPrice, taxCode };
}
