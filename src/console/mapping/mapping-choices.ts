import { z } from 'zod';
import { COLUMNS } from '../../domain/row.ts';
import { ENCODINGS } from '../forms/forms.ts';
import type { ColumnMeaning, MappingChoices } from './file-mapper.ts';

/** Usual delimiters; a tab has no visible sign on a page. */
export const DELIMITERS = [',', ';', 'tab', '|'] as const;
/** A table of invoices has a dozen columns; a person cannot confirm a file with more than this on a page. */
export const MOST_COLUMNS = 500;
/** A tax column has as many words as tax rates. */
export const MOST_TAX_WORDS = 40;

const LONGEST_TEXT = 200;
const LONGEST_SEPARATOR = 5;

const MEANINGS: ReadonlySet<string> = new Set<ColumnMeaning>([...COLUMNS, 'reference-part', 'kind', 'none']);

const Fields = z.object({
  encoding: z.enum(ENCODINGS).optional().catch(undefined),
  delimiter: z.enum(DELIMITERS).optional().catch(undefined),
  sheet: z.string().min(1).max(LONGEST_TEXT).optional().catch(undefined),
  decimal: z.enum([',', '.']).optional().catch(undefined),
  header: z.string().min(1).max(LONGEST_TEXT).optional().catch(undefined),
  separator: z.string().min(1).max(LONGEST_SEPARATOR).optional().catch(undefined),
});

/** Reads the choices in an address or a form; ignores empty, unknown and too long values. */
export function readChoices(fields: Readonly<Record<string, unknown>>): MappingChoices {
  const { delimiter, header: headerId, ...given } = Fields.parse(fields);
  const chosen = { ...given, headerId, delimiter: delimiter === 'tab' ? '\t' : delimiter };
  const constants = COLUMNS.map((column) => [column, textOf(fields[`every-${column}`])] as const);
  return {
    ...withoutMissing(Object.entries(chosen)),
    meanings: new Map(
      eachAt(MOST_COLUMNS, (at) => textOf(fields[`m${at}`])).filter((one): one is [number, ColumnMeaning] =>
        MEANINGS.has(one[1]),
      ),
    ),
    kinds: new Map(eachAt(MOST_COLUMNS, (at) => kindAt(fields, at))),
    constants: withoutMissing(constants),
    taxCodes: new Map(
      eachAt(MOST_TAX_WORDS, (at) => textOf(fields[`word${at}`])).map(([at, word]) => [
        word,
        textOf(fields[`code${at}`]) ?? '',
      ]),
    ),
  };
}

/** Returns the values of numbered fields that are there, each with its number. */
function eachAt<T>(most: number, valueAt: (at: number) => T | undefined): readonly [number, T][] {
  return Array.from({ length: most }, (_, at) => [at, valueAt(at)] as const).filter(
    (one): one is [number, T] => one[1] !== undefined,
  );
}

function withoutMissing(pairs: readonly (readonly [string, string | undefined])[]): Record<string, string> {
  return Object.fromEntries(pairs.filter((pair): pair is [string, string] => pair[1] !== undefined));
}

function kindAt(fields: Readonly<Record<string, unknown>>, at: number) {
  const [skip, invoices] = [fields[`skip${at}`], fields[`invoices${at}`]];
  if (typeof skip !== 'string' && typeof invoices !== 'string') return undefined;
  return {
    ...(typeof skip === 'string' ? { skip: listedValues(skip) } : {}),
    ...(typeof invoices === 'string' ? { invoices: listedValues(invoices) } : {}),
  };
}

/** Splits a list of a column's values, as a person writes it: `NC, ND`. */
export function listedValues(text: string): readonly string[] {
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
