import type { SendableInvoice } from '../src/domain/ports/ledger.ts';

/** So many 403s without a success between are the key's trouble, not the invoices'. */
const FORBIDDEN_IN_A_ROW = 5;

export interface ForbiddenRun {
  /** One more 403. `shut`: it is the key. */
  forbidden(invoice: SendableInvoice, answeredAt: number): 'undecided' | 'shut';
  /** A success: what was forbidden before this request left is refused by itself. */
  succeeded(sentAt: number): readonly SendableInvoice[];
  /** The slice is over. With successes in it, the few that are left are refused by themselves; without any, it is the key. */
  end(successes: number): { readonly refused: readonly SendableInvoice[]; readonly shut: boolean };
}

/** A single 403 while others succeed refuses that invoice only; a run without a success between shuts the door (DESIGN, Sending). */
export function createForbiddenRun(): ForbiddenRun {
  let isShut = false;
  let run: { readonly invoice: SendableInvoice; readonly answeredAt: number }[] = [];

  function take(which: (one: (typeof run)[number]) => boolean): readonly SendableInvoice[] {
    const taken = run.filter(which);
    run = run.filter((one) => !which(one));
    return taken.map(({ invoice }) => invoice);
  }

  return {
    forbidden(invoice, answeredAt) {
      // Those that were on the wire meanwhile are no more to blame than the first ones.
      if (!isShut) run.push({ invoice, answeredAt });
      isShut ||= run.length >= FORBIDDEN_IN_A_ROW;
      if (isShut) run = [];
      return isShut ? 'shut' : 'undecided';
    },
    // A success that was on the wire before the 403 came proves nothing about the key after it.
    succeeded: (sentAt) => (run.length === 0 ? [] : take(({ answeredAt }) => answeredAt <= sentAt)),
    end(successes) {
      if (run.length === 0) return { refused: [], shut: false };
      const left = take(() => true);
      return successes > 0 ? { refused: left, shut: false } : { refused: [], shut: true };
    },
  };
}
