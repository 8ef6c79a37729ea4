import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { BatchInvoice } from '../../../src/domain/ports/ledger/batch-record.ts';
import type { GroupedInvoice } from '../../../src/domain/row.ts';
import type { IngestResult } from '../../../src/ingest/ingest-result.ts';
import { toInvoices } from '../../../src/ingest/invoice/to-invoice.ts';
import { memoryRowStore } from '../../../src/ingest/memory-row-store.ts';
import { planCorrections } from '../../../src/report/corrections/corrections-plan.ts';
import { csvCorrections } from '../../../src/report/corrections/csv-corrections.ts';
import { xlsxCorrections } from '../../../src/report/corrections/workbook/xlsx-corrections.ts';
import { readWithProfile } from '../../../src/wiring/files/read-with-profile.ts';
import { keptFile } from '../../../src/wiring/files/kept-files.ts';
import { originalOf } from '../../../src/wiring/files/original-of.ts';
import { portionsOf, unsentInvoice } from '../../unit/report/batch-invoices.ts';

/** A file as a batch reads it. */
export interface ReadWorkbook {
  readonly read: IngestResult;
  readonly invoices: readonly GroupedInvoice[];
}

/** Keeps the bytes below `directory` where a batch keeps them, and reads them as a batch does. */
export async function readKept(
  directory: string,
  bytes: Uint8Array,
  options: { readonly profile?: string; readonly sheet?: string; readonly decimal?: '.' | ',' } = {},
): Promise<ReadWorkbook> {
  const path = keptFile(directory, createHash('sha256').update(bytes).digest('hex'));
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, bytes);
  const store = memoryRowStore();
  const read = await readWithProfile({ path, file: 'invoices.xlsx', inputDir: directory, store, options });
  const invoices: GroupedInvoice[] = [];
  if (read.ok) for await (const group of store.groups()) invoices.push(...toInvoices(group, read.conversion));
  return { read, invoices };
}

/** The workbook of corrections of a workbook that was read from `directory`, as if the service had refused what was valid in it. */
export async function workbookHandedBack(directory: string, { read, invoices }: ReadWorkbook): Promise<Buffer> {
  const { sha256, proof } = read;
  const plan = await planCorrections(portionsOf(invoices.map(outcomeOf)), read.findings);
  const original = await originalOf({ file: 'invoices.xlsx', state: 'finished', sha256, proof }, directory);
  if (original?.kind !== 'sheet') throw new Error('The file is no workbook');
  const pieces: Uint8Array[] = [];
  for await (const piece of xlsxCorrections(original, plan, 'en')) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** The CSV file of corrections of a file that was read from `directory`, also of a workbook that no workbook can hold; valid invoices are issued. */
export async function csvHandedBack(directory: string, { read, invoices }: ReadWorkbook): Promise<string> {
  const { sha256, proof } = read;
  const plan = await planCorrections(portionsOf(invoices.filter(({ ok }) => !ok).map(outcomeOf)), read.findings);
  const original = await originalOf({ file: 'invoices.csv', state: 'finished', sha256, proof }, directory);
  if (original === null || original.kind === 'json') throw new Error('The file has no CSV');
  const pieces: Uint8Array[] = [];
  for await (const piece of csvCorrections(original.kind === 'sheet' ? original.asCsv : original, plan))
    pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

function outcomeOf(grouped: GroupedInvoice): BatchInvoice {
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

/** All that an invoice says; of an invalid one also why, apart from the rows it stands in. */
export function contentOf(grouped: GroupedInvoice): unknown {
  if (grouped.ok) return grouped.invoice;
  const { ref, nif, currency, net, findings } = grouped;
  return { ref, nif, currency, net, codes: findings.map(({ code, column }) => `${code} ${column}`) };
}
