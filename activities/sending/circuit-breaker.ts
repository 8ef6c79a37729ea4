import type { Reason } from '../../src/domain/invoice.ts';
import type { Ledger } from '../../src/domain/ports/ledger.ts';

/** Trouble without a success between that makes it the service's trouble, not an invoice's. */
const TROUBLE_IN_A_ROW = 20;
const FIRST_PROBE_MS = 5_000;
const LONGEST_PROBE_MS = 60_000;
/** Longer than any request may take: a probe without a result has died by then. */
const PROBE_TURN_MS = 60_000;

/** Trouble of the whole service: the page sleeps for that long, and then asks again. */
export interface Waiting {
  /** Stable code of the reason, free of personal data. */
  readonly reason: string;
  readonly probeAfterMs: number;
}

export type Entry =
  | { readonly kind: 'allowed' }
  /** The time of the next probe has come, and no other slice probes: send one invoice alone. */
  | { readonly kind: 'probe' }
  | { readonly kind: 'refused'; readonly waiting: Waiting };

/** Circuit breaker of one base address, shared over all processes through the ledger. Times are epoch milliseconds. */
export interface CircuitBreaker {
  /** Called before a slice hands anything out. Of all slices of all workers exactly one gets the probe. */
  enter(): Promise<Entry>;
  /** Why nothing more may be sent now; null: go on. */
  refusedBecause(): Reason | null;
  /** A probe that had nothing to send gives its turn back. */
  giveBack(): Promise<void>;
  succeeded(sentAt: number): Promise<void>;
  /** One more answer that is no answer; opens the breaker when there were too many in a row. */
  troubled(reason: Reason, sentAt: number): Promise<void>;
  /** The service does not let us in at all: 401, redirect, a run of 403s. Opens the breaker at once. */
  trip(reason: Reason, sentAt: number): Promise<void>;
}

interface CircuitBreakerDeps {
  readonly ledger: Pick<Ledger, 'breaker' | 'openBreaker' | 'closeBreaker' | 'claimProbe'>;
  readonly baseUrl: string;
  readonly now: () => number;
}

/**
 * The circuit breaker of one base address; its state is a row of the ledger, so that every worker sees it.
 *
 * An answer counts by the moment its request left: what was on the wire when the breaker opened neither opens it a second time nor proves
 * that the trouble is over.
 */
export function createCircuitBreaker({ ledger, baseUrl, now }: CircuitBreakerDeps): CircuitBreaker {
  let troubles = 0;
  let openings = 0;
  let closed: { readonly at: number; readonly reason: Reason } | null = null;
  /**
   * Writes of this process to the row. A read that comes meanwhile waits for them, so that it does not see the old row.
   */
  let written: Promise<void> = Promise.resolve();

  function write(work: () => Promise<void>): Promise<void> {
    written = written.catch(() => undefined).then(work);
    return written;
  }

  async function trip(reason: Reason, sentAt: number): Promise<void> {
    if (closed !== null && sentAt <= closed.at) return;
    const at = now();
    closed = { at, reason };
    troubles = 0;
    const wait = Math.min(FIRST_PROBE_MS * 2 ** openings, LONGEST_PROBE_MS);
    openings += 1;
    await write(() => ledger.openBreaker({ baseUrl, reason, openedAt: at, probeAfter: at + wait }));
  }

  return {
    async enter() {
      await written.catch(() => undefined);
      const knownBefore = closed;
      const record = await ledger.breaker(baseUrl);
      if (record === null) {
        // Unless this process has opened it while the answer was on its way.
        if (closed !== knownBefore && closed !== null) return waitFor(closed.reason, FIRST_PROBE_MS);
        closed = null;
        return { kind: 'allowed' };
      }
      closed ??= { at: record.openedAt, reason: record.reason };
      const time = now();
      if (record.probeAfter > time) return waitFor(record.reason, record.probeAfter - time);
      if (await ledger.claimProbe(baseUrl, { now: time, until: time + PROBE_TURN_MS })) return { kind: 'probe' };
      // Another slice probes at this moment, and its answer is soon known.
      return waitFor(record.reason, FIRST_PROBE_MS);
    },
    refusedBecause: () => closed?.reason ?? null,
    async giveBack() {
      const record = await ledger.breaker(baseUrl);
      if (record === null) return;
      const { reason, openedAt } = record;
      await write(() => ledger.openBreaker({ baseUrl, reason, openedAt, probeAfter: now() }));
    },
    async succeeded(sentAt) {
      troubles = 0;
      if (closed === null) {
        openings = 0;
        return;
      }
      if (sentAt <= closed.at) return;
      openings = 0;
      closed = null;
      await write(() => ledger.closeBreaker(baseUrl));
    },
    async troubled(reason, sentAt) {
      troubles += 1;
      if (troubles >= TROUBLE_IN_A_ROW || closed !== null) await trip(reason, sentAt);
    },
    trip,
  };
}

function waitFor(reason: Reason, probeAfterMs: number): Entry {
  return { kind: 'refused', waiting: { reason: reason.code, probeAfterMs } };
}
