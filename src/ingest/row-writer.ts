import type { RowStore } from '../domain/ports/row-store.ts';
import type { RawRow } from '../domain/row.ts';

/** Rows per append: one set statement of the ledger. */
export const ROW_PORTION = 2_000;

/** Hands rows to a store in portions. */
export class RowWriter {
  readonly #store: RowStore;
  #waiting: RawRow[] = [];
  /** Rows with an identity, written or waiting. */
  count = 0;

  constructor(store: RowStore) {
    this.#store = store;
  }

  add(row: RawRow): void {
    this.#waiting.push(row);
    this.count += 1;
  }

  /** Writes full portions; call between chunks, so that what waits stays small. */
  async drain(): Promise<void> {
    while (this.#waiting.length >= ROW_PORTION) {
      const portion = this.#waiting.slice(0, ROW_PORTION);
      this.#waiting = this.#waiting.slice(ROW_PORTION);
      await this.#store.append(portion);
    }
  }

  /** Writes everything that waits, in full portions and a rest. */
  async flush(): Promise<void> {
    await this.drain();
    if (this.#waiting.length > 0) await this.#store.append(this.#waiting);
    this.#waiting = [];
  }
}
