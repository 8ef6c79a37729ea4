import { merchantKeyOf } from '../../src/domain/fingerprint.ts';
import type { Reason } from '../../src/domain/invoice.ts';
import { isForbidden } from './forbidden-invoices.ts';
import type { Waiting } from './circuit-breaker.ts';
import type { SendingPermit } from './sending-permission.ts';
import type { BatchWork } from '../assert-ownership.ts';
import type { ActivityDeps } from '../deps.ts';
import { attemptOver, requireRunningWorker } from '../failure.ts';
import { takeRandom } from '../take-random.ts';
import type { MerchantNeed } from '../../src/ledger/operations/merchants.ts';
import type { ClaimingRun } from '../../src/domain/records/batch-record.ts';

export interface MerchantsInput extends BatchWork {
  /** The run that holds the batch's claim. */
  readonly run: ClaimingRun;
  /** The patience with the whole service is spent: hold everything unsent. */
  readonly lastTry: boolean;
  /** The patience with single merchants is spent: hold those that cannot be created now, and send the rest. */
  readonly holdStuck: boolean;
}

/** What a batch waits for. `service`: no merchant can be ensured now. `merchants`: some creations have no answer yet. */
export interface MerchantsWait {
  readonly for: 'service' | 'merchants';
  readonly reason: string;
}

/** Same limit as the activity: a process that stood still for longer creates nothing. */
const LONGEST_CREATING_MS = 30 * 60_000;
/** An operator has stopped the batch, or another run holds it, so Lote creates nothing for it. */
const STOPPED = 'sending-stopped';
/** While the service is away, a page whose merchants have lost their ids looks again after this time. */
const NEXT_LOOK_MS = 5_000;
/** With this profile, Lote cannot read the list of merchants, or cannot prove that it is complete. */
const LIST_UNREADABLE = 'service-list-unreadable';
/** After this many failures in a row Lote skips the rest: the service may be away, or the key lacks the right. */
const MOST_STUCK = 10;
/** Another file or an earlier refusal has used the key of this merchant with other bytes. This says nothing about the service as a whole. */
const KEY_USED = 'key-known-with-other-bytes';

/**
 * Makes sure that every merchant of the batch exists at the service. Lote reads the whole list each time and takes ids only from it,
 * because an invoice for the wrong merchant is worse than a late one. If an id changed or disappeared, Lote holds the merchant's invoices
 * until an operator confirms the service's list. Lote creates only merchants that are proved missing, always under the same key.
 * Returns what the batch waits for, or null.
 */
export async function ensureMerchants(deps: ActivityDeps, input: MerchantsInput): Promise<MerchantsWait | null> {
  await deps.ensureWebhook();
  const needed = await deps.ledger.merchantsNeeded(input.batchId);
  if (needed.length === 0) return null;
  const over = attemptOver();
  const list = await deps.service.listMerchants(over);
  requireRunningWorker(over);
  if (list.kind === 'unreadable') {
    if (list.reason.code === LIST_UNREADABLE) await deps.calibration.note(LIST_UNREADABLE, list.reason.message);
    return waitForService(deps, input, list.reason);
  }
  await deps.calibration.note(LIST_UNREADABLE, null);

  const ids = new Map(list.merchants.map(({ nif, merchantId }) => [nif, merchantId]));
  const listed = needed.map(({ nif }) => ({ nif, merchantId: ids.get(nif) ?? null }));
  const changed = new Set(await deps.ledger.saveMerchants(deps.application, listed));
  for (const nif of changed) await holdMerchant(deps, input, { nif, reason: idChanged(ids.has(nif)) });
  const missing = needed.filter(({ nif }) => !ids.has(nif) && !changed.has(nif));
  const { batchId, run } = input;
  const permit = deps.permission.request({ batch: { batchId, run }, lastsMs: LONGEST_CREATING_MS, over });
  try {
    return await createMissing(deps, { input, missing, permit });
  } finally {
    permit.close();
  }
}

function idChanged(isListed: boolean): Reason {
  const found = isListed
    ? 'The service lists this merchant under another id than earlier invoices were sent with'
    : 'The service took earlier invoices of this merchant, and does not list it any more';
  return {
    code: 'merchant-id-changed',
    message: `${found}. A wrong id would issue invoices for another merchant, so its invoices were not sent. Ask the support of the service. If its list is right, confirm it once and drop the file again: lote confirm-service`,
  };
}

/**
 * Looks for merchants whose ids disappeared while their batch is sent: `lote confirm-service` deletes the ids, and the list
 * of another batch may show that they changed. Returns what the page waits for, or null if the next round can send the rest.
 */
export async function findForgottenMerchants(
  deps: ActivityDeps,
  { ledgerId, batchId, fencingToken, run }: Omit<MerchantsInput, 'lastTry' | 'holdStuck'>,
): Promise<Waiting | null> {
  const work = { ledgerId, batchId, fencingToken, run };
  const waiting = await ensureMerchants(deps, { ...work, lastTry: false, holdStuck: false });
  if (waiting === null || waiting.for === 'merchants' || waiting.reason === STOPPED) return null;
  return { reason: waiting.reason, probeAfterMs: NEXT_LOOK_MS };
}

