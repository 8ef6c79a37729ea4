import { groupKeyOf } from '../domain/look-alike.ts';
import type { RawRow, RowStore } from '../domain/row.ts';

/** Rows per append: one set statement of the ledger. */
const ROW_PORTION = 2_000;

/** Hands rows to a store in portions. */
export class RowWriter {
  readonly #store: RowStore;
  #waiting: RawRow[] = [];

  constructor(store: RowStore) {
    this.#store = store;
  }

  add(row: RawRow): void {
    this.#waiting.push(row);
  }

  /** Writes full portions; call between chunks, so that what waits stays small. */
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

/** Rows kept in memory, for a dry run. `beforeRows` sees each portion before it is kept, and may throw to refuse it. */
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

/** Of a row besides the characters of its cells: the objects that they stand in. */
const ROW_BYTES = 500;

/** JavaScript keeps all characters of a text in two bytes when one of them needs both. */
const CHARACTER_BYTES = 2;

/** What rows take in memory at most, in bytes: an estimate that texts which cells share do not lower. */
export function sizeOfRows(rows: readonly RawRow[]): number {
  let characters = 0;
  for (const { cells } of rows) for (const cell of cells) characters += cell?.length ?? 0;
  return rows.length * ROW_BYTES + characters * CHARACTER_BYTES;
}

/** What the rows of one file may take in memory, in bytes: those of some 50,000 lines. */
const MOST_BYTES = 32 * 1024 * 1024;

/** Keeps the rows of a file in memory while they are few; those of a larger file go to `behind`, from the first one on. */
export function bufferedRowStore(behind: RowStore, mostBytes = MOST_BYTES): RowStore {
  let memory: RowStore | null = memoryRowStore();
  let kept: RawRow[] = [];
  let bytes = 0;
  return {
    async append(rows) {
      if (memory === null) return behind.append(rows);
      // Grouped as they come: all of them at once would hold up everything else in the process.
      await memory.append(rows);
      kept.push(...rows);
      bytes += sizeOfRows(rows);
      if (bytes <= mostBytes) return;
      const first = kept;
      kept = [];
      memory = null;
      for (let at = 0; at < first.length; at += ROW_PORTION) {
        // oxlint-disable-next-line no-await-in-loop -- what comes next would only wait beside it
        await behind.append(first.slice(at, at + ROW_PORTION));
      }
    },
    groups: () => (memory ?? behind).groups(),
  };
}
