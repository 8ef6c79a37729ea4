import type { SeenStatus } from '../../src/domain/ports/invoicing-service.ts';
import type { MisfitNotes } from './misfit-notes.ts';

const ISSUED_WITH_REASON = 'issued-with-reason';
const FAILED_WITHOUT_REASON = 'failed-without-reason';
/** Failed invoices without a reason, and none with one. */
const ENOUGH = 3;

/** Reasons at invoices that should have none, and the other way round. */
export interface ReasonSigns {
  /** True: an issued invoice has a reason, and failed ones have none. */
  note(serviceId: string, status: 'issued' | 'failed', seen: SeenStatus): boolean;
}

/**
 * Where the words for issued and failed are swapped in answers and events alike, or where no events come, nothing contradicts them. A reason of a failure at an
 * issued invoice, or none at failed ones, is the only sign;
 * both together leave no doubt.
 */
export function createReasonSigns(notes: MisfitNotes): ReasonSigns {
  const without = new Set<string>();
  let isGiven = false;
  let isIssuedWith = false;

  function issued({ why }: SeenStatus): void {
    if (why !== 'code') return;
    isIssuedWith = true;
    const message =
      'An invoice that invoice.issued calls issued has a reason of a failure at invoice.reasonCode: the words for issued and failed may be swapped in the service profile. Look at such an invoice at the service.';
    notes.note(ISSUED_WITH_REASON, message);
  }

  function failed(serviceId: string, { why }: SeenStatus): void {
    if (why !== null) {
      isGiven = true;
      return notes.clear(FAILED_WITHOUT_REASON);
    }
    if (isGiven) return;
    if (without.size < ENOUGH) without.add(serviceId);
    if (without.size < ENOUGH) return;
    const message =
      'Nothing stands at invoice.reasonCode and invoice.reasonMessage of invoices that invoice.failed calls failed: these places are wrong in the service profile, or the words for issued and failed are swapped. Look at such an invoice at the service.';
    notes.note(FAILED_WITHOUT_REASON, message);
  }

  return {
    note(serviceId, status, seen) {
      if (status === 'issued') issued(seen);
      else failed(serviceId, seen);
      return isIssuedWith && !isGiven && without.size >= ENOUGH;
    },
  };
}
