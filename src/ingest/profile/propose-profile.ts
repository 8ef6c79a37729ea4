import { COLUMNS, REQUIRED_COLUMNS } from '../../domain/row.ts';
import type { Column } from '../../domain/row.ts';
import { DecimalEvidence } from '../csv/decimal-evidence.ts';
import type { IngestOptions } from '../ingest-options.ts';
import type { DecimalMark } from '../invoice/read-number.ts';
import { shorten } from '../invoice/shorten.ts';
import { readTableHead, type TableHead } from './table-head.ts';
import { unknownTaxWords } from './tax-words.ts';

/** A profile as a person will complete it. */
export type ProposedProfile = Readonly<Record<string, unknown>>;

const DESCRIPTION =
  'Proposed by lote check --propose. Read it, decide what says TO DO, and save it as profiles/<name>.json of the input directory.';
/** No header is called so: a profile with it is refused until somebody has decided. */
const UNDECIDED = 'TO DO: one of';
const UNDECIDED_CODE = 'TO DO: the code of the service';
const MOST_TAX_WORDS = 20;
const MOST_SHOWN = 12;

/**
 * A starting profile for a CSV file or a workbook: what its first rows show, and what a person has to decide. Null for what is no table.
 * @throws LoteError `file-unreadable`
 */
export async function proposeProfile(path: string, options: IngestOptions = {}): Promise<ProposedProfile | null> {
  const head = await readTableHead(path, options);
  if (head === null) return null;
  return {
    description: DESCRIPTION,
    ...(head.dialect === null ? sheetOf(head) : { ...head.dialect, ...decimalOf(head) }),
    columns: columnsOf(head),
    ...taxCodesOf(head),
  };
}

/** The numbers of a workbook need no decimal mark; the sheet is named where there are several. */
function sheetOf({ sheet, sheets }: TableHead): { sheet?: string } {
  return sheets.length > 1 && sheet !== null ? { sheet: shorten(sheet, 200) } : {};
}

function columnsOf({ header, map: { indexes } }: TableHead): Partial<Record<Column, string>> {
  const choices = header.cells
    .filter((_, at) => !indexes.includes(at))
    .map((cell) => cell.trim())
    .filter((name) => name !== '')
    .slice(0, MOST_SHOWN)
    .map((name) => shorten(name, 40));
  return Object.fromEntries(
    COLUMNS.flatMap((column, at): [Column, string][] => {
      const name = header.cells[indexes[at] ?? -1]?.trim();
      if (name !== undefined) return [[column, shorten(name, 200)]];
      return REQUIRED_COLUMNS.includes(column) ? [[column, `${UNDECIDED} ${choices.join(' | ')}`.slice(0, 200)]] : [];
    }),
  );
}

/** A mark only where the first rows prove it for both columns: a profile decides for every file that comes. */
function decimalOf({ map, below }: TableHead): { decimal?: DecimalMark } {
  const marks = (['quantity', 'unit_price'] as const).map((column) => {
    const at = map.indexes[COLUMNS.indexOf(column)] ?? -1;
    const evidence = new DecimalEvidence(column);
    below.forEach((cells, row) => evidence.observe(row, cells[at] ?? ''));
    try {
      return evidence.decide();
    } catch {
      return null;
    }
  });
  const proved = new Set(marks.flatMap((proof) => (proof?.how === 'proved' ? [proof.mark] : [])));
  const open = marks.includes(null);
  const [mark] = proved;
  return mark !== undefined && proved.size === 1 && !open ? { decimal: mark } : {};
}

function taxCodesOf({ map, below }: TableHead): { taxCodes?: Record<string, string> } {
  const at = map.indexes[COLUMNS.indexOf('tax_code')] ?? -1;
  const words = unknownTaxWords(
    below.map((cells) => cells[at] ?? ''),
    MOST_TAX_WORDS,
  );
  if (words.length === 0) return {};
  return { taxCodes: Object.fromEntries(words.map(({ word, code }) => [word, code ?? UNDECIDED_CODE])) };
}
