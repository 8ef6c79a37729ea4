import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';
import { createSpool } from '../../../src/report/work-folder.ts';
import { batchInvoice, portionsOf } from './batch-invoices.ts';
import type { BatchInvoice } from '../../../src/domain/records/batch-record.ts';

const TEXTS = ['line\nend', 'line\u2028separator', 'paragraph\u2029separator', '\u0085', '"quoted" \\u2028'];
const INVOICES = TEXTS.map((ref, index) => batchInvoice({ ordinal: index + 1, ref }));

async function collect(portions: AsyncIterable<readonly BatchInvoice[]>): Promise<readonly BatchInvoice[]> {
  const all: BatchInvoice[] = [];
  for await (const portion of portions) all.push(...portion);
  return all;
}

it.each([
  ['in memory', 60_000],
  ['in a file', 0],
])('a spool %s gives back what passed through it, as often as it is asked, to its owner alone', async (_, most) => {
  const path = join(await temporaryDirectory(), 'spool');
  await collect(createSpool(path, most).fill(portionsOf([batchInvoice()])));
  const spool = createSpool(path, most);

  const passed = await collect(spool.fill(portionsOf(INVOICES, 3)));

  for (const found of [passed, await collect(spool.portions()), await collect(spool.portions())])
    expect(found).toEqual(INVOICES);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});
