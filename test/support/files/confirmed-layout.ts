import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll } from 'vitest';
import type { ReadOptions } from '../../../activities/deps.ts';
import { LoteError } from '../../../src/domain/errors.ts';
import { givenOnly } from '../../../src/domain/given-only.ts';
import { memoryRowStore } from '../../../src/ingest/row-stores.ts';
import type { IngestOptions, IngestResult } from '../../../src/ingest/ingest-result.ts';
import { parseProfile } from '../../../src/ingest/profile/mapping-profile.ts';
import { chosenMapping, mapFile } from '../../../src/app/files/map-file.ts';
import { readTableHead, type TableHead } from '../../../src/ingest/profile/table-head.ts';
import type { ColumnMeaning, KindValues, MappingChoices } from '../../../src/console/console-options.ts';
import { COLUMNS } from '../../../src/domain/row.ts';
import { headerName } from '../../../src/ingest/profile/map-header.ts';
import { readWithProfile, type ReadWithProfile } from '../../../src/app/files/read-with-profile.ts';
import type { RowStore, GroupedInvoice } from '../../../src/domain/row.ts';
import { toInvoices } from '../../../src/ingest/invoice/to-invoice.ts';
import { planCorrections } from '../../../src/report/corrections/corrections-plan.ts';
import { csvCorrections, jsonCorrections } from '../../../src/report/corrections/write-corrections.ts';
import { xlsxCorrections } from '../../../src/report/corrections/xlsx-corrections.ts';
import { keptFile } from '../../../src/app/files/kept-files.ts';
import { originalOf } from '../../../src/app/files/original-of.ts';
import { portionsOf, unsentInvoice } from '../../unit/report/batch-invoices.ts';
import type { BatchInvoice } from '../../../src/domain/records/batch-record.ts';

/** Makes a directory with a folder for mapping profiles for the tests of a file; call it outside of a test. */
export function keptDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'lote-kept-'));
  mkdirSync(join(directory, 'profiles'));
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** Returns the profile that `lote check FILE --save-profile NAME` saves with these options; null if it saves none. */
async function proposedProfile(
  path: string,
  options: MappingOptions = {},
  declared: IngestOptions = {},
): Promise<string | null> {
  const choices = await choicesFor(path, options, declared);
  const mapped = await mapFile({ path, inputDir: dirname(path), choices, bodyTemplate: null });
  return mapped?.isRead === true ? mapped.profile : null;
}

type Pair = readonly [string, string];

/** A person's choices as pairs: a meaning and a header, or a header and a list of values. */
export type MappingOptions = {
  readonly [Option in 'column' | 'skip' | 'invoices' | 'constant' | 'taxCode']?: readonly Pair[] | undefined;
};

/** Returns the choices for the header of a file. @throws LoteError `usage` for a header that the file does not have */
async function choicesFor(path: string, options: MappingOptions, declared: IngestOptions): Promise<MappingChoices> {
  const { encoding, delimiter, sheet, decimal } = declared;
  const head = await readTableHead(path, givenOnly({ encoding, delimiter, sheet }));
  const meanings = new Map<number, ColumnMeaning>();
  const kinds = new Map<number, Partial<KindValues>>();
  const given = (options.column ?? []) as readonly (readonly [ColumnMeaning, string])[];
  for (const [meaning] of given) {
    const column = meaning === 'reference-part' ? 'invoice_ref' : meaning;
    const proposedAt = head?.likely.indexes[COLUMNS.findIndex((one) => one === column)] ?? -1;
    if (proposedAt >= 0) meanings.set(proposedAt, 'none');
  }
  for (const [meaning, header] of given) for (const at of placesOf(head, header)) meanings.set(at, meaning);
  for (const which of ['skip', 'invoices'] as const)
    for (const [header, values] of options[which] ?? [])
      for (const at of placesOf(head, header)) {
        meanings.set(at, 'kind');
        kinds.set(at, { ...kinds.get(at), [which]: values.split(',') });
      }
  const constants = Object.fromEntries(options.constant ?? []);
  const taxCodes = new Map(options.taxCode ?? []);
  return { meanings, kinds, constants, taxCodes, ...givenOnly({ encoding, delimiter, sheet, decimal }) };
}

function placesOf(head: TableHead | null, name: string): readonly number[] {
  const places = head?.header.cells.flatMap((cell, at) => (headerName(cell) === headerName(name) ? [at] : [])) ?? [];
  if (places.length > 0 || head === null) return places;
  throw new LoteError('usage', `The file has no header ${name}`);
}

