import { skeletonOf } from '../domain/look-alike.ts';
import type { RowStore } from '../domain/ports/row-store.ts';
import type { RawRow } from '../domain/row.ts';

/** Rows kept in memory, for a dry run. */
export function memoryRowStore(): RowStore {
  const groups = new Map<string, RawRow[]>();
  return {
    append(rows) {
      for (const row of rows) {
        const key = JSON.stringify([row.nif, skeletonOf(row.ref)]);
        const group = groups.get(key);
        if (group === undefined) groups.set(key, [row]);
        else group.push(row);
      }
      return Promise.resolve();
    },
    async *groups() {
      yield* groups.values();
    },
  };
}
