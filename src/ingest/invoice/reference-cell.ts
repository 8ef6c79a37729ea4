import type { ReferenceParts } from '../ingest-options.ts';
import { isSpreadsheetError } from './check-group.ts';

/** A reference, or why there is none. */
export interface ReferenceCell {
  readonly text: string;
  readonly problem: { readonly code: string; readonly message: string } | null;
}

const MISSING = { code: 'reference-missing', message: "expected the invoice's reference, found an empty cell" };

/** The trimmed cell as reference; an empty or missing cell is the problem `reference-missing`. */
export function plainReference(cell: string | null | undefined): ReferenceCell {
  const text = cell?.trim() ?? '';
  return { text, problem: text === '' ? MISSING : null };
}

/** Joins the parts of a reference in such a way that two different invoices can never get the same one. */
export function builtReference(cells: readonly string[], { columns, separator }: ReferenceParts): ReferenceCell {
  const parts = cells.map((cell) => cell.trim());
  const empty = parts.indexOf('');
  if (empty >= 0) {
    const message = `expected the reference's parts ${columns.map((name) => `"${name}"`).join(' and ')}, found "${columns[empty] ?? ''}" empty`;
    return { text: '', problem: { code: 'reference-missing', message } };
  }
  const failed = parts.find(isSpreadsheetError);
  if (failed !== undefined) {
    const message = `expected the reference's parts, found ${failed}, which a spreadsheet shows instead of a value. Correct the formula and export again`;
    return { text: '', problem: { code: 'spreadsheet-error', message } };
  }
  const split = parts.slice(0, -1).find((part) => part.includes(separator));
  if (split !== undefined) {
    const message = `expected parts without "${separator}", which joins them, found "${split.slice(0, 40)}". Choose another separator in the profile`;
    return { text: '', problem: { code: 'reference-ambiguous', message } };
  }
  return { text: parts.join(separator), problem: null };
}
