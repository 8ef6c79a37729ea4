import type { Reason } from '../../src/domain/invoice.ts';
import { LONGEST_PROBE_MS, WITHOUT_PROBE } from '../../src/domain/circuit-reasons.ts';
import { isAhead } from '../../src/domain/time/is-ahead.ts';
import type { Ledger } from '../../src/domain/ports/ledger/ledger.ts';

/** Trouble without a success between that makes it the service's trouble, not an invoice's. */
const TROUBLE_IN_A_ROW = 20;
const FIRST_PROBE_MS = 5_000;
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
  /** Null: the breaker was closed, and nothing is to be written. */
  succeeded(sentAt: number): Promise<void> | null;
  /** One more answer that is no answer; opens the breaker when there were too many in a row. */
  troubled(reason: Reason, sentAt: number): Promise<void>;
  /** The service does not let us in at all: 401, redirect, a run of 403s. Opens the breaker at once. */
  trip(reason: Reason, sentAt: number): Promise<void>;
}

interface CircuitBreakerDeps {
  readonly ledger: Pick<Ledger, 'breaker' | 'openBreaker' | 'closeBreaker' | 'claimProbe' | 'giveBackProbe'>;
  readonly baseUrl: string;
  readonly now: () => number;
}

/**
 * The circuit breaker of one base address; its state is a row of the ledger, so that every worker sees it.
 *
 * An answer counts by the moment its request left: what was on the wire when the breaker opened neither opens it a second time nor proves
 * that the trouble is over.
 */
export function createCircuitBreaker(deps: CircuitBreakerDeps): CircuitBreaker {
  return new LedgerBreaker(deps);
}

/** When the breaker opened, and why. */
interface Opening {
  readonly at: number;
  readonly reason: Reason;
}

class LedgerBreaker implements CircuitBreaker {
  readonly #ledger: CircuitBreakerDeps['ledger'];
  readonly #baseUrl: string;
  readonly #now: () => number;
  #troubles = 0;
  #openings = 0;
  #closed: Opening | null = null;
  /** The end of the last turn that this process got; a turn is known by it. */
  #turnUntil: number | null = null;
  /**
   * Writes of this process to the row. A read that comes meanwhile waits for them, so that it does not see the old row.
   */
  #written: Promise<void> = Promise.resolve();

  constructor({ ledger, baseUrl, now }: CircuitBreakerDeps) {
    this.#ledger = ledger;
    this.#baseUrl = baseUrl;
    this.#now = now;
  }

  async enter(): Promise<Entry> {
    await this.#written.catch(() => undefined);
    const knownBefore = this.#closed;
    const record = await this.#ledger.breaker(this.#baseUrl);
    if (record === null) return this.#enterClosed(knownBefore);
    const hasProbe = !WITHOUT_PROBE.has(record.reason.code);
    const time = this.#now();
    this.#closed ??= { at: record.openedAt, reason: record.reason };
    if (!hasProbe) return waitFor(record.reason, LONGEST_PROBE_MS);
    // A clock that ran ahead opened it: no answer of now would count, and the probe would wait for that time.
    if (isAhead(this.#closed.at, time)) this.#closed = { ...this.#closed, at: time - 1 };
    if (record.probeAfter > time && !isAhead(record.probeAfter, time + LONGEST_PROBE_MS))
      return waitFor(record.reason, record.probeAfter - time);
    const until = time + PROBE_TURN_MS;
    const isProbe = await this.#ledger.claimProbe(this.#baseUrl, { now: time, until });
    // Another slice probes at this moment, and its answer is soon known.
    if (!isProbe) return waitFor(record.reason, FIRST_PROBE_MS);
    this.#turnUntil = until;
    return { kind: 'probe' };
  }

  refusedBecause(): Reason | null {
    return this.#closed?.reason ?? null;
  }

  async giveBack(): Promise<void> {
    const until = this.#turnUntil;
    if (until === null) return;
    this.#turnUntil = null;
    await this.#write(() => this.#ledger.giveBackProbe(this.#baseUrl, { now: this.#now(), until }));
  }

  succeeded(sentAt: number): Promise<void> | null {
    this.#troubles = 0;
    if (this.#closed === null) {
      this.#openings = 0;
      return null;
    }
    if (sentAt <= this.#closed.at) return null;
    this.#openings = 0;
    this.#closed = null;
    return this.#write(() => this.#ledger.closeBreaker(this.#baseUrl));
  }

  async troubled(reason: Reason, sentAt: number): Promise<void> {
    this.#troubles += 1;
    if (this.#troubles >= TROUBLE_IN_A_ROW || this.#closed !== null) await this.trip(reason, sentAt);
  }

  async trip(reason: Reason, sentAt: number): Promise<void> {
    if (this.#closed !== null && sentAt <= this.#closed.at) return;
    const at = this.#now();
    this.#closed = { at, reason };
    this.#troubles = 0;
    const wait = Math.min(FIRST_PROBE_MS * 2 ** this.#openings, LONGEST_PROBE_MS);
    this.#openings += 1;
    const open = { baseUrl: this.#baseUrl, reason, openedAt: at, probeAfter: at + wait };
    await this.#write(() => this.#ledger.openBreaker(open));
  }

  /** No row: closed, unless this process has opened it while the answer was on its way. */
  #enterClosed(knownBefore: Opening | null): Entry {
    if (this.#closed !== knownBefore && this.#closed !== null) return waitFor(this.#closed.reason, FIRST_PROBE_MS);
    this.#closed = null;
    return { kind: 'allowed' };
  }

  #write(work: () => Promise<void>): Promise<void> {
    this.#written = this.#written.catch(() => undefined).then(work);
    return this.#written;
  }
}

function waitFor(reason: Reason, probeAfterMs: number): Entry {
  return { kind: 'refused', waiting: { reason: reason.code, probeAfterMs } };
}
