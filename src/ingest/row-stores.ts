import { groupKeyOf } from '../domain/look-alike.ts';
import type { RawRow, RowStore } from '../domain/row.ts';

/** Rows per append: one set statement of the ledger. */
const ROW_PORTION = 2_000;

/** Passes rows to a store in portions. */
export class RowWriter {
  readonly #store: RowStore;
  #waiting: RawRow[] = [];

  constructor(store: RowStore) {
    this.#store = store;
  }

  add(row: RawRow): void {
    this.#waiting.push(row);
  }

  /** Writes full portions. Call it between chunks, so that few rows wait in memory. */
  async drain(): Promise<void> {
    while (this.#waiting.length >= ROW_PORTION) {
      const portion = this.#waiting.slice(0, ROW_PORTION);
      this.#waiting = this.#waiting.slice(ROW_PORTION);
      await this.#store.append(portion);
    }
  }

  async flush(): Promise<void> {
    await this.drain();
    if (this.#waiting.length > 0) await this.#store.append(this.#waiting);
    this.#waiting = [];
  }
}

/** Keeps rows in memory, for a dry run. `beforeRows` sees each portion first and may throw to refuse it. */
export function memoryRowStore(beforeRows: (rows: readonly RawRow[]) => void = () => undefined): RowStore {
  const groups = new Map<string, RawRow[]>();
  return {
    async append(rows) {
      beforeRows(rows);
      for (const row of rows) {
        const key = groupKeyOf(row);
        const group = groups.get(key);
        if (group === undefined) groups.set(key, [row]);
        else group.push(row);
      }
    },
    async *groups() {
      yield* groups.values();
    },
  };
}

/** Memory of the objects of a row, without the characters of its cells. */
const ROW_BYTES = 500;

/** JavaScript stores all characters of a text in two bytes each if one of them needs two. */
const CHARACTER_BYTES = 2;

/** Estimates the most memory that rows take, in bytes. Ignores that cells may share texts. */
export function sizeOfRows(rows: readonly RawRow[]): number {
  let characters = 0;
  for (const { cells } of rows) for (const cell of cells) characters += cell?.length ?? 0;
  return rows.length * ROW_BYTES + characters * CHARACTER_BYTES;
}

/** The memory that the rows of one file may take, in bytes: about 50,000 lines. */
const MOST_BYTES = 32 * 1024 * 1024;

/** Keeps the rows of a small file in memory. As soon as they exceed `mostBytes`, moves all rows to `behind`. */
export function bufferedRowStore(behind: RowStore, mostBytes = MOST_BYTES): RowStore {
  let memory: RowStore | null = memoryRowStore();
  let kept: RawRow[] = [];
  let bytes = 0;
  return {
    async append(rows) {
      if (memory === null) return behind.append(rows);
      // Rows are grouped as they arrive: grouping all of them at once would block the process.
      await memory.append(rows);
      kept.push(...rows);
      bytes += sizeOfRows(rows);
      if (bytes <= mostBytes) return;
      const first = kept;
      kept = [];
      memory = null;
      for (let at = 0; at < first.length; at += ROW_PORTION) {
        // oxlint-disable-next-line no-await-in-loop -- the next portion would only wait beside this one
        await behind.append(first.slice(at, at + ROW_PORTION));
      }
    },
    groups: () => (memory ?? behind).groups(),
  };
}
