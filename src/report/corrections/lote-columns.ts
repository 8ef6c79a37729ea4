import { ORIGINAL, READ_AS } from '../../domain/read-as.ts';

/** Ingest knows a file that Lote wrote by these two, and ignores them. */
export const LOTE_COLUMNS = ['lote_state', 'lote_reason'] as const;
const ALL_LOTE_COLUMNS = [...LOTE_COLUMNS, READ_AS, ORIGINAL];

/**
 * Positions of the header's cells that go back to their author. `own`: it is the header of a corrections file that came back and is still
 * wrong; it has Lote's columns already, and its cells are inert already.
 * `except`: one of Lote's columns that goes back as it came. `width`: how many columns the header has; what stands behind its last title is in none.
 */
export function keptColumns(
  header: readonly string[],
  except?: typeof ORIGINAL,
): { readonly kept: readonly number[]; readonly own: boolean; readonly width: number } {
  const own = LOTE_COLUMNS.every((name) => header.some((cell) => isColumn(name, cell)));
  const width = header.findLastIndex((cell) => cell.trim() !== '') + 1;
  const kept = header
    .slice(0, width)
    .flatMap((cell, index) =>
      own && ALL_LOTE_COLUMNS.some((name) => name !== except && isColumn(name, cell)) ? [] : [index],
    );
  return { kept, own, width };
}

/** The service's messages may hold line ends; a record of one line is what people can edit. */
export function oneLine(text: string): string {
  return text.replaceAll(/[\r\n\t]+/gu, ' ').trim();
}

function isColumn(name: string, header: string): boolean {
  return header.trim() === name;
}
