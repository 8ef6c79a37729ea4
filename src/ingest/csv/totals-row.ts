import { COLUMNS } from '../../domain/row.ts';

const LABEL = /^(?:sub|grand|gran)?[\s-]?tota(?:l|is|les|ux)\b|^(?:soma|suma|sum)\b/i;
/** The whole text, so that `Total Care` stays a product. */
const NOTHING_BUT_LABEL =
  /^(?:(?:sub|grand|gran)[\s-]?)?tota(?:l|is|les|ux)(?: geral| general)?\s*:?$|^(?:soma|suma|sum)\s*:?$/i;
/** What a line has. A row with all of them is a line, whatever it is called. */
const LINE_COLUMNS = ['description', 'quantity', 'unit_price', 'tax_code'].map((column) =>
  COLUMNS.findIndex((name) => name === column),
);

/** The label of a totals row among the cells of a record; null when the record is none, or may be a line of an invoice. */
export function totalsLabel(record: readonly string[], cells: readonly (string | null)[]): string | null {
  const label = record.find((cell) => LABEL.test(cell.trim()));
  if (label === undefined || LINE_COLUMNS.every((column) => (cells[column]?.trim() ?? '') !== '')) return null;
  return label.trim();
}

/** True for a description that says nothing but "total": such a line would count the amounts of its invoice twice. */
export function isTotalsDescription(description: string): boolean {
  return NOTHING_BUT_LABEL.test(description);
}
