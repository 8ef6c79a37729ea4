import type { SendableInvoice } from '../../src/domain/ports/ledger/sending-ledger.ts';
import type { ActivityDeps } from '../deps.ts';
import { freezeBodies } from './freeze-bodies.ts';

/**
 * Invoices that are frozen in one write, while those of the portion before are sent: a slice sends from its first portion on, a crash leaves few
 * invoices that may have been sent, and a stop puts few back. A statement costs as much as ten of its rows.
 */
const PORTION = 250;

/** An invoice whose bytes are committed: it may be POSTed. */
export interface FrozenInvoice {
  readonly invoice: SendableInvoice;
  readonly body: string;
}

/** What a slice did not come to. */
export interface Leftover {
  /** Frozen by this slice, or handed out as a try that may have arrived: they are to be put back. */
  readonly idle: readonly SendableInvoice[];
  /** How many are still `staged`, or were frozen by another attempt in this moment: the next round sees what became of them. */
  readonly others: number;
}

interface Portion {
  readonly invoices: readonly SendableInvoice[];
  readonly frozen: Promise<readonly FrozenInvoice[]>;
}

/** The invoices of one slice in their order, each frozen shortly before its turn. */
export class FrozenSupply {
  readonly #deps: ActivityDeps;
  readonly #batchId: string;
  /** Whose freezing has not begun. */
  readonly #waiting: SendableInvoice[];
  #ready: readonly FrozenInvoice[] = [];
  #taken = 0;
  #takenElsewhere = 0;
  /** The portion after those that are ready; null: its freezing has not begun. */
  #coming: Portion | null = null;
  #loading: Promise<void> | null = null;

  constructor(deps: ActivityDeps, batchId: string, sendable: readonly SendableInvoice[]) {
    this.#deps = deps;
    this.#batchId = batchId;
    this.#waiting = [...sendable];
  }

  /** The next invoice; null: none is left. A promise only where it is still being frozen. */
  take(): FrozenInvoice | null | Promise<FrozenInvoice | null> {
    return this.#takeReady() ?? this.#takeOfNext();
  }

  /** Ends the supply: nothing is taken any more. */
  async end(): Promise<Leftover> {
    const coming = await this.#coming?.frozen.catch(() => null);
    // Nothing of a portion that could not be frozen has left, and whoever takes from it hears why. Whether another attempt froze it is not known.
    const failed = coming === null ? (this.#coming?.invoices ?? []) : [];
    const frozen = [...this.#ready.slice(this.#taken), ...(coming ?? [])].map(({ invoice }) => invoice);
    const unfrozen = [...failed, ...this.#waiting];
    const sending = unfrozen.filter(({ state }) => state === 'sending');
    return { idle: [...frozen, ...sending], others: unfrozen.length - sending.length + this.#takenElsewhere };
  }

  #takeReady(): FrozenInvoice | null {
    const one = this.#ready[this.#taken] ?? null;
    if (one !== null) this.#taken += 1;
    return one;
  }

  async #takeOfNext(): Promise<FrozenInvoice | null> {
    for (;;) {
      const one = this.#takeReady();
      if (one !== null) return one;
      if (this.#coming === null && this.#waiting.length === 0) return null;
      // oxlint-disable-next-line no-await-in-loop
      await (this.#loading ??= this.#load());
    }
  }

  async #load(): Promise<void> {
    this.#coming ??= this.#freezeNext();
    try {
      this.#ready = await this.#coming.frozen;
      this.#taken = 0;
      this.#coming = this.#waiting.length === 0 ? null : this.#freezeNext();
    } finally {
      this.#loading = null;
    }
  }

  #freezeNext(): Portion {
    const invoices = this.#waiting.splice(0, PORTION);
    const frozen = this.#freeze(invoices);
    // Nobody may wait for it yet.
    frozen.catch(() => undefined);
    return { invoices, frozen };
  }

  async #freeze(portion: readonly SendableInvoice[]): Promise<readonly FrozenInvoice[]> {
    const bodies = await freezeBodies(this.#deps, this.#batchId, portion);
    this.#takenElsewhere += portion.length - bodies.size;
    return portion.flatMap((invoice) => {
      const body = bodies.get(invoice.invoiceId);
      return body === undefined ? [] : [{ invoice, body }];
    });
  }
}
