import type { ActivityDeps } from '../deps.ts';
import type { Reason } from '../../src/domain/invoice.ts';
import type { FreezeInvoice, SendableInvoice } from '../../src/ledger/sending/sending.ts';

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

/** The invoices of one slice in their order, each frozen shortly before its turn. */
export class FrozenSupply {
  readonly #deps: ActivityDeps;
  readonly #batchId: string;
  /** Whose freezing has not begun. */
  readonly #waiting: SendableInvoice[];
  #ready: FrozenInvoice[] = [];
  /** The portion after those that are ready. */
  #coming: { readonly invoices: readonly SendableInvoice[]; readonly frozen: Promise<FrozenInvoice[]> } | null = null;
  #takenElsewhere = 0;
  /** Shared by all that wait for the next portion. */
  #refilling: Promise<void> | null = null;

  constructor(deps: ActivityDeps, batchId: string, sendable: readonly SendableInvoice[]) {
    this.#deps = deps;
    this.#batchId = batchId;
    this.#waiting = [...sendable];
  }

  /** The next invoice; null: none is left. */
  async take(): Promise<FrozenInvoice | null> {
    while (this.#ready.length === 0) {
      if (this.#coming === null) this.#freezeNext();
      if (this.#coming === null) return null;
      // oxlint-disable-next-line no-await-in-loop -- a portion may have been frozen by another attempt
      await (this.#refilling ??= this.#refill());
    }
    return this.#ready.shift() ?? null;
  }

  /**
   * Ends the supply: nothing is taken any more. Returns what was frozen by this slice, or handed out as a try that may have arrived, and is to be put back;
   * and how many others are still `staged`, or were frozen by another attempt in this moment: the next round sees what became of them.
   */
  async end(): Promise<{ readonly idle: readonly SendableInvoice[]; readonly others: number }> {
    const coming = await this.#coming?.frozen.catch(() => null);
    // Nothing of a portion that could not be frozen has left, and the caller that takes from it gets the error. Whether another attempt froze it is not known.
    const failed = coming === null ? (this.#coming?.invoices ?? []) : [];
    const frozen = [...this.#ready, ...(coming ?? [])].map(({ invoice }) => invoice);
    const unfrozen = [...failed, ...this.#waiting];
    const sending = unfrozen.filter(({ state }) => state === 'sending');
    return { idle: [...frozen, ...sending], others: unfrozen.length - sending.length + this.#takenElsewhere };
  }

  async #refill(): Promise<void> {
    try {
      this.#ready = (await this.#coming?.frozen) ?? [];
      this.#freezeNext();
    } finally {
      this.#refilling = null;
    }
  }

  #freezeNext(): void {
    const invoices = this.#waiting.splice(0, PORTION);
    this.#coming = invoices.length === 0 ? null : { invoices, frozen: this.#freeze(invoices) };
    // It may not be awaited yet.
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
 * What a slice was handed and then POSTed nothing of. Without a word about it, it would count as a try that may have arrived. An invoice that this
 * slice froze itself is staged again; one that was `sending` before, after tries that provably failed, stays so; what may exist stays that.
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

/** It has its frozen bytes, or can get them: without its merchant's id it cannot, and what has them needs none any more. */
export function canHaveBytes({ state, body, merchantId, earlier }: SendableInvoice): boolean {
  return merchantId !== null || ((state === 'sending' || earlier !== undefined) && body !== null);
}

/** Bytes are frozen before the first send and never rebuilt; an invoice without a merchant's id cannot have bytes. */
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
    else if (earlier !== undefined) {
      if (body !== null) fresh.push({ invoiceId, generation, body, frozenAt: mayExistSince, ...since });
    } else if (merchantId !== null)
      fresh.push({ invoiceId, generation, ...since, body: deps.service.invoiceBody(invoice, merchantId) });
  }
  const frozen = new Set(await deps.ledger.freeze(batchId, fresh, deps.now()));
  for (const { invoiceId, body } of fresh) if (frozen.has(invoiceId)) bodies.set(invoiceId, body);
  try {
    // Also what was frozen before: the attempt that froze it may have ended before it was noted.
    await deps.noteSends(sendable.filter(({ invoiceId }) => bodies.has(invoiceId)));
  } catch (error) {
    const put = sendable.filter(({ invoiceId }) => frozen.has(invoiceId));
    await deps.ledger.unfreeze(batchId, put, { reason: NOT_NOTED, now: deps.now() });
    throw error;
  }
  return bodies;
}
