import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { BatchInvoice } from '../../../src/domain/ports/ledger/batch-record.ts';
import { createSpool } from '../../../src/report/invoice-spool.ts';
import { batchInvoice, portionsOf } from './batch-invoices.ts';

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'lote-spool-'));
});

afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
});

async function collect(portions: AsyncIterable<readonly BatchInvoice[]>): Promise<readonly BatchInvoice[]> {
  const all: BatchInvoice[] = [];
  for await (const portion of portions) all.push(...portion);
  return all;
}

const TEXTS = [
  'plain',
  'line\nend',
  'carriage\rreturn',
  'line\u2028separator',
  'paragraph\u2029separator',
  '\u0085',
  '"quoted" \\u2028',
];
const INVOICES = TEXTS.map((ref, index) => batchInvoice({ ordinal: index + 1, ref }));

async function* portionsOfThree(): AsyncGenerator<readonly BatchInvoice[]> {
  for (let at = 0; at < INVOICES.length; at += 3) yield INVOICES.slice(at, at + 3);
}

describe('an invoice spool', () => {
  it.each([
    ['memory', 20],
    ['memory, as many as it may hold', INVOICES.length],
    ['a file', 0],
    ['a file, when the first ones were in memory', 4],
  ])('gives back from %s what passed through it, as often as it is asked', async (_, most) => {
    const spool = createSpool(join(directory, 'spool'), most);

    const passed = await collect(spool.fill(portionsOfThree()));

    expect(passed).toEqual(INVOICES);
    expect(await collect(spool.portions())).toEqual(INVOICES);
    expect(await collect(spool.portions())).toEqual(INVOICES);
  });

  it('writes a file for a large batch alone', async () => {
    await collect(createSpool(join(directory, 'small'), INVOICES.length).fill(portionsOf(INVOICES)));
    await collect(createSpool(join(directory, 'large'), INVOICES.length - 1).fill(portionsOf(INVOICES)));

    expect(await readdir(directory)).toEqual(['large']);
  });

  it('counts findings and rows, too: a few invoices may have very many', async () => {
    const finding = { severity: 'warning', code: 'date-as-text', message: 'a date', row: 2, column: null } as const;
    const wide = batchInvoice({ ordinal: 1, findings: Array.from({ length: 5 }, () => finding) });
    const long = batchInvoice({ ordinal: 1, rows: Array.from({ length: 100 }, (_, row) => row + 2) });

    await collect(createSpool(join(directory, 'wide'), 5).fill(portionsOf([wide])));
    await collect(createSpool(join(directory, 'long'), 5).fill(portionsOf([long])));
    await collect(createSpool(join(directory, 'six'), 6).fill(portionsOf([wide])));

    expect((await readdir(directory)).toSorted()).toEqual(['long', 'wide']);
  });

  it.each([0, 20])(
    'is empty for a batch without invoices, whatever an earlier one left, with %i in memory',
    async (most) => {
      const path = join(directory, 'spool');
      const spool = createSpool(path, most);

      await collect(createSpool(path, most).fill(portionsOf([batchInvoice()])));
      await collect(spool.fill(portionsOf<BatchInvoice>([])));

      expect(await collect(spool.portions())).toEqual([]);
    },
  );

  it('is readable by its owner alone: it holds what the ledger holds', async () => {
    const path = join(directory, 'spool');

    await collect(createSpool(path, 0).fill(portionsOf([batchInvoice()])));

    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });
});