/** Returns the proposed options for a file, with the declared ones, even if a dry run would refuse the file. */
export async function proposedOptions(path: string, declared: IngestOptions): Promise<IngestOptions> {
  const column = Object.entries(declared.columns ?? {});
  const constant = Object.entries(declared.constants ?? {});
  const choices = await choicesFor(path, { column, constant }, declared).catch((error: unknown) => {
    // The file does not have a declared column.
    if (error instanceof LoteError && error.code === 'usage') return null;
    throw error;
  });
  const mapping = choices === null ? null : await chosenMapping(path, choices);
  return { ...mapping?.options, ...declared };
}

/** Returns the options of the saved profile for a file; null if none is saved. */
export async function confirmedOptions(
  path: string,
  options: MappingOptions = {},
  declared: IngestOptions = {},
): Promise<IngestOptions | null> {
  const text = await proposedProfile(path, options, declared);
  return text === null ? null : parseProfile('saved', Buffer.from(text)).options;
}

/** Tells whether a file waits for an operator to confirm the meaning of its columns. */
export function asks(read: IngestResult): boolean {
  return !read.ok && read.findings[0]?.code === 'layout-unconfirmed';
}

/** Reads a file as a batch does. If the file waits for its columns, saves the proposed profile and reads it again. */
async function readOnceConfirmed(
  given: Omit<ReadWithProfile, 'store'>,
): Promise<{ readonly read: IngestResult; readonly store: RowStore }> {
  const first = { store: memoryRowStore() };
  const read = await readWithProfile({ ...given, ...first });
  const text = asks(read) ? await proposedProfile(given.path, {}, given.options) : null;
  if (text === null) return { read, ...first };
  const name = `c${createHash('sha256').update(readFileSync(given.path)).digest('hex').slice(0, 12)}`;
  mkdirSync(join(given.inputDir, 'profiles'), { recursive: true });
  writeFileSync(join(given.inputDir, 'profiles', `${name}.json`), text);
  const store = memoryRowStore();
  return { read: await readWithProfile({ ...given, store }), store };
}

/** A file as a batch reads it. */
export interface ReadKept {
  readonly read: IngestResult;
  readonly invoices: readonly GroupedInvoice[];
}

/** Keeps the bytes below `directory` where a batch keeps them, and reads them as a batch does. */
export async function readKept(directory: string, bytes: Uint8Array, options: ReadOptions = {}): Promise<ReadKept> {
  const path = keptFile(directory, createHash('sha256').update(bytes).digest('hex'));
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, bytes);
  const { read, store } = await readOnceConfirmed({ path, file: 'invoices.xlsx', inputDir: directory, options });
  const invoices: GroupedInvoice[] = [];
  if (read.ok) for await (const group of store.groups()) invoices.push(...toInvoices(group, read.conversion));
  return { read, invoices };
}

/** Returns the corrections of a kept file in its own form, as if the service had refused all valid invoices. */
export function handedBack(directory: string, kept: ReadKept): Promise<Buffer> {
  return correctionsOf(directory, kept.read, kept.invoices.map(refusedOutcome));
}

/** Returns the corrections of a kept file in its own form, for a batch with these outcomes. */
export async function correctionsOf(
  directory: string,
  { sha256, proof, findings }: IngestResult,
  outcomes: readonly BatchInvoice[],
): Promise<Buffer> {
  const original = await originalOf({ file: 'invoices.csv', state: 'finished', sha256, proof }, directory);
  if (original === null) throw new Error('The file is not kept');
  const plan = await planCorrections(portionsOf(outcomes), findings);
  const pieces: Uint8Array[] = [];
  for await (const piece of original.kind === 'csv'
    ? csvCorrections(original, plan)
    : original.kind === 'json'
      ? jsonCorrections(original, plan)
      : xlsxCorrections(original, plan))
    pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces);
}

/** Keeps only the invalid invoices, as if the service had issued the valid ones. */
export function invalidOf({ read, invoices }: ReadKept): ReadKept {
  return { read, invoices: invoices.filter(({ ok }) => !ok) };
}

/** An invalid invoice, or a valid one that the service has refused. */
export function refusedOutcome(grouped: GroupedInvoice): BatchInvoice {
  const { rows } = grouped;
  if (!grouped.ok)
    return unsentInvoice({
      rows,
      ref: grouped.ref,
      merchantNif: grouped.nif,
      state: 'invalid',
      findings: grouped.findings,
    });
  const { ref, merchant } = grouped.invoice;
  const reason = { code: 'refused', message: '=cmd|"x"; a, b\r\nc' };
  return unsentInvoice({ rows, ref, merchantNif: merchant.nif, state: 'rejected', reason });
}

/** Returns the content of an invoice without its rows; for an invalid invoice also the findings. */
export function contentOf(grouped: GroupedInvoice): unknown {
  if (grouped.ok) return grouped.invoice;
  const { ref, nif, currency, net, findings } = grouped;
  return { ref, nif, currency, net, codes: findings.map(({ code, column }) => `${code} ${column}`) };
}
