import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';
import { createSpool } from '../../../src/report/work-folder.ts';
import { batchInvoice, portionsOf } from './batch-invoices.ts';
import type { BatchInvoice } from '../../../src/domain/records/batch-record.ts';

let directory: string;

beforeEach(async () => {
  directory = await temporaryDirectory();
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

describe('an invoice spool', () => {
  it('gives back what passed through it, as often as it is asked', async () => {
    const spool = createSpool(join(directory, 'spool'));

    const passed = await collect(spool.fill(portionsOf(INVOICES, 3)));

    expect(passed).toEqual(INVOICES);
    expect(await collect(spool.portions())).toEqual(INVOICES);
    expect(await collect(spool.portions())).toEqual(INVOICES);
  });

  it('is empty for a batch without invoices, whatever an earlier one left', async () => {
    const path = join(directory, 'spool');
    const spool = createSpool(path);

    await collect(createSpool(path).fill(portionsOf([batchInvoice()])));
    await collect(spool.fill(portionsOf<BatchInvoice>([])));

    expect(await collect(spool.portions())).toEqual([]);
  });

  it('is readable by its owner alone: it holds what the ledger holds', async () => {
    const path = join(directory, 'spool');

    await collect(createSpool(path).fill(portionsOf([batchInvoice()])));

    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });
});
