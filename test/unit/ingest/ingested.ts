import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { GroupedInvoice } from '../../../src/domain/row.ts';
import type { IngestOptions, IngestResult } from '../../../src/ingest/ingest-result.ts';
import { Refusal } from '../../../src/ingest/findings.ts';
import { memoryRowStore } from '../../../src/ingest/row-stores.ts';
import { readFile } from '../../../src/ingest/read-file.ts';
import { asks, proposedOptions } from '../../support/files/confirmed-layout.ts';
import { toInvoices } from '../../../src/ingest/invoice/to-invoice.ts';

export interface Ingested {
  readonly result: IngestResult;
  readonly invoices: readonly GroupedInvoice[];
}

let root: string | null = null;

/** To be given to `afterAll` by each test file that reads files: test files of one worker may share this module. */
export function removeTemporaryFiles(): void {
  if (root !== null) rmSync(root, { recursive: true, force: true });
  root = null;
}

/** A file with this content in a directory of its own, until `removeTemporaryFiles`. */
export function temporaryFile(content: string | Uint8Array, name = 'invoices.csv'): string {
  root ??= mkdtempSync(join(tmpdir(), 'lote-ingest-'));
  const path = join(mkdtempSync(join(root, 'file-')), name);
  writeFileSync(path, content);
  return path;
}

/** Reads a file to the end and builds its invoices; where it asks for its columns, a person saves what is proposed. */
export async function ingested(path: string, options: IngestOptions = {}): Promise<Ingested> {
  const first = await ingestedAsIs(path, options);
  return asks(first.result) ? ingestedAsIs(path, await proposedOptions(path, options)) : first;
}

/** Reads a file to the end and builds its invoices, without a word of a person about its columns. */
export async function ingestedAsIs(path: string, options: IngestOptions = {}): Promise<Ingested> {
  const store = memoryRowStore();
  const result = await readFile({ path, store, options });
  if (!result.ok) return { result, invoices: [] };
  // The conversion waits in a ledger as JSON: whatever JSON loses must not matter.
  const conversion = JSON.parse(JSON.stringify(result.conversion)) as typeof result.conversion;
  const invoices: GroupedInvoice[] = [];
  for await (const group of store.groups()) invoices.push(...toInvoices(group, conversion));
  return { result, invoices };
}

export async function ingestedText(content: string | Uint8Array, options: IngestOptions = {}): Promise<Ingested> {
  return ingested(temporaryFile(content), options);
}

/** The finding of the refusal that ends the work, or what it returns. */
export async function refusalOf(work: () => unknown): Promise<unknown> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Refusal) return error.finding;
    throw error;
  }
}

export const HEADER = 'invoice_ref,merchant_nif,customer_name,currency,description,quantity,unit_price,tax_code';

/** One valid row, with some cells replaced. */
export function csvRow(
  cells: Partial<
    Record<'ref' | 'nif' | 'customer' | 'currency' | 'description' | 'quantity' | 'price' | 'tax', string>
  > = {},
): string {
  const {
    ref = 'F1',
    nif = '501964843',
    customer = 'Ana',
    currency = 'EUR',
    description = 'Pão',
    quantity = '1',
    price = '2.50',
    tax = 'IVA_23',
  } = cells;
  return [ref, nif, customer, currency, description, quantity, price, tax].join(',');
}
