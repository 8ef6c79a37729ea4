import { isLedgerAway } from '../domain/errors.ts';
import { Batcher } from '../platform/batcher.ts';
import type { AppliedDeliveries, RecordDelivery } from '../ledger/webhooks/deliveries.ts';

/** Short, because a sender waits for this write. Deliveries that come during a write go with the next one. */
const STORE_WINDOW_MS = 3;

/** With more deliveries waiting, the ledger has fallen behind, and the receiver asks the sender to retry later. */
const MAX_WAITING = 5_000;

/** No sender waits for this write: one statement for this period costs a tenth of a statement for each delivery. */
const APPLY_WINDOW_MS = 200;

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
  const batcher = new Batcher<RecordDelivery, void>({
    keyOf: ({ sha256 }) => sha256,
    isOutage: isLedgerAway,
    async write(deliveries) {
      try {
        await store(deliveries);
      } catch (error) {
        onFailure(error, deliveries.length);
        throw error;
      }
      // The deliveries are stored, so an error of the listener must not count as a failed write.
      try {
        onStored(deliveries);
      } catch (error) {
        onFailure(error, 0);
      }
      return new Map<string, void>();
    },
    windowMs: STORE_WINDOW_MS,
    writers: 1,
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
  const batcher = new Batcher<string, void>({
    keyOf: (serviceId) => serviceId,
    isOutage: isLedgerAway,
    async write(serviceIds) {
      onApplied(await apply(serviceIds));
      return new Map<string, void>();
    },
    windowMs: APPLY_WINDOW_MS,
    writers: 1,
  });
  return {
    add(deliveries: readonly RecordDelivery[]): void {
      const ids = deliveries.flatMap(({ event }) =>
        event?.verdict && event.serviceId !== null ? [event.serviceId] : [],
      );
      if (ids.length === 0) return;
      batcher.submit([...new Set(ids)]).catch((error: unknown) =>
        log.warn('Stored deliveries could not be applied now; their pages will', {
          deliveries: ids.length,
          error: error instanceof Error ? error.name : 'unknown',
        }),
      );
    },
    /** Resolves when no delivery waits to be applied any more. */
    idle: () => batcher.idle(),
  };
}
