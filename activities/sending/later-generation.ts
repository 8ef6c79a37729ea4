import type { DeparturePermit } from '../../src/domain/ports/invoicing-service.ts';
import type { SendableInvoice, SendingLedger } from '../../src/domain/ports/ledger/sending-ledger.ts';

/** A POST of a later generation leaves no later than this after the ledger was asked for its invoice. */
const VALID_MS = 500;

/**
 * An earlier document of an invoice may be issued after all, and the ledger then stops the generation that is being sent. Most
 * invoices have no earlier document; before each POST of the others the ledger is asked once more.
 */
export function permitOfGeneration(
  { ledger, now }: { readonly ledger: Pick<SendingLedger, 'isBeingSent'>; readonly now: () => number },
  { invoiceId, generation }: Pick<SendableInvoice, 'invoiceId' | 'generation'>,
  permit: DeparturePermit,
): DeparturePermit {
  if (generation === 1) return permit;
  let asked = Number.NEGATIVE_INFINITY;
  return {
    withdrawn: permit.withdrawn,
    isValid: () => now() - asked <= VALID_MS && permit.isValid(),
    async confirm() {
      const at = now();
      if (!(await ledger.isBeingSent(invoiceId, generation))) return false;
      asked = at;
      return permit.confirm();
    },
  };
}
