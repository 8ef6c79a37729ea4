export interface Table {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Said below the table: what is compared with what, and what was left out. */
  readonly notes: readonly string[];
}

/** Prints a table, so that a run can be pasted into a document. */
export function printTable(table: Table): void {
  console.log(`\n${table.title}\n\n${tableText(table)}`);
  if (table.notes.length > 0) console.log(`\n${table.notes.join('\n')}`);
}

/** The table alone, in Markdown, aligned. */
export function tableText({ columns, rows }: Table): string {
  const widths = columns.map((column, at) => Math.max(column.length, ...rows.map((row) => (row[at] ?? '').length)));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))).join(' | ')} |`;
  const rule = widths.map((width, at) => (at === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`));
  return [line(columns), line(rule), ...rows.map((row) => line(row))].join('\n');
}
