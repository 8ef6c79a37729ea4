import { createSemaphore, type Semaphore } from '../../concurrency/semaphore.ts';

/** Renewed this often: a worker that joins waits as long for its share. */
const RENEW_MS = 1_000;
/** A process that died gives its share back after this. */
export const SLOTS_TTL_MS = 10_000;

export interface LeasedSlotsOptions {
  /** This process's share at the moment. */
  readonly lease: () => Promise<number>;
  readonly release: () => Promise<void>;
}

/** Semaphore with as many permits as this process's share in the ledger. `close` gives the share back. */
export interface LeasedSlots extends Pick<Semaphore, 'acquire' | 'tryAcquire'> {
  close(): Promise<void>;
}

/** Concurrency of all processes together: each holds a share in the ledger, which shrinks when others come and grows when they leave. */
export function createLeasedSlots({ lease, release }: LeasedSlotsOptions): LeasedSlots {
  const slots = createSemaphore(0);
  let timer: NodeJS.Timeout | null = null;
  let renewing: Promise<void> | null = null;
  let renewedAt = Number.NEGATIVE_INFINITY;
  let closed = false;

  async function renew(): Promise<void> {
    try {
      slots.resize(await lease());
      renewedAt = performance.now();
    } catch {
      // The ledger is away: the share holds for as long as the ledger has promised it, and not longer.
      if (performance.now() - renewedAt > SLOTS_TTL_MS) slots.resize(0);
    } finally {
      renewing = null;
    }
  }

  function keepUp(): void {
    if (timer !== null || closed) return;
    renewing ??= renew();
    timer = setInterval(() => {
      renewing ??= renew();
    }, RENEW_MS);
    timer.unref();
  }

  return {
    acquire(signal) {
      keepUp();
      return slots.acquire(signal);
    },
    tryAcquire() {
      keepUp();
      return slots.tryAcquire();
    },
    async close() {
      closed = true;
      if (timer !== null) clearInterval(timer);
      await renewing;
      if (timer !== null) await release().catch(() => undefined);
    },
  };
}
