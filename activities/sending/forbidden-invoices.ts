import type { Reason } from '../../src/domain/invoice.ts';
import type { ActivityDeps } from '../deps.ts';
import type { FencingToken } from '../../src/domain/records/batch-record.ts';
import type { SendableInvoice } from '../../src/ledger/sending/sending.ts';

/** Reason of an invoice that was answered with 403. */
export const REFUSED_ACCESS: Reason = { code: 'http-403', message: 'The service answered 403 Forbidden.' };

/** Of an answer that denies access: whether it is a 403, which the client tells apart from 401 by its code. */
export function isForbidden({ code }: Reason): boolean {
  return code === REFUSED_ACCESS.code;
}

const MERCHANT_FORBIDDEN: Reason = {
  code: 'merchant-forbidden',
  message:
    'The service answered 403 Forbidden to invoices of this merchant one after the other, and took others. This one was not sent: ask its support about the merchant, then drop the file again.',
};

/** They are refused by themselves, for others went through. What a lost answer left open stays unknown, whatever comes after it. */
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

/** Nothing more of these merchants goes out. What a slice leaves of them counts as left: the next round finds it gone. */
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

/** So many 403s without a success between are more than one invoice's trouble: the key's, or one merchant's. */
const FORBIDDEN_IN_A_ROW = 5;

/**
 * Decides, for the 403 answers of one slice, whether a single invoice, a merchant or the API key is refused. A single 403 while others succeed refuses that
 * invoice only; a run without a success between opens the circuit, unless all of it is one merchant's and there are others to ask.
 */
export class ForbiddenRun {
  /** How many the slice has. */
  readonly #merchants: number;
  readonly #heldBack = new Set<string>();
  #denied = false;
  #run: { readonly invoice: SendableInvoice; readonly answeredAt: number }[] = [];

  constructor(merchants: number) {
    this.#merchants = merchants;
  }

  /** One more 403. True: it is the key. */
  forbidden(invoice: SendableInvoice, answeredAt: number): boolean {
    // Those that were on the wire meanwhile are no more to blame than the first ones.
    if (this.#denied) return true;
    this.#run.push({ invoice, answeredAt });
    if (this.#run.length < FORBIDDEN_IN_A_ROW) return false;
    const concerned = new Set(this.#run.map((one) => merchantOf(one.invoice)));
    if (this.#merchants === 1 || concerned.size > 1) this.#deny();
    else this.#heldBack.add(merchantOf(invoice));
    return this.#denied;
  }

  /** Its merchant was refused so often that invoices of other merchants are sent first: their answers show whether it is the key. */
  isHeldBack(invoice: SendableInvoice): boolean {
    return this.#heldBack.has(merchantOf(invoice));
  }

  /** A success: what was forbidden before this request left is refused by itself. A later 403 may still be the key's. */
  succeeded(invoice: SendableInvoice, sentAt: number): readonly SendableInvoice[] {
    this.#heldBack.delete(merchantOf(invoice));
    return this.#take(({ answeredAt }) => answeredAt <= sentAt);
  }

  /** The slice is over. With successes in it, those that are left are refused by themselves; without any, it is the key. */
  end(successes: number): { readonly refused: readonly SendableInvoice[]; readonly accessDenied: boolean } {
    const accessDenied = this.#run.length > 0 && successes === 0;
    if (accessDenied) this.#deny();
    return { refused: this.#take(() => true), accessDenied };
  }

  /** Merchants that the service refuses, while it takes others' invoices: nothing more of theirs is worth a try. */
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
