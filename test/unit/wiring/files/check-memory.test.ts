import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { RawRow } from '../../../../src/domain/row.ts';
import { checkFile } from '../../../../src/wiring/files/check-file.ts';
import { CheckMemory } from '../../../../src/wiring/files/check-memory.ts';

const HEADER = 'invoice_ref,merchant_nif,customer_name,currency,description,quantity,unit_price,tax_code';

function rows(count: number, text = ''): readonly RawRow[] {
  return Array.from({ length: count }, (_, at) => ({ row: at + 2, nif: '1', ref: 'A', object: null, cells: [text] }));
}

async function fileOf(count: number): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'lote-check-memory-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const path = join(directory, 'may.csv');
  const lines = Array.from({ length: count }, (_, at) => `F${at},501964843,Ana,EUR,Pao,1,2.5,IVA_23\n`);
  await writeFile(path, `${HEADER}\n${lines.join('')}`);
  return path;
}

describe('the memory of checks', () => {
  it('refuses rows that no check may keep alone, and says which one was too much', () => {
    const memory = new CheckMemory(3_000, 'Split it.');

    const keep = (): void => memory.begin().keep(rows(1, 'x'.repeat(2_000)));

    expect(keep).toThrow(expect.objectContaining({ code: 'usage' }));
    expect(keep).toThrow(/found more up to row 2\. Nothing of it was checked, and nothing was sent\. Split it\./u);
  });

  it('lets one check wait for another one that has it', () => {
    const memory = new CheckMemory(3_000, 'Split it.');
    const first = memory.begin();
    first.keep(rows(4));
    const second = memory.begin();

    expect(() => second.keep(rows(4))).toThrow(expect.objectContaining({ code: 'checks-busy' }));

    first.end();
    second.keep(rows(4));
  });

  it('is free again after a file that was too large for it, and after one that was not', async () => {
    const memory = new CheckMemory(2_000_000, 'Split it.');
    const large = await fileOf(5_000);
    const small = await fileOf(2_500);

    await expect(checkFile(large, '', { memory })).rejects.toMatchObject({ code: 'usage' });
    expect(await checkFile(small, '', { memory })).toMatchObject({ refused: false, invoices: 2_500 });
    expect(await checkFile(small, '', { memory })).toMatchObject({ refused: false, invoices: 2_500 });
  });
});
