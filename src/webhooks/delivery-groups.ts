import { Batcher } from '../platform/batcher.ts';
import type { AppliedDeliveries, RecordDelivery } from '../ledger/webhooks/deliveries.ts';

/** Short, because a sender waits for this write. Deliveries that come during a write are stored by the next one. */
const STORE_WINDOW_MS = 1;

/** If more deliveries wait, the ledger has fallen behind, and the receiver asks the sender to retry later. */
const MAX_WAITING = 5_000;

/** No sender waits for this write. One statement for all deliveries of this period costs a tenth of one statement for each. */
const APPLY_WINDOW_MS = 200;

interface DeliveryStoreOptions {
  /** Resolves when the deliveries are committed. */
  readonly store: (deliveries: readonly RecordDelivery[]) => Promise<void>;
  readonly onStored: (deliveries: readonly RecordDelivery[]) => void;
  readonly onFailure: (error: unknown, deliveries: number) => void;
  readonly maxWaiting?: number | undefined;
}

/** The store of one receiver. */
export type DeliveryStore = ReturnType<typeof createDeliveryStore>;

const NO_RESULTS = new Map<unknown, never>();

/** Stores the deliveries of one receiver in groups, one write at a time (group commit). */
export function createDeliveryStore({ store, onStored, onFailure, maxWaiting = MAX_WAITING }: DeliveryStoreOptions) {
  let waiting = 0;
  const batcher = new Batcher<RecordDelivery, never>({
    windowMs: STORE_WINDOW_MS,
    async write(deliveries) {
      try {
        await store(deliveries);
      } catch (error) {
        onFailure(error, deliveries.length);
        throw error;
      }
      onStored(deliveries);
      return NO_RESULTS;
    },
  });

  return {
    /** Resolves to true when all deliveries are committed, or to false if the write fails or too many deliveries wait. */
    async add(deliveries: readonly RecordDelivery[]): Promise<boolean> {
      if (waiting + deliveries.length > maxWaiting) return false;
      waiting += deliveries.length;
      try {
        await batcher.submit(deliveries);
        return true;
      } catch {
        return false;
      } finally {
        waiting -= deliveries.length;
      }
    },
    /** Resolves when no delivery waits any more. */
    idle: () => batcher.idle(),
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
  const batcher = new Batcher<RecordDelivery, never>({
    windowMs: APPLY_WINDOW_MS,
    async write(deliveries) {
      try {
        onApplied(await apply([...new Set(deliveries.flatMap(({ event }) => event?.serviceId ?? []))]));
      } catch (error) {
        log.warn('Stored deliveries could not be applied now; their pages will', {
          deliveries: deliveries.length,
          error: error instanceof Error ? error.name : 'unknown',
        });
      }
      return NO_RESULTS;
    },
  });
  return {
    add(deliveries: readonly RecordDelivery[]): void {
      void batcher.submit(deliveries.filter(({ event }) => event?.verdict && event.serviceId !== null));
    },
    /** Resolves when no delivery waits to be applied any more. */
    idle: () => batcher.idle(),
  };
}
