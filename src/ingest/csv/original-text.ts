import { z } from 'zod';

/** No format shows more. */
export const MOST_DECIMALS = 30;

/** Code of a finding. */
const CODE = /^[a-z-]{1,60}$/;

/**
 * By the header of its column. A number also with the decimal that was read in it, because its mark may change, too; one of a sheet with the decimals
 * that its format shows of it, where they are fewer; one that says two numbers in a column with both marks with what it says with a point, and with a comma.
 */
const OriginalCells = z.record(
  z.string(),
  z.union([
    z.string(),
    z.tuple([z.string(), z.string()]),
    z.tuple([z.string(), z.string(), z.int().min(0).max(MOST_DECIMALS)]),
    z.tuple([z.string(), z.string(), z.string()]),
  ]),
);

/** What was wrong with a row of the dropped file, and cannot be seen in its cells. Strict: a word that is not known may say that the row must not go. */
const RowMarks = z.strictObject({
  /** It had the first so many of so many cells; Lote's own are not counted. */
  cells: z.tuple([z.int().min(0), z.int().min(0)]).optional(),
  hidden: z.literal(true).optional(),
  /** A cell of it that is read was merged with others. */
  merged: z.literal(true).optional(),
  /** Cells that the reader of a workbook could not use, by header: why, and as what they are written in CSV. */
  unread: z.record(z.string(), z.tuple([z.string().regex(CODE), z.string()])).optional(),
  /** It was written into a workbook: what holds for text alone does not hold while it is one. */
  sheet: z.literal(true).optional(),
});

/** A row without marks has its cells alone, as earlier versions wrote them. */
const Original = z.union([
  OriginalCells.transform((cells) => ({ cells, marks: {} })),
  z.tuple([OriginalCells, RowMarks]).transform(([cells, marks]) => ({ cells, marks })),
]);

/** One cell of the dropped file. */
export type OriginalCell = z.infer<typeof OriginalCells>[string];
/** Marks of a row; {} where it has none. */
export type RowMarks = z.infer<typeof RowMarks>;

/** What a cell of `lote_original` says. */
export interface Original {
  readonly cells: Readonly<Record<string, OriginalCell>>;
  readonly marks: RowMarks;
}

/** A number that says one thing with a point and another with a comma, and nobody knows which. */
export function isDoubtfulNumber(cell: OriginalCell): cell is [string, string, string] {
  return typeof cell !== 'string' && typeof cell[2] === 'string';
}

/** A number of which a sheet shows fewer decimals than it has. */
export function isRounded(cell: OriginalCell): cell is [string, string, number] {
  return typeof cell !== 'string' && typeof cell[2] === 'number';
}

/** Reads what `originalAsText` wrote, and nothing from an empty cell; null: somebody has written there, or a later version of Lote. */
export function readOriginal(text: string): Original | null {
  if (text.trim() === '') return { cells: {}, marks: {} };
  try {
    return Original.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}

/** The text of a cell of `lote_original`; empty where there is nothing to say. */
export function originalAsText({ cells, marks }: Original): string {
  if (Object.keys(marks).length > 0) return JSON.stringify([cells, marks]);
  return Object.keys(cells).length === 0 ? '' : JSON.stringify(cells);
}
