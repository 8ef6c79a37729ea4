import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import iconv from 'iconv-lite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { GroupedInvoice } from '../../src/domain/row.ts';
import type { Proof } from '../../src/ingest/ingest-result.ts';
import { memoryRowStore } from '../../src/ingest/row-stores.ts';
import { readFile } from '../../src/ingest/read-file.ts';
import { dialectOf } from '../../src/app/files/file-proof.ts';
import { keepCopy } from '../../src/app/files/kept-files.ts';
import { originalOf } from '../../src/app/files/original-of.ts';
import { toInvoices } from '../../src/ingest/invoice/to-invoice.ts';
import { planCorrections } from '../../src/report/corrections/corrections-plan.ts';
import { csvCorrections, jsonCorrections } from '../../src/report/corrections/write-corrections.ts';
import { portionsOf, unsentInvoice } from '../unit/report/batch-invoices.ts';

const HEADER = [
  'tax_code',
  'invoice_ref',
  'merchant_nif',
  'customer_name',
  'currency',
  'description',
  'quantity',
  'unit_price',
];
/** Each run reads two files through the real ingest. */
const RUNS = 40;

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'lote-round-trip-'));
});

afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
});

interface ReadBack {
  readonly file: string;
  readonly sha256: string;
  readonly proof: Proof;
  readonly rows: readonly number[];
  readonly invoices: readonly GroupedInvoice[];
}

async function ingest(name: string, bytes: Uint8Array | string): Promise<ReadBack> {
  const path = join(directory, name);
  await writeFile(path, bytes);
  const store = memoryRowStore();
  const result = await readFile({ path, store });
  if (!result.ok) throw new Error(`refused: ${result.findings[0]?.message}`);
  const invoices: GroupedInvoice[] = [];
  for await (const group of store.groups()) invoices.push(...toInvoices(group, result.conversion));
  await keepCopy(path, directory);
  const { sha256, proof } = result;
  return { file: name, sha256, proof, rows: invoices.flatMap(({ rows }) => rows), invoices };
}

/** Hands every row back, as if each invoice had been refused. */
async function correctionsOf(read: ReadBack): Promise<Buffer> {
  const reason = { code: 'refused', message: 'Say "why"; or not.' };
  const plan = await planCorrections(portionsOf([unsentInvoice({ rows: read.rows, state: 'invalid', reason })]), []);
  const original = await originalOf({ ...read, state: 'finished' }, directory);
  if (original === null || original.kind === 'sheet') throw new Error('expected a kept text');
  const pieces: Buffer[] = [];
  for await (const piece of original.kind === 'csv' ? csvCorrections(original, plan) : jsonCorrections(original, plan))
    pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces);
}

function contentOf({ invoices }: ReadBack): unknown {
  return invoices.map((grouped) => (grouped.ok ? grouped.invoice : grouped));
}

function csvOf(rows: readonly (readonly string[])[], delimiter: string): string {
  const quoted = (cell: string) => `"${cell.replaceAll('"', '""')}"`;
  return [HEADER, ...rows].map((cells) => `${cells.map(quoted).join(delimiter)}\r\n`).join('');
}

describe('a corrections file', () => {
  it('reads back to the invoices it was made of, whatever their texts hold', async () => {
    const sign = fc.constantFrom(
      '=',
      '+',
      '-',
      '@',
      '＝',
      '1',
      '-12',
      ',',
      ';',
      '"',
      '\n',
      ' ',
      'é',
      'Ação',
      "O'Neill",
      '<b>',
    );
    const text = fc
      .array(sign, { minLength: 1, maxLength: 6 })
      .map((signs) => signs.join('').trim())
      .filter((cell) => cell !== '');
    const row = fc.tuple(text, text, text).map(([tax, customer, description]) => ({ tax, customer, description }));

    await fc.assert(
      fc.asyncProperty(
        fc.array(row, { minLength: 1, maxLength: 5 }),
        fc.constantFrom(',', ';', '\t'),
        async (drawn, delimiter) => {
          const rows = drawn.map(({ tax, customer, description }, index) => [
            tax,
            `F-${index}`,
            '501964843',
            customer,
            'EUR',
            description,
            '-2',
            '1.25',
          ]);

          const first = await ingest('first.csv', csvOf(rows, delimiter));
          const second = await ingest('second.csv', await correctionsOf(first));
          const third = await ingest('third.csv', await correctionsOf(second));

          expect(contentOf(second)).toEqual(contentOf(first));
          expect(contentOf(third)).toEqual(contentOf(first));
        },
      ),
      { numRuns: RUNS },
    );
  });

  it.each(['windows-1252', 'utf-16le'])('reads back in the encoding it came in: %s', async (encoding) => {
    const rows = [['IVA_23', 'F-1', '501964843', 'João Ação', 'EUR', 'Café, à la carte', '1', '2.50']];

    const first = await ingest(
      'first.csv',
      iconv.encode(csvOf(rows, ';'), encoding, { addBOM: encoding === 'utf-16le' }),
    );
    const second = await ingest('second.csv', await correctionsOf(first));

    expect(dialectOf(second.proof)).toMatchObject({
      encoding: dialectOf(first.proof).encoding,
      bom: dialectOf(first.proof).bom,
      own: true,
    });
    expect(contentOf(second)).toEqual(contentOf(first));
  });

  it.each([
    ['an array', '[OBJECT]'],
    ['an object with invoices', '{"invoices": [OBJECT]}'],
    ['lines of JSON', 'OBJECT\n'],
  ])('of %s reads back to the same invoices, with every digit', async (_, frame) => {
    const line = { description: '=text', quantity: 1, unit_price: 'PRICE', tax_code: 'IVA_23' };
    const invoice = {
      invoice_ref: 'F-1',
      merchant: { nif: '501964843' },
      customer: { name: 'Ação' },
      currency: 'EUR',
      lines: [line],
    };
    const object = JSON.stringify(invoice).replace('"PRICE"', '1.10000000000000000001');

    const first = await ingest('first.json', frame.replace('OBJECT', object));
    const second = await ingest('second.json', await correctionsOf(first));
    const third = await ingest('third.json', await correctionsOf(second));

    expect(JSON.stringify(contentOf(first))).toContain('1.10000000000000000001');
    expect(contentOf(second)).toEqual(contentOf(first));
    expect(contentOf(third)).toEqual(contentOf(first));
  });
});
