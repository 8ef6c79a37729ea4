import { setTimeout as sleep } from 'node:timers/promises';
import { isLedgerAway } from '../domain/errors.ts';
import type { AppliedDeliveries, RecordDelivery } from '../ledger/webhooks/deliveries.ts';

/** Short, because a sender waits for this write. Deliveries that come during a write are stored by the next one. */
const STORE_WINDOW_MS = 1;

/** If more deliveries wait, the ledger has fallen behind, and the receiver asks the sender to retry later. */
const MAX_WAITING = 5_000;

/** No sender waits for this write. One statement for all deliveries of this period costs a tenth of one statement for each. */
const APPLY_WINDOW_MS = 200;

/** The most items of one statement; a larger one only holds its locks longer. */
const FULL = 500;

interface DeliveryStoreOptions {
  /** Resolves when the deliveries are committed. */
  readonly store: (deliveries: readonly RecordDelivery[]) => Promise<unknown>;
  readonly onStored: (deliveries: readonly RecordDelivery[]) => void;
  readonly onFailure: (error: unknown, deliveries: number) => void;
  readonly maxWaiting?: number | undefined;
}

/** The store of one receiver. */
export type DeliveryStore = ReturnType<typeof createDeliveryStore>;

/** Stores the deliveries of one receiver in groups, one write at a time (group commit). */
export function createDeliveryStore({ store, onStored, onFailure, maxWaiting = MAX_WAITING }: DeliveryStoreOptions) {
  let waiting = 0;
  const groups = createGroups<RecordDelivery>(STORE_WINDOW_MS, write);

  /** Returns the deliveries that are not stored. A delivery that the ledger refuses does not keep back the others of its group. */
  async function write(deliveries: readonly RecordDelivery[]): Promise<readonly RecordDelivery[]> {
    try {
      await store(deliveries);
    } catch (error) {
      onFailure(error, deliveries.length);
      if (deliveries.length === 1 || isLedgerAway(error)) return deliveries;
      const refused: RecordDelivery[] = [];
      for (const one of deliveries) refused.push(...(await write([one])));
      return refused;
    }
    // The deliveries are stored, so an error of the listener must not count as a failed write.
    try {
      onStored(deliveries);
    } catch (error) {
      onFailure(error, 0);
    }
    return [];
  }

  return {
    /** Resolves to true when all deliveries are committed, or to false if the write fails or too many deliveries wait. */
    async add(deliveries: readonly RecordDelivery[]): Promise<boolean> {
      if (waiting + deliveries.length > maxWaiting) return false;
      waiting += deliveries.length;
      const failed = await groups.add(deliveries).finally(() => (waiting -= deliveries.length));
      return failed.size === 0 || !deliveries.some((one) => failed.has(one));
    },
    /** Resolves when no delivery waits any more. */
    idle: groups.idle,
  };
}

interface DeliveryApplierOptions {
  readonly apply: (serviceIds: readonly string[]) => Promise<AppliedDeliveries>;
  readonly onApplied: (applied: AppliedDeliveries) => void;
  readonly log: { warn(message: string, fields?: Record<string, unknown>): void };
}

/**
 * Applies stored deliveries to their invoices. A delivery that it does not apply (after a crash, or while the ledger is
 * unreachable) stays stored, and Lote applies it when it reads the invoice's page.
 */
export function createDeliveryApplier({ apply, onApplied, log }: DeliveryApplierOptions) {
  const groups = createGroups<string>(APPLY_WINDOW_MS, async (serviceIds) => {
    try {
      onApplied(await apply(serviceIds));
    } catch (error) {
      log.warn('Stored deliveries could not be applied now; their pages will', {
        deliveries: serviceIds.length,
        error: error instanceof Error ? error.name : 'unknown',
      });
    }
    return [];
  });
  return {
    add(deliveries: readonly RecordDelivery[]): void {
      const ids = deliveries.flatMap(({ event }) =>
        event?.verdict && event.serviceId !== null ? [event.serviceId] : [],
      );
      if (ids.length > 0) void groups.add(ids);
    },
    /** Resolves when no delivery waits to be applied any more. */
    idle: groups.idle,
  };
}

/**
 * Gathers items for `windowMs`, or longer while the previous group is being written, and then writes each of them once. `write` returns the
 * items that it did not write. All items of a group share one promise, which resolves to those items.
 */
function createGroups<Item>(windowMs: number, write: (items: readonly Item[]) => Promise<readonly Item[]>) {
  let gathering: { readonly items: Set<Item>; readonly written: Promise<ReadonlySet<Item>> } | null = null;
  let last: Promise<unknown> = Promise.resolve();

  async function gatherAndWrite(items: Set<Item>, before: Promise<unknown>): Promise<ReadonlySet<Item>> {
    await Promise.all([sleep(windowMs), before]);
    gathering = null;
    const all = [...items];
    const failed = new Set<Item>();
    for (let first = 0; first < all.length; first += FULL)
      for (const one of await write(all.slice(first, first + FULL))) failed.add(one);
    return failed;
  }

  return {
    add(some: readonly Item[]): Promise<ReadonlySet<Item>> {
      if (gathering === null) {
        const items = new Set<Item>();
        gathering = { items, written: gatherAndWrite(items, last) };
        // One group that fails must not stop the next ones.
        last = gathering.written.catch(() => undefined);
      }
      for (const one of some) gathering.items.add(one);
      return gathering.written;
    },
    /** Resolves when all items are written. */
    async idle(): Promise<void> {
      // More items may come meanwhile.
      for (let seen: unknown = null; seen !== last;) await (seen = last);
    },
  };
}
