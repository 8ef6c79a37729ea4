import type { SendableInvoice } from '../../src/domain/ports/ledger/sending-ledger.ts';

/** So many 403s without a success between are more than one invoice's trouble: the key's, or one merchant's. */
const FORBIDDEN_IN_A_ROW = 5;

/** Decides, for the 403 answers of one slice, whether a single invoice, a merchant or the API key is refused. */
export interface ForbiddenRun {
  /** One more 403. `access-denied`: it is the key. */
  forbidden(invoice: SendableInvoice, answeredAt: number): 'undecided' | 'access-denied';
  /**
   * Its merchant was refused so often that invoices of other merchants are sent first: their answers show whether it is
   * the key.
   */
  isHeldBack(invoice: SendableInvoice): boolean;
  /** A success: what was forbidden before this request left is refused by itself. */
  succeeded(invoice: SendableInvoice, sentAt: number): readonly SendableInvoice[];
  /** The slice is over. With successes in it, those that are left are refused by themselves; without any, it is the key. */
  end(successes: number): { readonly refused: readonly SendableInvoice[]; readonly accessDenied: boolean };
  /** Merchants that the service refuses, while it takes others' invoices: nothing more of theirs is worth a try. */
  refusedMerchants(): readonly string[];
}

/**
 * A single 403 while others succeed refuses that invoice only; a run without a success between opens the circuit, unless all of it
 * is one merchant's and there are others to ask. `merchants`: how many the slice has.
 */
export function createForbiddenRun(merchants: number): ForbiddenRun {
  let denied = false;
  let run: { readonly invoice: SendableInvoice; readonly answeredAt: number }[] = [];
  const heldBack = new Set<string>();

  function take(which: (one: (typeof run)[number]) => boolean): readonly SendableInvoice[] {
    const taken = run.filter(which);
    run = run.filter((one) => !which(one));
    return taken.map(({ invoice }) => invoice);
  }

  function deny(): void {
    denied = true;
    run = [];
    heldBack.clear();
  }

  return {
    forbidden(invoice, answeredAt) {
      // Those that were on the wire meanwhile are no more to blame than the first ones.
      if (denied) return 'access-denied';
      run.push({ invoice, answeredAt });
      if (run.length < FORBIDDEN_IN_A_ROW) return 'undecided';
      const concerned = new Set(run.map((one) => merchantOf(one.invoice)));
      if (merchants === 1 || concerned.size > 1) deny();
      else heldBack.add(merchantOf(invoice));
      return denied ? 'access-denied' : 'undecided';
    },
    isHeldBack: (invoice) => heldBack.has(merchantOf(invoice)),
    // A success that was on the wire before the 403 came proves nothing about the key after it.
    succeeded(invoice, sentAt) {
      heldBack.delete(merchantOf(invoice));
      return run.length === 0 ? [] : take(({ answeredAt }) => answeredAt <= sentAt);
    },
    end(successes) {
      if (run.length === 0) return { refused: [], accessDenied: false };
      if (successes > 0) return { refused: take(() => true), accessDenied: false };
      deny();
      return { refused: [], accessDenied: true };
    },
    refusedMerchants: () => [...heldBack],
  };
}

function merchantOf({ invoice }: SendableInvoice): string {
  return invoice.merchant.nif;
}
