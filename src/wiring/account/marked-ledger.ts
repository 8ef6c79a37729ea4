import { LoteError } from '../../domain/errors.ts';
import type { Reason } from '../../domain/invoice.ts';
import { OLDER_LEDGER } from '../../domain/retry-decision.ts';
import type { StageInvoice } from '../../domain/ports/ledger/batch-ledger.ts';
import type { Ledger } from '../../domain/ports/ledger/ledger.ts';
import type { SendingGuard } from './sending-guard.ts';

/**
 * The same ledger, which stages, hands out, retries and closes what is to be sent as the guard's gap has it, and notes in the guard what is frozen, before any of it is
 * POSTed. A step of sending freezes first, also where nothing is left to freeze, so that an attempt that ended between the two notes it now;
 * reconciliation takes first.
 */
export function markedLedger(ledger: Ledger, guard: SendingGuard | null): Ledger {
  if (guard === null) return ledger;
  const asInGap = async (reason: Reason): Promise<Reason> =>
    (await guard.openSince()) === null ? reason : mayHaveBeenSentAllTheSame(reason);
  return {
    ...ledger,
    async stageInvoices(claim, invoices, now) {
      const inGap = (await guard.openSince()) !== null;
      const staged = inGap ? invoices.map(inSendingGap) : invoices;
      return ledger.stageInvoices(claim, staged, now);
    },
    sendable: async (batchId, from, to) => ledger.sendable(batchId, from, to, await guard.openSince()),
    freeze: (...call) => freezeMarked(ledger, guard, call),
    async takeUnknown(...call) {
      const taken = await ledger.takeUnknown(...call);
      if (taken.length > 0) await guard.mark();
      return taken;
    },
    holdUnsent: async (batchId, hold) => ledger.holdUnsent(batchId, { ...hold, reason: await asInGap(hold.reason) }),
    async retryInvoices(request) {
      const inSendingGap = (await guard.openSince()) !== null;
      return ledger.retryInvoices({ ...request, policy: { ...request.policy, inSendingGap } });
    },
    async closePage(batchId, page, close) {
      const { unsent = close.reason, now, fencingToken } = close;
      const reason = await asInGap(unsent);
      if (reason !== unsent) await ledger.holdUnsent(batchId, { reason, page, now, fencingToken });
      await ledger.closePage(batchId, page, close);
    },
    endBatch: async (batchId, end) => ledger.endBatch(batchId, { ...end, unsent: await asInGap(end.unsent) }),
  };
}

/** What was handed out before the gap was known goes back unsent: the next attempt hands it out as what may exist. */
async function freezeMarked(
  ledger: Ledger,
  guard: SendingGuard,
  [batchId, items, now]: Parameters<Ledger['freeze']>,
): Promise<readonly number[]> {
  const frozen = await ledger.freeze(batchId, items, now);
  try {
    const since = await guard.mark();
    const isKnown = items.every(({ mayExistSince }) => typeof mayExistSince === 'number');
    if (since !== null && !isKnown) throw foundWhileSending();
  } catch (error) {
    const ids = new Set(frozen);
    const put = items.filter(({ invoiceId }) => ids.has(invoiceId));
    await ledger.unfreeze(batchId, put, { reason: PUT_BACK, now });
    throw error;
  }
  return frozen;
}

const PUT_BACK: Reason = { code: 'not-sent-yet', message: 'Not sent yet: what was sent before must be known first.' };

function foundWhileSending(): LoteError {
  return new LoteError(
    'interlock',
    'Sending a slice: the ledger must know every invoice that was sent, but it lost some meanwhile. The slice stops, and what it has not sent yet is sent as what may have been sent before.',
  );
}

function mayHaveBeenSentAllTheSame({ message }: Reason): Reason {
  return {
    code: OLDER_LEDGER,
    message: `${message} The ledger is older than what was sent with it, so that this invoice may have been sent all the same: look into the reports of that time, or drop its file again while the service remembers its key.`,
  };
}

function inSendingGap(invoice: StageInvoice): StageInvoice {
  return invoice.kind === 'valid' ? { ...invoice, inSendingGap: true } : invoice;
}
