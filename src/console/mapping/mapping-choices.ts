import { z } from 'zod';
import { COLUMNS, type Column } from '../../domain/row.ts';
import { ENCODINGS } from '../forms/declared.ts';
import type { ColumnMeaning, MappingChoices } from './file-mapper.ts';

/** Delimiters that are met; a tab has no sign of its own on a page. */
export const DELIMITERS = [',', ';', 'tab', '|'] as const;
/** A table of invoices has a dozen columns. */
export const MOST_COLUMNS = 100;
/** Of a tax column there are as many words as rates. */
export const MOST_TAX_WORDS = 40;

const LONGEST_TEXT = 200;
const LONGEST_SEPARATOR = 5;

const MEANINGS: ReadonlySet<string> = new Set<ColumnMeaning>([...COLUMNS, 'reference-part', 'none']);

const Fields = z.object({
  encoding: z.enum(ENCODINGS).optional().catch(undefined),
  delimiter: z.enum(DELIMITERS).optional().catch(undefined),
  sheet: z.string().min(1).max(LONGEST_TEXT).optional().catch(undefined),
  decimal: z.enum([',', '.']).optional().catch(undefined),
  header: z.string().min(1).max(LONGEST_TEXT).optional().catch(undefined),
  separator: z.string().min(1).max(LONGEST_SEPARATOR).optional().catch(undefined),
});

/** What an address or a form says; what is empty, unknown or too long is not chosen. */
export function readChoices(fields: Readonly<Record<string, unknown>>): MappingChoices {
  const { encoding, delimiter, sheet, decimal, header, separator } = Fields.parse(fields);
  return {
    ...(encoding === undefined ? {} : { encoding }),
    ...(delimiter === undefined ? {} : { delimiter: delimiter === 'tab' ? '\t' : delimiter }),
    ...(sheet === undefined ? {} : { sheet }),
    ...(decimal === undefined ? {} : { decimal }),
    ...(header === undefined ? {} : { headerId: header }),
    ...(separator === undefined ? {} : { separator }),
    meanings: meaningsOf(fields),
    constants: constantsOf(fields),
    taxCodes: taxCodesOf(fields),
  };
}

function meaningsOf(fields: Readonly<Record<string, unknown>>): MappingChoices['meanings'] {
  const chosen = Array.from({ length: MOST_COLUMNS }, (_, at) => [at, textOf(fields[`m${at}`])] as const);
  return new Map(chosen.filter((one): one is [number, ColumnMeaning] => one[1] !== undefined && MEANINGS.has(one[1])));
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
