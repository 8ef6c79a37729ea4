import { describe, expect, it } from 'vitest';
import type { RawRow } from '../../../src/domain/row.ts';
import { memoryRowStore } from '../../../src/ingest/memory-row-store.ts';

function row(number: number, nif: string, ref: string): RawRow {
  return { row: number, nif, ref, object: null, cells: [] };
}

describe('memoryRowStore', () => {
  it('gives groups in the order of their first row, rows in file order', async () => {
    const store = memoryRowStore();
    await store.append([row(2, '1', 'B'), row(3, '1', 'A')]);
    await store.append([row(4, '2', 'B'), row(5, '1', 'B')]);

    const groups: number[][] = [];
    for await (const group of store.groups()) groups.push(group.map((one) => one.row));

    expect(groups).toEqual([[2, 5], [3], [4]]);
  });

  it('keeps identities apart that only look alike when joined', async () => {
    const store = memoryRowStore();
    await store.append([row(2, '1', '1"A'), row(3, '11', 'A'), row(4, '1', '__proto__')]);

    const groups: RawRow[][] = [];
    for await (const group of store.groups()) groups.push([...group]);

    expect(groups).toHaveLength(3);
  });
});
