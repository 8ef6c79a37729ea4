import { createSemaphore, type Semaphore } from '../../concurrency/semaphore.ts';

/** Renewed this often: a worker that joins has its share after two of these, or when what others have on the wire beyond theirs is answered. */
const RENEW_MS = 1_000;
/** A process that died gives its share back after this. */
export const SLOTS_TTL_MS = 10_000;
/**
 * Looks without a request, one second apart, of which the next one gives the share back: where the service takes fewer
 * requests at a time than there are processes, one that has nothing to ask keeps the others out for so long. To lease a
 * share costs as much as to renew it.
 */
const IDLE_LOOKS = 1;

export interface LeasedSlotsOptions {
  /** This process's share at the moment; `held` is what it may still use until it hears of a smaller one. */
  readonly lease: (held: number) => Promise<number>;
  readonly release: () => Promise<void>;
}

/** Semaphore with as many permits as this process's share in the ledger. `close` gives the share back. */
export interface LeasedSlots extends Pick<Semaphore, 'acquire' | 'tryAcquire'> {
  close(): Promise<void>;
}

/**
 * Concurrency of all processes together: each that has requests holds a share in the ledger, which shrinks when others
 * come and grows when they leave.
 */
export function createLeasedSlots({ lease, release }: LeasedSlotsOptions): LeasedSlots {
  const slots = createSemaphore(0);
  let timer: NodeJS.Timeout | null = null;
  let renewing: Promise<void> | null = null;
  let releasing: Promise<void> = Promise.resolve();
  let idleLooks = 0;
  let renewedAt = Number.NEGATIVE_INFINITY;
  let closed = false;

  async function renew(): Promise<void> {
    // A share that is being given back would take the new one with it.
    await releasing;
    try {
      giveUpLapsed();
      slots.resize(await lease(slots.inUseAtMost()));
      renewedAt = performance.now();
    } catch {
      giveUpLapsed();
    } finally {
      renewing = null;
    }
  }

  /** A share holds for as long as the ledger has promised it, and not longer: the ledger may have been away, or this process have stood still. */
  function giveUpLapsed(): void {
    if (performance.now() - renewedAt > SLOTS_TTL_MS) slots.resize(0);
  }

  function keepUp(): void {
    idleLooks = 0;
    if (timer !== null || closed) return;
    renewing ??= renew();
    timer = setInterval(look, RENEW_MS);
    timer.unref();
  }

  function look(): void {
    idleLooks = slots.isIdle() ? idleLooks + 1 : 0;
    if (idleLooks > IDLE_LOOKS && renewing === null) giveBack();
    else renewing ??= renew();
  }

  /** The next request asks for a share anew. */
  function giveBack(): void {
    if (timer === null) return;
    clearInterval(timer);
    timer = null;
    slots.resize(0);
    releasing = release().catch(() => undefined);
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
      await renewing;
      giveBack();
      await releasing;
    },
  };
}
