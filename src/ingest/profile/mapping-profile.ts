import { createHash } from 'node:crypto';
import { z } from 'zod';
import { LoteError } from '../../domain/errors.ts';
import { COLUMNS } from '../../domain/row.ts';
import type { IngestOptions } from '../ingest-result.ts';
import { headerName } from './map-header.ts';

/** How the files of one source are written. The file must prove the options that are absent. */
export interface Profile {
  readonly name: string;
  /** SHA-256 of the profile's bytes: the report shows which version of the profile was used. */
  readonly sha256: string;
  readonly options: IngestOptions;
  readonly format: 'csv' | 'xlsx' | 'ods' | 'json' | null;
}

/** A name that is a plain file name on every system, and never a path. */
const NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;
const text = z.string().trim().min(1).max(200);
const header = z.string().trim().max(1_000);
const byHeader = z.record(header.min(1), z.array(z.string().trim().max(200)).max(1_000));

const ProfileFile = z
  .strictObject({
    description: z.string(),
    /** Lote chooses the profile by itself only for this format. */
    format: z.enum(['csv', 'xlsx', 'ods', 'json']),
    encoding: text,
    delimiter: z.string().length(1, 'expected one character'),
    sheet: text,
    decimal: z.enum([',', '.']),
    duplicateRows: z.enum(['refuse', 'keep']),
    columns: z.partialRecord(z.enum(COLUMNS), header.min(1)),
    ignore: z.array(header).max(1_000),
    skip: byHeader,
    invoices: byHeader,
    constants: z.partialRecord(z.enum(COLUMNS), text),
    reference: z.strictObject({
      columns: z.array(header.min(1)).min(2, 'expected at least two columns').max(10),
      separator: z.string().min(1).max(5),
    }),
    taxCodes: z.record(text, text),
  })
  .partial()
  .superRefine((profile, context) => {
    const { columns = {}, constants = {}, ignore = [], invoices = {}, skip = {}, reference } = profile;
    const expect = (isRight: boolean, path: string[], message: string): void => {
      if (!isRight) context.addIssue({ code: 'custom', path, message });
    };
    for (const column of COLUMNS) {
      const isInBoth = columns[column] !== undefined && constants[column] !== undefined;
      const message = `expected ${column} in "columns" or in "constants", found it in both`;
      expect(!isInBoth, ['constants', column], message);
    }
    const ignored = new Set(ignore.map(headerName));
    for (const [column, named] of Object.entries(columns)) {
      const message = `expected ${JSON.stringify(named)} in "columns" (${column}) or in "ignore", found it in both`;
      expect(!ignored.has(headerName(named)), ['ignore'], message);
    }
    for (const named of Object.keys(invoices)) {
      const message = 'expected this header in "skip", too, with the values of rows that are no invoices';
      expect(Object.hasOwn(skip, named), ['invoices', named], message);
    }
    const hasColumn = (columns.invoice_ref ?? constants.invoice_ref) !== undefined;
    const both = 'expected "reference" or a column for invoice_ref, found both';
    expect(reference === undefined || !hasColumn, ['reference'], both);
    const oneInvoice = 'a reference that every row has would make one invoice of the whole file';
    expect(constants.invoice_ref === undefined, ['constants', 'invoice_ref'], oneInvoice);
  });

/** Returns true if a profile may have this name: a plain file name on every system, and never a path. */
export function isProfileName(name: string): boolean {
  return NAME.test(name);
}

/** Returns a valid name unchanged. @throws LoteError `usage` for a name that could be a path. */
export function requireProfileName(name: string): string {
  if (isProfileName(name)) return name;
  const message = `Choosing a mapping profile: its name must be small letters, digits, "-" and "_", found ${JSON.stringify(name.slice(0, 80))}. A profile stands in profiles/<name>.json of the input directory.`;
  throw new LoteError('usage', message);
}

/** Reads a profile's text. @throws LoteError `usage` that names each faulty place and its fault */
export function parseProfile(name: string, bytes: Uint8Array): Profile {
  const parsed = ProfileFile.safeParse(documentOf(name, bytes));
  if (!parsed.success) throw invalid(name, parsed.error.issues.map(describe).join('; '));
  const { description: _, format = null, ...options } = parsed.data;
  return {
    ...{ name, format },
    sha256: createHash('sha256').update(bytes).digest('hex'),
    // zod writes `undefined` for an absent key. The options leave the key out if nothing is declared.
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
  const message = `Reading the mapping profile profiles/${name}.json: ${problem}. Correct the profile; nothing was read with it.`;
  return new LoteError('usage', message);
}
