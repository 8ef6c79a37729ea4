import type { ActivityDeps } from '../deps.ts';
import type { Reason } from '../../src/domain/invoice.ts';
import type { FreezeInvoice, SendableInvoice } from '../../src/ledger/sending/sending.ts';

/**
 * Number of invoices that one write freezes while the previous portion is sent. Small: a slice starts sending after its first portion, a
 * crash leaves few invoices that may have been sent, and a stop puts few back. A statement costs as much as ten of its rows.
 */
const PORTION = 250;

/** An invoice whose bytes are committed, so it may be POSTed. */
export interface FrozenInvoice {
  readonly invoice: SendableInvoice;
  readonly body: string;
}

/** Supplies the invoices of one slice in order, and freezes each shortly before its turn. */
export class FrozenSupply {
  readonly #deps: ActivityDeps;
  readonly #batchId: string;
  /** Invoices whose freezing has not begun. */
  readonly #waiting: SendableInvoice[];
  #ready: FrozenInvoice[] = [];
  /** The portion after `#ready`. */
  #coming: { readonly invoices: readonly SendableInvoice[]; readonly frozen: Promise<FrozenInvoice[]> } | null = null;
  #takenElsewhere = 0;
  readonly #invoices = this.#eachInvoice();

  constructor(deps: ActivityDeps, batchId: string, sendable: readonly SendableInvoice[]) {
    this.#deps = deps;
    this.#batchId = batchId;
    this.#waiting = [...sendable];
  }

  /** Returns the next invoice, or null at the end. */
  async take(): Promise<FrozenInvoice | null> {
    return (await this.#invoices.next()).value ?? null;
  }

  /**
   * Ends the supply. `idle` are the invoices to put back: this slice froze them, or took them in the state `sending`. `others`
   * counts those that are still `staged` or that another attempt froze at this moment; the next round reads their state.
   */
  async end(): Promise<{ readonly idle: readonly SendableInvoice[]; readonly others: number }> {
    const coming = await this.#coming?.frozen.catch(() => null);
    // No POST of a portion that failed to freeze has left, unless another attempt froze it. The caller gets the error.
    const failed = coming === null ? (this.#coming?.invoices ?? []) : [];
    const frozen = [...this.#ready, ...(coming ?? [])].map(({ invoice }) => invoice);
    const unfrozen = [...failed, ...this.#waiting];
    const sending = unfrozen.filter(({ state }) => state === 'sending');
    return { idle: [...frozen, ...sending], others: unfrozen.length - sending.length + this.#takenElsewhere };
  }

  async *#eachInvoice(): AsyncGenerator<FrozenInvoice, undefined> {
    for (this.#freezeNext(); this.#coming !== null;) {
      this.#ready = await this.#coming.frozen;
      this.#freezeNext();
      for (let next = this.#ready.shift(); next !== undefined; next = this.#ready.shift()) yield next;
    }
  }

  #freezeNext(): void {
    const invoices = this.#waiting.splice(0, PORTION);
    this.#coming = invoices.length === 0 ? null : { invoices, frozen: this.#freeze(invoices) };
    // Avoids an unhandled rejection.
    this.#coming?.frozen.catch(() => undefined);
  }

  async #freeze(portion: readonly SendableInvoice[]): Promise<FrozenInvoice[]> {
    const bodies = await freezeBodies(this.#deps, this.#batchId, portion);
    this.#takenElsewhere += portion.length - bodies.size;
    return portion.flatMap((invoice) => {
      const body = bodies.get(invoice.invoiceId);
      return body === undefined ? [] : [{ invoice, body }];
    });
  }
}

/**
 * Puts back invoices that a slice took but never POSTed; otherwise each would count as a try that may have arrived. An invoice that this
 * slice froze is staged again. One that was `sending` after tries that provably failed stays so, and one that may exist stays so, too.
 */
export async function putBack(
  { ledger, now }: Pick<ActivityDeps, 'ledger' | 'now'>,
  batchId: string,
  { idle, reason }: { readonly idle: readonly SendableInvoice[]; readonly reason: Reason },
): Promise<void> {
  const at = now();
  await ledger.unfreeze(
    batchId,
    idle.filter(({ state }) => state === 'staged'),
    { reason, now: at },
  );
  const untouched = idle.filter(({ state, mayExist }) => state === 'sending' && !mayExist);
  if (untouched.length === 0) return;
  await ledger.recordSends(
    untouched.map(({ invoiceId, generation, idempotencyKey }) => ({
      ...{ invoiceId, generation, idempotencyKey, sentAt: at, attempts: 0 },
      outcome: { kind: 'pending', reason, mayExist: false },
    })),
  );
}

const NOT_NOTED: Reason = {
  code: 'not-sent-yet',
  message: 'Not sent yet: what was sent before must be known first.',
};

/** Returns whether an invoice has frozen bytes or can get them. Only an invoice without bytes needs the id of its merchant. */
export function canHaveBytes({ state, body, merchantId, earlier }: SendableInvoice): boolean {
  return merchantId !== null || ((state === 'sending' || earlier !== null) && body !== null);
}

/** Freezes bytes before the first send and never rebuilds them. An invoice whose merchant has no id gets none. */
export async function freezeBodies(
  deps: ActivityDeps,
  batchId: string,
  sendable: readonly SendableInvoice[],
): Promise<ReadonlyMap<number, string>> {
  const bodies = new Map<number, string>();
  const fresh: FreezeInvoice[] = [];
  for (const { invoice, merchantId, state, mayExist, earlier, ...known } of sendable) {
    const { invoiceId, generation, body, mayExistSince } = known;
    const since = mayExist ? { mayExistSince } : {};
    if (state === 'sending' && body !== null) bodies.set(invoiceId, body);
    else if (earlier !== null) {
      if (body !== null) fresh.push({ invoiceId, generation, body, frozenAt: mayExistSince, ...since });
    } else if (merchantId !== null)
      fresh.push({ invoiceId, generation, ...since, body: deps.service.invoiceBody(invoice, merchantId) });
  }
  const frozen = new Set(await deps.ledger.freeze(batchId, fresh, deps.now()));
  for (const { invoiceId, body } of fresh) if (frozen.has(invoiceId)) bodies.set(invoiceId, body);
  try {
    // Includes bytes frozen before: the attempt that froze them may have ended before it noted the sends.
    await deps.noteSends(sendable.filter(({ invoiceId }) => bodies.has(invoiceId)));
  } catch (error) {
    const put = sendable.filter(({ invoiceId }) => frozen.has(invoiceId));
    await deps.ledger.unfreeze(batchId, put, { reason: NOT_NOTED, now: deps.now() });
    throw error;
  }
  return bodies;
}
