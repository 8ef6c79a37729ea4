import { z } from 'zod';
import { givenOnly } from '../../domain/given-only.ts';
import { COLUMNS } from '../../domain/row.ts';
import type { ColumnMeaning, MappingChoices } from '../console-options.ts';
import { readDeclared } from '../pages/page-parts.ts';

/** Usual delimiters; a tab has no visible sign on a page. */
export const DELIMITERS = [',', ';', 'tab', '|'] as const;
/** A table of invoices has a dozen columns; a person cannot confirm a file with more than this on a page. */
export const MOST_COLUMNS = 500;
/** A tax column has as many words as tax rates. */
export const MOST_TAX_WORDS = 40;

const LONGEST_TEXT = 200;
const LONGEST_SEPARATOR = 5;

const MEANINGS: readonly ColumnMeaning[] = [...COLUMNS, 'reference-part', 'kind', 'none'];

const Fields = z.object({
  delimiter: z.enum(DELIMITERS).optional().catch(undefined),
  header: z.string().min(1).max(LONGEST_TEXT).optional().catch(undefined),
  separator: z.string().min(1).max(LONGEST_SEPARATOR).optional().catch(undefined),
});

/** Reads the choices in an address or a form; ignores empty, unknown and too long values. */
export function readChoices(fields: Readonly<Record<string, unknown>>): MappingChoices {
  const { delimiter, header: headerId, separator } = Fields.parse(fields);
  const { encoding, decimal, sheet } = readDeclared(fields);
  const words = eachAt(MOST_TAX_WORDS, (at) => textOf(fields[`word${at}`]));
  return {
    ...givenOnly({ encoding, decimal, sheet, headerId, separator }),
    ...givenOnly({ delimiter: delimiter === 'tab' ? '\t' : delimiter }),
    meanings: eachAt(MOST_COLUMNS, (at) => MEANINGS.find((meaning) => meaning === textOf(fields[`m${at}`]))),
    kinds: eachAt(MOST_COLUMNS, (at) => kindAt(fields, at)),
    constants: givenOnly(Object.fromEntries(COLUMNS.map((column) => [column, textOf(fields[`every-${column}`])]))),
    taxCodes: new Map([...words].map(([at, word]) => [word, textOf(fields[`code${at}`]) ?? ''])),
  };
}

/** Returns the values of numbered fields that are there, each by its number. */
function eachAt<T>(most: number, valueAt: (at: number) => T | undefined): ReadonlyMap<number, T> {
  const all = Array.from({ length: most }, (_, at) => [at, valueAt(at)] as const);
  return new Map(all.filter((one): one is [number, T] => one[1] !== undefined));
}

function kindAt(fields: Readonly<Record<string, unknown>>, at: number) {
  const listed = (value: unknown) => (typeof value === 'string' ? listedValues(value) : undefined);
  const kind = givenOnly({ skip: listed(fields[`skip${at}`]), invoices: listed(fields[`invoices${at}`]) });
  return Object.keys(kind).length === 0 ? undefined : kind;
}

/** Splits a list of a column's values, as a person writes it: `NC, ND`. */
function listedValues(text: string): readonly string[] {
  return text
    .split(',')
    .map((value) => value.trim())
    .filter((value) => value !== '' && value.length <= LONGEST_TEXT);
}

function textOf(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length > LONGEST_TEXT) return undefined;
  const text = value.trim();
  return text === '' ? undefined : text;
}
