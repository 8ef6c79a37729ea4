import { PROFILE_CONTRADICTION } from '../../src/domain/circuit-reasons.ts';
import type { Reason } from '../../src/domain/invoice.ts';
import type { Ledger } from '../../src/domain/ports/ledger/ledger.ts';

/** For so long a process goes by what it has read of a stop that another one may have written, in milliseconds. */
const READ_EVERY_MS = 1_000;

/** Where the stop is written, and for which service. */
export interface ContradictionStopDeps {
  readonly ledger: Pick<Ledger, 'breaker' | 'openBreaker' | 'noteMisfits'>;
  readonly baseUrl: string;
  /** A start with a profile of this digest does not end the stop. */
  readonly profileDigest: string;
  /** The command by which an operator says that the profile is right. */
  readonly confirmCommand: string;
  readonly log: { error(message: string, fields?: Record<string, unknown>): void };
  readonly now: () => number;
}

/** The stop of everything while the words of the profile contradict each other. */
export interface ContradictionStop {
  /**
   * Nothing counts in this process from now on, and in no other one a second after the promise has resolved. `found` says what was found and what to
   * correct; the first one stands.
   */
  raise(found: string, invoices: Iterable<string>): Promise<void>;
  /** Whether no word of the service counts now: this process has raised the stop, or another one has. */
  isRaised(): boolean | Promise<boolean>;
  /** Why this process has raised the stop, also before the others know; null: it has not. */
  raisedHere(): Reason | null;
}

/** Makes the stop of one process. What it has raised stands until it starts again, because it goes on reading by the same profile. */
export function createContradictionStop(deps: ContradictionStopDeps): ContradictionStop {
  return new Stop(deps);
}

class Stop implements ContradictionStop {
  readonly #deps: ContradictionStopDeps;
  #found: { readonly message: string; readonly at: number } | null = null;
  #isWritten = false;
  #writing: Promise<void> | null = null;
  #read: { readonly at: number; readonly isRaised: boolean | Promise<boolean> } | null = null;

  constructor(deps: ContradictionStopDeps) {
    this.#deps = deps;
  }

  async raise(found: string, invoices: Iterable<string>): Promise<void> {
    if (this.#found === null) {
      const message = `${found} Then start Lote again. Until then nothing is sent and nothing is settled. If the profile is right all the same, use \`${this.#deps.confirmCommand}\` before the start.`;
      this.#found = { message, at: this.#deps.now() };
      this.#deps.log.error(message, { invoices: [...invoices] });
    }
    await this.#write(this.#found);
  }

  isRaised(): boolean | Promise<boolean> {
    if (this.#found !== null) return this.#isWritten || this.#write(this.#found).then(() => true);
    const at = this.#deps.now();
    // Below zero: the clock was set back.
    const age = at - (this.#read?.at ?? -Infinity);
    if (this.#read !== null && age >= 0 && age < READ_EVERY_MS) return this.#read.isRaised;
    const read = { at, isRaised: this.#readBreaker() };
    this.#read = read;
    read.isRaised.then(
      (isRaised) => this.#read === read && (this.#read = { at, isRaised }),
      // Whoever asked has the error; the next one reads anew.
      () => this.#read === read && (this.#read = null),
    );
    return read.isRaised;
  }

  raisedHere(): Reason | null {
    return this.#found === null ? null : { code: PROFILE_CONTRADICTION, message: this.#found.message };
  }

  /** A ledger that was away is asked again by whoever comes next, until the others know. */
  async #write({ message, at }: { readonly message: string; readonly at: number }): Promise<void> {
    if (this.#isWritten) return;
    await (this.#writing ??= this.#writeBoth({ code: PROFILE_CONTRADICTION, message }, at).finally(
      () => (this.#writing = null),
    ));
    this.#isWritten = true;
  }

  /** Whose profile it is comes first: a process that starts between the two must not end the stop. */
  async #writeBoth(reason: Reason, at: number): Promise<void> {
    const { ledger, baseUrl, profileDigest } = this.#deps;
    await ledger.noteMisfits(profileDigest, [{ ...reason, times: 1, at }]);
    await ledger.openBreaker({ baseUrl, reason, openedAt: at, probeAfter: at });
  }

  async #readBreaker(): Promise<boolean> {
    const { ledger, baseUrl } = this.#deps;
    const isRaised = (await ledger.breaker(baseUrl))?.reason.code === PROFILE_CONTRADICTION;
    // It may have been raised while the answer was on its way.
    return isRaised || this.#found !== null;
  }
}
