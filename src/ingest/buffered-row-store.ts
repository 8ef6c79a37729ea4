import type { RowStore } from '../domain/ports/row-store.ts';
import type { RawRow } from '../domain/row.ts';
import { memoryRowStore } from './memory-row-store.ts';
import { ROW_PORTION } from './row-writer.ts';
import { sizeOfRows } from './size-of-rows.ts';

/** What the rows of one file may take in memory, in bytes: those of some 50,000 lines. */
const MOST_BYTES = 32 * 1024 * 1024;

/**
 * Keeps the rows of a file in memory while they are few; those of a larger file go to `behind`, from the first one on. To write
 * those of an ordinary file into the ledger and read them back gains nothing: an attempt that ends reads the file anew.
 */
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
