import { groupKeyOf } from '../domain/look-alike.ts';
import type { RowStore } from '../domain/ports/row-store.ts';
import type { RawRow } from '../domain/row.ts';

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
