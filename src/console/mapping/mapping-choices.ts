import { z } from 'zod';
import { COLUMNS, type Column } from '../../domain/row.ts';
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
  return {
    ...(Object.fromEntries(
      Object.entries(chosen).filter(([, value]) => value !== undefined),
    ) as Partial<MappingChoices>),
    meanings: meaningsOf(fields),
    kinds: kindsOf(fields),
    constants: constantsOf(fields),
    taxCodes: taxCodesOf(fields),
  };
}

function meaningsOf(fields: Readonly<Record<string, unknown>>): MappingChoices['meanings'] {
  const chosen = Array.from({ length: MOST_COLUMNS }, (_, at) => [at, textOf(fields[`m${at}`])] as const);
  return new Map(chosen.filter((one): one is [number, ColumnMeaning] => one[1] !== undefined && MEANINGS.has(one[1])));
}

function kindsOf(fields: Readonly<Record<string, unknown>>): NonNullable<MappingChoices['kinds']> {
  const given = Array.from({ length: MOST_COLUMNS }, (_, at) => {
    const [skip, invoices] = [fields[`skip${at}`], fields[`invoices${at}`]];
    const values = {
      ...(typeof skip === 'string' ? { skip: listedValues(skip) } : {}),
      ...(typeof invoices === 'string' ? { invoices: listedValues(invoices) } : {}),
    };
    return [at, values] as const;
  });
  return new Map(given.filter(([, values]) => Object.keys(values).length > 0));
}

/** Splits a list of a column's values, as a person writes it: `NC, ND`. */
export function listedValues(text: string): readonly string[] {
  return text
    .split(',')
    .map((value) => value.trim())
    .filter((value) => value !== '' && value.length <= LONGEST_TEXT);
}

function constantsOf(fields: Readonly<Record<string, unknown>>): MappingChoices['constants'] {
  return Object.fromEntries(
    COLUMNS.flatMap((column): [Column, string][] => {
      const value = textOf(fields[`every-${column}`]);
      return value === undefined ? [] : [[column, value]];
    }),
  );
}

function taxCodesOf(fields: Readonly<Record<string, unknown>>): MappingChoices['taxCodes'] {
  const pairs = Array.from(
    { length: MOST_TAX_WORDS },
    (_, at) => [textOf(fields[`word${at}`]), textOf(fields[`code${at}`])] as const,
  );
  return new Map(pairs.flatMap(([word, code]): [string, string][] => (word === undefined ? [] : [[word, code ?? '']])));
}

function textOf(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length > LONGEST_TEXT) return undefined;
  const text = value.trim();
  return text === '' ? undefined : text;
}
