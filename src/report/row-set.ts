const BITS = 32;
/** Rows per word block: one block is 8 KB, so a file of a million rows costs about 130 KB. */
const BLOCK_ROWS = 65_536;

/** Row numbers seen so far, one bit each: a set of numbers would cost a large file a hundred times as much memory. */
export interface RowSet {
  /** False when the row was there before. */
  add(row: number): boolean;
}

/** An empty set of row numbers. */
export function createRowSet(): RowSet {
  const blocks = new Map<number, Uint32Array>();
  return {
    add(row) {
      const index = Math.floor(row / BLOCK_ROWS);
      const block = blocks.get(index) ?? new Uint32Array(BLOCK_ROWS / BITS);
      blocks.set(index, block);
      const offset = row % BLOCK_ROWS;
      const word = Math.floor(offset / BITS);
      const mask = (1 << (offset % BITS)) >>> 0;
      const before = block[word] ?? 0;
      block[word] = (before | mask) >>> 0;
      return (before & mask) === 0;
    },
  };
}
