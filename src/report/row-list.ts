/** Rows named before "and n more": an invoice of a thousand lines must not fill the page. */
const MOST_ROWS = 8;

/** `rows 2, 3 and 9 more`, as a reader looks them up in the file. */
export function rowList(rows: readonly number[]): string {
  if (rows.length === 0) return 'no rows';
  const named = rows.slice(0, MOST_ROWS).join(', ');
  const left = rows.length - MOST_ROWS;
  return `${rows.length === 1 ? 'row' : 'rows'} ${named}${left > 0 ? ` and ${left} more` : ''}`;
}
