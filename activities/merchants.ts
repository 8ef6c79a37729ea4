import { Context } from '@temporalio/activity';
import { merchantKeyOf } from '../src/domain/fingerprint.ts';
import type { Reason } from '../src/domain/invoice.ts';
import type { MerchantNeed } from '../src/domain/ports/ledger.ts';
import type { ActivityDeps } from './deps.ts';

export interface MerchantsInput {
  readonly ledgerId: string;
  readonly batchId: string;
  /** Patience is spent: what cannot be ensured now is held. */
  readonly lastTry: boolean;
}

export interface Waiting {
  /** Stable code of the reason, free of personal data. */
  readonly reason: string;
  readonly probeAfterMs: number;
}

export interface MerchantsResult {
  readonly known: number;
  readonly created: number;
  readonly held: number;
  readonly waiting: Waiting | null;
}

/** A service that is away is asked again after this; nothing has been sent yet, so there is no hurry. */
const PROBE_AFTER_MS = 15_000;

/**
 * Makes sure that every merchant of the batch exists at the service: the whole list is read first, and only a merchant
 * proved to be missing is created, under a key that is the same for ever.
 */
export async function ensureMerchants(
  deps: ActivityDeps,
  { batchId, lastTry }: MerchantsInput,
): Promise<MerchantsResult> {
  await deps.ensureWebhook();
  const needed = await deps.ledger.merchantsNeeded(batchId);
  if (needed.length === 0) return { known: 0, created: 0, held: 0, waiting: null };
  const list = await deps.service.listMerchants(Context.current().cancellationSignal);
  if (list.kind === 'unreadable') return wait(deps, { batchId, lastTry, reason: list.reason });

  const wanted = new Set(needed.map((need) => need.nif));
  const known = list.merchants.filter((merchant) => wanted.has(merchant.nif));
  await deps.ledger.saveMerchants(deps.application, known);
  const knownNifs = new Set(known.map((merchant) => merchant.nif));

  let created = 0;
  let held = 0;
  let waiting: Reason | null = null;
  for (const need of needed.filter(({ nif }) => !knownNifs.has(nif))) {
    const outcome = await createMerchant(deps, batchId, need);
    Context.current().heartbeat();
    if (outcome.kind === 'created') created += 1;
    else if (outcome.kind === 'held') held += outcome.invoices;
    else waiting = outcome.reason;
  }
  if (waiting !== null) return wait(deps, { batchId, lastTry, reason: waiting });
  return { known: known.length, created, held, waiting: null };
}

type Created = { kind: 'created' } | { kind: 'held'; invoices: number } | { kind: 'not-now'; reason: Reason };

async function createMerchant(deps: ActivityDeps, batchId: string, need: MerchantNeed): Promise<Created> {
  const { nif, legalName, email } = need;
  if (legalName === null || email === null) {
    const message =
      'The service does not know this merchant, and the file lacks its legal name or e-mail. Add merchant_legal_name and merchant_email and drop the file again.';
    return hold(deps, { batchId, nif, reason: { code: 'merchant-details-missing', message } });
  }
  const answer = await deps.service.createMerchant({ nif, legalName, email }, merchantKeyOf(deps.application, nif));
  if (answer.kind === 'created') {
    await deps.ledger.saveMerchants(deps.application, [{ nif, merchantId: answer.merchantId }]);
    return { kind: 'created' };
  }
  if (answer.kind === 'not-now') return { kind: 'not-now', reason: answer.reason };
  const message = `The service refused to create this merchant (${answer.reason.code}: ${answer.reason.message}). Its invoices were not sent.`;
  return hold(deps, { batchId, nif, reason: { code: 'merchant-refused', message } });
}

async function hold(
  deps: ActivityDeps,
  { batchId, nif, reason }: { batchId: string; nif: string; reason: Reason },
): Promise<Created> {
  const invoices = await deps.ledger.holdUnsent(batchId, { reason, merchantNif: nif, now: deps.now() });
  return { kind: 'held', invoices };
}

async function wait(
  deps: ActivityDeps,
  { batchId, lastTry, reason }: { batchId: string; lastTry: boolean; reason: Reason },
): Promise<MerchantsResult> {
  deps.log.warn('merchants cannot be ensured now', { batchId, reason: reason.code, lastTry });
  if (!lastTry)
    return { known: 0, created: 0, held: 0, waiting: { reason: reason.code, probeAfterMs: PROBE_AFTER_MS } };
  const held = await deps.ledger.holdUnsent(batchId, { reason, now: deps.now() });
  return { known: 0, created: 0, held, waiting: { reason: reason.code, probeAfterMs: PROBE_AFTER_MS } };
}