interface Creating {
  readonly input: MerchantsInput;
  readonly missing: readonly MerchantNeed[];
  readonly permit: SendingPermit;
}

/** A merchant that the service did not create now, and the reason. */
interface StuckMerchant {
  readonly nif: string;
  readonly reason: Reason;
}

async function createMissing(deps: ActivityDeps, work: Creating): Promise<MerchantsWait | null> {
  const { input, permit } = work;
  const over = attemptOver();
  let inARow = 0;
  const stuck: StuckMerchant[] = [];
  // In random order: if many merchants are stuck, each try begins with different ones and reaches those that can be created.
  for (const need of takeRandom(work.missing, work.missing.length, deps.random)) {
    requireRunningWorker(over);
    const last = inARow < MOST_STUCK ? undefined : stuck.at(-1);
    const outcome = await createMerchant(deps, work, need, last?.reason);
    if (outcome.kind === 'not-permitted') {
      requireRunningWorker(over);
      const stop = permit.stoppedBecause();
      if (stop !== null) return waitForService(deps, input, stop);
      return { for: 'service', reason: STOPPED };
    }
    if (outcome.kind === 'access-denied') return waitForService(deps, input, outcome.reason);
    if (outcome.kind === 'stuck') stuck.push({ nif: need.nif, reason: outcome.reason });
    if (outcome.kind === 'created' || (outcome.kind === 'stuck' && outcome.reason.code === KEY_USED)) inARow = 0;
    else if (outcome.kind === 'stuck') inARow += 1;
  }
  const [first] = stuck;
  if (first === undefined) return null;
  const trouble = stuck.find(({ reason }) => reason.code !== KEY_USED);
  // A batch without sendable invoices gains nothing by giving up these merchants soon.
  if (trouble !== undefined && !(await deps.ledger.hasSendable(input.batchId)))
    return waitForService(deps, input, trouble.reason);
  if (!input.holdStuck) return { for: 'merchants', reason: first.reason.code };
  for (const { nif, reason } of stuck) await holdMerchant(deps, input, { nif, reason: notCreated(reason) });
  return null;
}

type Created =
  | { readonly kind: 'created' | 'not-permitted' | 'held' }
  | { readonly kind: 'stuck' | 'access-denied'; readonly reason: Reason };

async function createMerchant(
  deps: ActivityDeps,
  { input, permit }: Creating,
  need: MerchantNeed,
  notAsked: Reason | undefined,
): Promise<Created> {
  const { nif, legalName, email } = need;
  if (legalName === null || email === null) {
    const message =
      'The service does not know this merchant, and the file lacks its legal name or e-mail. Add merchant_legal_name and merchant_email and drop the file again.';
    const reason = { code: 'merchant-details-missing', message };
    await holdMerchant(deps, input, { nif, reason });
    return { kind: 'held' };
  }
  if (notAsked !== undefined) return { kind: 'stuck', reason: notAsked };
  const key = merchantKeyOf(deps.application, nif);
  if (!(await permit.confirm())) return { kind: 'not-permitted' };
  const answer = await deps.service.createMerchant({ nif, legalName, email }, key, { permit });
  if (answer.kind === 'not-permitted') return answer;
  if (answer.kind === 'created') {
    await deps.ledger.saveMerchants(deps.application, [{ nif, merchantId: answer.merchantId }]);
    return { kind: 'created' };
  }
  if (answer.kind === 'not-now') return { kind: 'stuck', reason: answer.reason };
  // A 401 or a redirect concerns the account; a 403 may concern this merchant alone.
  if (answer.kind === 'access-denied' && isForbidden(answer.reason)) {
    const { code, message: said } = answer.reason;
    return {
      kind: 'stuck',
      reason: { code, message: `${said}; ask its support whether the API key may create merchants` },
    };
  }
  if (answer.kind !== 'refused') return { kind: 'access-denied', reason: answer.reason };
  const message = `The service refused to create this merchant (${answer.reason.code}: ${answer.reason.message}). Its invoices were not sent.`;
  await holdMerchant(deps, input, { nif, reason: { code: 'merchant-refused', message } });
  return { kind: 'held' };
}

function notCreated(reason: Reason): Reason {
  const message = `The service did not say that it created this merchant (${reason.code}: ${reason.message}). Its invoices were not sent; drop the file again to try once more.`;
  return { code: 'merchant-not-created', message };
}

async function holdMerchant(
  deps: ActivityDeps,
  { batchId, fencingToken }: MerchantsInput,
  { nif, reason }: { nif: string; reason: Reason },
): Promise<void> {
  await deps.ledger.holdUnsent(batchId, { reason, merchantNif: nif, now: deps.now(), fencingToken });
}

async function waitForService(
  deps: ActivityDeps,
  { batchId, fencingToken, lastTry }: MerchantsInput,
  reason: Reason,
): Promise<MerchantsWait> {
  deps.log.warn('merchants cannot be ensured now', { batchId, reason: reason.code, lastTry });
  if (lastTry) await deps.ledger.holdUnsent(batchId, { reason, now: deps.now(), fencingToken });
  return { for: 'service', reason: reason.code };
}
