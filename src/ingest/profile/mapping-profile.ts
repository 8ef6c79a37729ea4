import { createHash } from 'node:crypto';
import { z } from 'zod';
import { LoteError } from '../../domain/errors.ts';
import { COLUMNS } from '../../domain/row.ts';
import type { IngestOptions } from '../ingest-options.ts';
import { headerKey } from './map-header.ts';

/** A mapping profile: how the files of one source are written. Everything in it is optional; what it leaves out is proved by the file. */
export interface Profile {
  readonly name: string;
  /** Of the profile's bytes: the report says by which words a file was read. */
  readonly sha256: string;
  readonly options: IngestOptions;
}

/** A name that is a plain file name on every system, and no path. */
const NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;
const text = z.string().trim().min(1).max(200);
const byColumn = z.partialRecord(z.enum(COLUMNS), text);

const ProfileFile = z
  .strictObject({
    /** For people; Lote does not read it. */
    description: z.string(),
    encoding: text,
    delimiter: z.string().length(1, 'expected one character'),
    sheet: text,
    decimal: z.enum([',', '.']),
    duplicateRows: z.enum(['refuse', 'keep']),
    columns: byColumn,
    ignore: z.array(text).max(200),
    constants: byColumn,
    reference: z.strictObject({
      columns: z.array(text).min(2, 'expected at least two columns').max(10),
      separator: z.string().min(1).max(5),
    }),
    taxCodes: z.record(text, text),
  })
  .partial()
  .superRefine((profile, context) => {
    const { columns = {}, constants = {}, ignore = [], reference } = profile;
    for (const column of COLUMNS) {
      if (columns[column] !== undefined && constants[column] !== undefined)
        context.addIssue({
          code: 'custom',
          path: ['constants', column],
          message: `expected ${column} in "columns" or in "constants", found it in both`,
        });
    }
    const ignored = new Set(ignore.map((header) => headerKey(header)));
    for (const [column, header] of Object.entries(columns)) {
      if (ignored.has(headerKey(header)))
        context.addIssue({
          code: 'custom',
          path: ['ignore'],
          message: `expected ${JSON.stringify(header)} in "columns" (${column}) or in "ignore", found it in both`,
        });
    }
    if (reference !== undefined && (columns.invoice_ref ?? constants.invoice_ref) !== undefined)
      context.addIssue({
        code: 'custom',
        path: ['reference'],
        message: 'expected "reference" or a column for invoice_ref, found both',
      });
    if (constants.invoice_ref !== undefined)
      context.addIssue({
        code: 'custom',
        path: ['constants', 'invoice_ref'],
        message: 'a reference that every row has would make one invoice of the whole file',
      });
  });

/** Whether a profile may have this name: no path, and a plain file name on every system. */
export function isProfileName(name: string): boolean {
  return NAME.test(name);
}

/** @throws LoteError `usage` for a name that could be a path. */
export function requireProfileName(name: string): string {
  if (isProfileName(name)) return name;
  throw new LoteError(
    'usage',
    `Choosing a mapping profile: its name must be small letters, digits, "-" and "_", found ${JSON.stringify(name.slice(0, 80))}. A profile stands in profiles/<name>.json of the input directory.`,
  );
}

/**
 * Reads a profile's text.
 * @throws LoteError `usage` that names each place and what is wrong there
 */
export function parseProfile(name: string, bytes: Uint8Array): Profile {
  const parsed = ProfileFile.safeParse(documentOf(name, bytes));
  if (!parsed.success) throw invalid(name, parsed.error.issues.map(describe).join('; '));
  const { description: _, ...options } = parsed.data;
  return {
    name,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    // zod says `undefined` where a key is absent; the options mean by it that nothing is declared.
    options: Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as IngestOptions,
  };
}

function documentOf(name: string, bytes: Uint8Array): unknown {
  try {
    const decoded = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return JSON.parse(decoded);
  } catch (error) {
    throw invalid(name, `expected JSON in UTF-8 (${error instanceof Error ? error.message : 'unreadable'})`);
  }
}

function describe(issue: z.core.$ZodIssue): string {
  const where = issue.path.length === 0 ? 'the profile' : issue.path.map(String).join('.');
  return `${where}: ${issue.message}`;
}

function invalid(name: string, problem: string): LoteError {
  return new LoteError(
    'usage',
    `Reading the mapping profile profiles/${name}.json: ${problem}. Correct the profile; nothing was read with it.`,
  );
}
