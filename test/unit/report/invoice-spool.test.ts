import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { BatchInvoice } from '../../../src/domain/ports/ledger.ts';
import { openSpool, spooling } from '../../../src/report/invoice-spool.ts';
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

describe('an invoice spool', () => {
  it('gives back what passed through it, as often as it is asked', async () => {
    const path = join(directory, 'spool');
    const texts = [
      'plain',
      'line\nend',
      'carriage\rreturn',
      'line\u2028separator',
      'paragraph\u2029separator',
      '\u0085',
      '"quoted" \\u2028',
    ];
    const invoices = texts.map((ref, index) => batchInvoice({ ordinal: index + 1, ref }));

    const passed = await collect(spooling(path, portionsOf(invoices)));

    expect(passed).toEqual(invoices);
    expect(await collect(openSpool(path).portions())).toEqual(invoices);
    expect(await collect(openSpool(path).portions())).toEqual(invoices);
  });

  it('is empty for a batch without invoices, and starts anew for a second reading', async () => {
    const path = join(directory, 'spool');

    await collect(spooling(path, portionsOf([batchInvoice()])));
    await collect(spooling(path, portionsOf<BatchInvoice>([])));

    expect(await collect(openSpool(path).portions())).toEqual([]);
  });

  it('is readable by its owner alone: it holds what the ledger holds', async () => {
    const path = join(directory, 'spool');

    await collect(spooling(path, portionsOf([batchInvoice()])));

    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });
});
