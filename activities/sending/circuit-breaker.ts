import type { Reason } from '../../src/domain/invoice.ts';
import { LONGEST_PROBE_MS, isAhead } from '../../src/domain/time/instants.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';

/** After this many troubles without a success between them, the service itself is in trouble, not an invoice. */
const TROUBLE_IN_A_ROW = 20;
const FIRST_PROBE_MS = 5_000;
/** Longer than any request may take, so a probe without a result has died by then. */
const PROBE_TURN_MS = 60_000;

/** Trouble of the whole service. The page sleeps for `probeAfterMs` before it sends again. */
export interface Waiting {
  /** Stable code of the reason, free of personal data. */
  readonly reason: string;
  readonly probeAfterMs: number;
}

export type Entry =
  | { readonly kind: 'allowed' }
  /** The next probe is due and no other slice probes: send one invoice alone. */
  | { readonly kind: 'probe' }
  | { readonly kind: 'refused'; readonly waiting: Waiting };

interface CircuitBreakerDeps {
  readonly ledger: Pick<Ledger, 'breaker' | 'openBreaker' | 'closeBreaker' | 'claimProbe' | 'giveBackProbe'>;
  readonly baseUrl: string;
  readonly now: () => number;
}

/** When the breaker opened, and the reason. */
interface Opening {
  readonly at: number;
  readonly reason: Reason;
}

/**
 * The circuit breaker of one base address. Its state is a row of the ledger, so that every worker sees it. Times are epoch milliseconds.
 *
 * An answer counts by the moment its request left. A request from before the breaker opened neither opens it a second time nor proves
 * that the trouble is over.
 */
export class CircuitBreaker {
  readonly #deps: CircuitBreakerDeps;
  #troubles = 0;
  #openings = 0;
  #closed: Opening | null = null;
  /** The end of the last probe turn that this process got. It identifies the turn. */
  #turnUntil: number | null = null;
  /** Pending writes of this process to the row. A read waits for them, so that it does not see the old row. */
  #written: Promise<void> = Promise.resolve();

  constructor(deps: CircuitBreakerDeps) {
    this.#deps = deps;
  }

  /** A slice calls this before it takes invoices. Exactly one slice of all workers gets the probe. */
  async enter(): Promise<Entry> {
    await this.#written.catch(() => undefined);
    const knownBefore = this.#closed;
    const record = await this.#deps.ledger.breaker(this.#deps.baseUrl);
    const time = this.#deps.now();
    if (record === null) {
      // Closed, unless this process has opened it while the read was on its way.
      if (this.#closed !== knownBefore && this.#closed !== null) return waitFor(this.#closed.reason, FIRST_PROBE_MS);
      this.#closed = null;
      return { kind: 'allowed' };
    }
    this.#closed ??= { at: record.openedAt, reason: record.reason };
    // The opening time may be of a clock that ran ahead. Until that time, no answer would count and the probe would wait.
    if (isAhead(this.#closed.at, time)) this.#closed = { ...this.#closed, at: time - 1 };
    if (record.probeAfter > time && !isAhead(record.probeAfter, time + LONGEST_PROBE_MS))
      return waitFor(record.reason, record.probeAfter - time);
    const until = time + PROBE_TURN_MS;
    const isProbe = await this.#deps.ledger.claimProbe(this.#deps.baseUrl, { now: time, until });
    // Another slice probes at this moment, and its answer is soon known.
    if (!isProbe) return waitFor(record.reason, FIRST_PROBE_MS);
    this.#turnUntil = until;
    return { kind: 'probe' };
  }

  /** Returns why sending must stop, or null if it may continue. */
  refusedBecause(): Reason | null {
    return this.#closed?.reason ?? null;
  }

  /** Gives back the probe turn of a slice that had nothing to send. */
  async giveBack(): Promise<void> {
    const until = this.#turnUntil;
    if (until === null) return;
    this.#turnUntil = null;
    await this.#write(() => this.#deps.ledger.giveBackProbe(this.#deps.baseUrl, { now: this.#deps.now(), until }));
  }

  /** Records that the service works. Closes an open breaker. */
  async succeeded(sentAt: number): Promise<void> {
    this.#troubles = 0;
    if (this.#closed !== null && sentAt <= this.#closed.at) return;
    this.#openings = 0;
    if (this.#closed === null) return;
    this.#closed = null;
    await this.#write(() => this.#deps.ledger.closeBreaker(this.#deps.baseUrl));
  }

  /** Records trouble with the service. Opens the breaker after too many troubles in a row. */
  async troubled(reason: Reason, sentAt: number): Promise<void> {
    this.#troubles += 1;
    if (this.#troubles >= TROUBLE_IN_A_ROW || this.#closed !== null) await this.trip(reason, sentAt);
  }

  /** Opens the breaker at once, because the service denies all access: 401, redirect, a run of 403s. */
  async trip(reason: Reason, sentAt: number): Promise<void> {
    if (this.#closed !== null && sentAt <= this.#closed.at) return;
    const at = this.#deps.now();
    this.#closed = { at, reason };
    this.#troubles = 0;
    const wait = Math.min(FIRST_PROBE_MS * 2 ** this.#openings, LONGEST_PROBE_MS);
    this.#openings += 1;
    const open = { baseUrl: this.#deps.baseUrl, reason, openedAt: at, probeAfter: at + wait };
    await this.#write(() => this.#deps.ledger.openBreaker(open));
  }

  #write(work: () => Promise<void>): Promise<void> {
    this.#written = this.#written.catch(() => undefined).then(work);
    return this.#written;
  }
}

function waitFor(reason: Reason, probeAfterMs: number): Entry {
  return { kind: 'refused', waiting: { reason: reason.code, probeAfterMs } };
}
