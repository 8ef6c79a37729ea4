import type { Reason } from '../../src/domain/invoice.ts';
import type { ActivityDeps } from '../deps.ts';
import type { FencingToken } from '../../src/domain/records/batch-record.ts';
import type { SendableInvoice } from '../../src/ledger/sending/sending.ts';

/** Reason of an invoice that the service answered with 403. */
export const REFUSED_ACCESS: Reason = { code: 'http-403', message: 'The service answered 403 Forbidden.' };

/** Returns whether an answer that denies access is a 403. The client gives a 401 another code. */
export function isForbidden({ code }: Reason): boolean {
  return code === REFUSED_ACCESS.code;
}

const MERCHANT_FORBIDDEN: Reason = {
  code: 'merchant-forbidden',
  message:
    'The service answered 403 Forbidden to invoices of this merchant one after the other, and took others. This one was not sent: ask its support about the merchant, then drop the file again.',
};

/** Refuses only these invoices, because the service takes other ones. An invoice whose earlier answer was lost becomes unknown instead. */
export async function refuseForbidden(
  { ledger, now }: Pick<ActivityDeps, 'ledger' | 'now'>,
  invoices: readonly SendableInvoice[],
): Promise<void> {
  const sentAt = now();
  await ledger.recordSends(
    invoices.map(({ invoiceId, generation, mayExist }) => ({
      invoiceId,
      generation,
      attempts: 0,
      sentAt,
      outcome: { kind: mayExist ? 'unknown' : 'rejected', reason: REFUSED_ACCESS },
    })),
  );
}

/** Holds the unsent invoices of these merchants. A slice counts such invoices as left; the next round finds them held. */
export async function holdForbiddenMerchants(
  { ledger, now }: Pick<ActivityDeps, 'ledger' | 'now'>,
  { batchId, fencingToken }: { readonly batchId: string; readonly fencingToken?: FencingToken },
  merchantNifs: readonly string[],
): Promise<void> {
  for (const merchantNif of merchantNifs) {
    // oxlint-disable-next-line no-await-in-loop
    await ledger.holdUnsent(batchId, { reason: MERCHANT_FORBIDDEN, merchantNif, now: now(), fencingToken });
  }
}

/** This many 403s without a success between them concern the API key or a merchant, not a single invoice. */
const FORBIDDEN_IN_A_ROW = 5;

/**
 * Decides from the 403 answers of one slice whether the service refuses an invoice, a merchant or the API key. A single 403 among successes refuses
 * only that invoice. Several 403s in a row open the circuit, unless all of them have one merchant and the slice has other merchants to try.
 */
export class ForbiddenRun {
  /** Number of merchants in the slice. */
  readonly #merchants: number;
  readonly #heldBack = new Set<string>();
  #denied = false;
  #run: { readonly invoice: SendableInvoice; readonly answeredAt: number }[] = [];

  constructor(merchants: number) {
    this.#merchants = merchants;
  }

  /** Records a 403. Returns true if the API key is refused. */
  forbidden(invoice: SendableInvoice, answeredAt: number): boolean {
    // The key is refused, so the 403s of invoices that were on the wire meanwhile prove nothing about these invoices.
    if (this.#denied) return true;
    this.#run.push({ invoice, answeredAt });
    if (this.#run.length < FORBIDDEN_IN_A_ROW) return false;
    const concerned = new Set(this.#run.map((one) => merchantOf(one.invoice)));
    if (this.#merchants === 1 || concerned.size > 1) this.#deny();
    else this.#heldBack.add(merchantOf(invoice));
    return this.#denied;
  }

  /** True if a merchant was refused so often that other ones go first, to show whether the key is refused. */
  isHeldBack(invoice: SendableInvoice): boolean {
    return this.#heldBack.has(merchantOf(invoice));
  }

  /**
   * Records a success. Returns the invoices whose 403 came before its request left: only these are refused. A later 403 may concern the API key.
   */
  succeeded(invoice: SendableInvoice, sentAt: number): readonly SendableInvoice[] {
    this.#heldBack.delete(merchantOf(invoice));
    return this.#take(({ answeredAt }) => answeredAt <= sentAt);
  }

  /** Ends the run of 403s. If the slice had a success, only the invoices of the run are refused; otherwise the API key is refused. */
  end(successes: number): { readonly refused: readonly SendableInvoice[]; readonly accessDenied: boolean } {
    const accessDenied = this.#run.length > 0 && successes === 0;
    if (accessDenied) this.#deny();
    return { refused: this.#take(() => true), accessDenied };
  }

  /** Returns the merchants that the service refuses while other merchants pass. Lote sends no more of their invoices. */
  refusedMerchants(): readonly string[] {
    return [...this.#heldBack];
  }

  #take(which: (one: { readonly answeredAt: number }) => boolean): readonly SendableInvoice[] {
    const taken = this.#run.filter(which);
    if (taken.length > 0) this.#run = this.#run.filter((one) => !which(one));
    return taken.map(({ invoice }) => invoice);
  }

  #deny(): void {
    this.#denied = true;
    this.#run = [];
    this.#heldBack.clear();
  }
}

function merchantOf({ invoice }: SendableInvoice): string {
  return invoice.merchant.nif;
}
