import type { InvoiceLine } from '../../domain/invoice.ts';
import type { RawRow } from '../../domain/row.ts';
import { cellOf, shownCell } from './cell-findings.ts';
import type { CellFindings } from './cell-findings.ts';
import type { Conversion } from '../ingest-result.ts';
import { numberCell } from './number-cell.ts';
import { isTotalsDescription } from '../csv/totals-row.ts';

const TAX_CODE = /^IVA_\d+(?:[._]\d+)?$/;

/** One line of an invoice; null when its amount cannot be read. Whatever is wrong stands in the findings. */
export function lineOf(
  row: RawRow,
  given: { readonly conversion: Conversion; readonly currency: string; readonly findings: CellFindings },
): InvoiceLine | null {
  const { findings } = given;
  const description = cellOf(row, 'description');
  const taxCode = taxCodeOf(row, given.conversion, findings);
  if (description === '')
    findings.error(row.row, 'description', {
      code: 'description-missing',
      message: 'expected a text, found an empty cell',
    });
  else if (isTotalsDescription(description))
    findings.error(row.row, 'description', {
      code: 'totals-row-in-invoice',
      message: `expected a product or service, found ${shownCell(description)}: a total as a line of the invoice would be charged twice. Remove the row, or describe what is sold`,
    });
  const quantity = numberCell(row, 'quantity', given);
  const unitPrice = numberCell(row, 'unit_price', given);
  return quantity === null || unitPrice === null ? null : { description, quantity, unitPrice, taxCode };
}

/** The code that is sent: what the profile says for the file's word, or the word as it is. */
function taxCodeOf(row: RawRow, { taxCodes }: Conversion, findings: CellFindings): string {
  const word = cellOf(row, 'tax_code');
  if (word === '') {
    findings.error(row.row, 'tax_code', {
      code: 'tax-code-missing',
      message: 'expected a tax code such as IVA_23, found an empty cell',
    });
    return '';
  }
  if (taxCodes !== null) {
    if (Object.hasOwn(taxCodes, word)) return taxCodes[word] ?? '';
    if (Object.values(taxCodes).includes(word)) return word;
    findings.error(row.row, 'tax_code', {
      code: 'tax-code-unmapped',
      message: `expected a tax that the profile's taxCodes name, found ${shownCell(word)}. Add it to the profile, or correct the row`,
    });
    return '';
  }
  if (!TAX_CODE.test(word)) {
    findings.warning(row.row, 'tax_code', {
      code: 'tax-code-unusual',
      message: `expected the form IVA_<rate>, found ${shownCell(word)}; it is sent as it is`,
    });
  }
  return word;
}
