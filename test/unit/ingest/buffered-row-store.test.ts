import { describe, expect, it } from 'vitest';
import type { RawRow, RowStore } from '../../../src/domain/row.ts';
import { bufferedRowStore, memoryRowStore } from '../../../src/ingest/row-stores.ts';

/** The number of rows in each portion that the store behind was given. */
function countingStore(): RowStore & { readonly portions: number[] } {
  const store = memoryRowStore();
  const portions: number[] = [];
  return {
    ...store,
    portions,
    append(rows) {
      portions.push(rows.length);
      return store.append(rows);
    },
  };
}

function rowsFrom(first: number, count: number, cell = 'x'): readonly RawRow[] {
  return Array.from({ length: count }, (_, at) => ({
    ...{ row: first + at, nif: '1', ref: `R${(first + at) % 3}`, object: null, cells: [cell, null] },
  }));
}

async function groupsOf(store: RowStore): Promise<readonly (readonly number[])[]> {
  const groups: number[][] = [];
  for await (const group of store.groups()) groups.push(group.map(({ row }) => row));
  return groups;
}

describe('a buffered row store', () => {
  it('gives the rows of a small file to nobody, and groups them itself', async () => {
    const behind = countingStore();
    const store = bufferedRowStore(behind);

    await store.append(rowsFrom(3, 2));
    await store.append(rowsFrom(5, 3));

    expect(await groupsOf(store)).toEqual([[3, 6], [4, 7], [5]]);
    expect(behind.portions).toEqual([]);
  });

  it('gives all rows of a large file to the store behind, those that it kept first', async () => {
    const behind = countingStore();
    const store = bufferedRowStore(behind, 5_000 * 500);

    await store.append(rowsFrom(0, 4_000));
    await store.append(rowsFrom(4_000, 4_000));
    await store.append(rowsFrom(8_000, 1_000));

    expect(behind.portions).toEqual([2_000, 2_000, 2_000, 2_000, 1_000]);
    const groups = await groupsOf(store);
    expect(groups.map(({ length }) => length)).toEqual([3_000, 3_000, 3_000]);
    expect(groups[0]?.slice(0, 3)).toEqual([0, 3, 6]);
  });

  it('takes few rows with long cells for a large file', async () => {
    const behind = countingStore();
    const store = bufferedRowStore(behind, 10_000);

    await store.append(rowsFrom(0, 2, 'x'.repeat(3_000)));

    expect(behind.portions).toEqual([2]);
  });

  it('loses no row to a store behind that refuses', async () => {
    const refusing: RowStore = { ...memoryRowStore(), append: () => Promise.reject(new Error('claim-lost')) };
    const store = bufferedRowStore(refusing, 1);

    await expect(store.append(rowsFrom(0, 1))).rejects.toThrow('claim-lost');
    await expect(store.append(rowsFrom(1, 1))).rejects.toThrow('claim-lost');
  });
});
