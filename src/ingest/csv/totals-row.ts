import { COLUMNS } from '../../domain/row.ts';

const LABEL = /^(?:sub|grand|gran)?[\s-]?tota(?:l|is|les|ux)\b|^(?:soma|suma|sum)\b/i;
/** The whole text, so that `Total Care` stays a product. */
const NOTHING_BUT_LABEL =
  /^(?:(?:sub|grand|gran)[\s-]?)?tota(?:l|is|les|ux)(?: geral| general)?\s*:?$|^(?:soma|suma|sum)\s*:?$/i;
/** What a line has. A row with all of them is a line, whatever it is called. */
const LINE_COLUMNS = numbersOf('description', 'quantity', 'unit_price', 'tax_code');
/** What a line has whose tax code stands in an earlier row of its invoice. */
const PRODUCT_COLUMNS = numbersOf('description', 'quantity', 'unit_price');

/**
 * The label of a totals row among the cells of a record; null when the record is none, or may be a line of an invoice. A description with quantity and price is one,
 * also of `TOTAL Quartz 5W30` or for a customer `Total Portugal`: beside them only a cell that says nothing but "total" is a label.
 */
export function totalsLabel(record: readonly string[], cells: readonly (string | null)[]): string | null {
  const isFilled = (column: number): boolean => (cells[column]?.trim() ?? '') !== '';
  if (LINE_COLUMNS.every(isFilled)) return null;
  const label = PRODUCT_COLUMNS.every(isFilled) ? NOTHING_BUT_LABEL : LABEL;
  return record.find((cell) => label.test(cell.trim()))?.trim() ?? null;
}

function numbersOf(...columns: readonly (typeof COLUMNS)[number][]): readonly number[] {
  return columns.map((column) => COLUMNS.indexOf(column));
}

/** True for a description that says nothing but "total": such a line would count the amounts of its invoice twice. */
export function isTotalsDescription(description: string): boolean {
  return NOTHING_BUT_LABEL.test(description);
}
