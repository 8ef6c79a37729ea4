import type { ActivityDeps } from './deps.ts';

export interface CanaryInput {
  readonly ledgerId: string;
  readonly batchId: string;
  readonly fencingToken?: number | undefined;
}

/** Fewer answers than this say nothing of a batch of hundreds. */
const FEWEST_REFUSALS = 10;

/**
 * Every one of the first invoices was refused, and none was taken: something is wrong with the file as a whole, and the rest is held before it
 * goes the same way. A share of refusals is the failure budget's to judge. True when it held.
 */
export async function judgeCanary(deps: ActivityDeps, { batchId, fencingToken }: CanaryInput): Promise<boolean> {
  let refused = 0;
  let taken = 0;
  for (const { outcome, invoices } of await deps.ledger.countOutcomes(batchId)) {
    if (outcome === 'rejected') refused += invoices;
    if (['accepted', 'issued', 'failed', 'unsettled', 'sending', 'unknown'].includes(outcome)) taken += invoices;
  }
  if (taken > 0 || refused < FEWEST_REFUSALS) return false;
  const message = `The service refused all of the first ${refused} invoices. The rest was not sent: look at the refusals, then drop the file again, or use lote retry BATCH --state held.`;
  const held = await deps.ledger.holdUnsent(batchId, {
    reason: { code: 'first-invoices-refused', message },
    now: deps.now(),
    fencingToken,
  });
  deps.log.warn('the first invoices of a batch were all refused', { batchId, refused, held });
  return held > 0;
}
