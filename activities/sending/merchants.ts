import { merchantKeyOf } from '../../src/domain/fingerprint.ts';
import type { Reason } from '../../src/domain/invoice.ts';
import type { MerchantNeed } from '../../src/domain/ports/ledger/merchant-ledger.ts';
import type { ClaimingRun } from '../../src/domain/ports/ledger/sending-control-ledger.ts';
import { isForbidden } from './forbidden-invoices.ts';
import type { Waiting } from './circuit-breaker.ts';
import type { SendingPermit } from './sending-permission.ts';
import type { ActivityDeps } from '../deps.ts';
import { attemptOver, requireRunningWorker } from '../attempt-over.ts';
import { takeRandom } from '../take-random.ts';

export interface MerchantsInput {
  readonly ledgerId: string;
  readonly batchId: string;
  readonly fencingToken?: number | undefined;
  /** The run that holds the batch's claim. */
  readonly run?: ClaimingRun | undefined;
  /** Patience with the service as a whole is spent: everything unsent is held. */
  readonly lastTry: boolean;
  /** Patience with single merchants is spent: what cannot be created now is held, and the others go. */
  readonly holdStuck: boolean;
}

export interface MerchantsResult {
  readonly known: number;
  readonly created: number;
  readonly held: number;
  /** `service`: nothing can be ensured now. `merchants`: the list was read, and the creation of some has no answer yet. Null: done. */
  readonly waiting: { readonly for: 'service' | 'merchants'; readonly reason: string } | null;
}

/** As long as the activity may take: a process that stood still for longer creates nothing. */
const LONGEST_CREATING_MS = 30 * 60_000;
/** An operator has stopped the batch, or another run holds it: nothing is created for it. */
const STOPPED = 'sending-stopped';
/** Until the next look of a page whose merchants were forgotten, while the service is away. */
const NEXT_LOOK_MS = 5_000;
/** The profile cannot read the list, or prove that it is whole. */
const LIST_UNREADABLE = 'service-list-unreadable';
/** So many creations without an answer in one go, and none that worked between, are the service's trouble. */
const STUCK_IN_A_ROW = 10;
/** After so many 403s and no creation, the other merchants are not asked for: it may be the key that has no right to create. */
const MOST_FORBIDDEN = 10;
/** An answer about one key, which another file or an earlier refusal has used: it says nothing of the service. */
const KEY_USED = 'key-known-with-other-bytes';

/**
 * Makes sure that every merchant of the batch exists at the service: the whole list is read first, and only a merchant
 * proved to be missing is created, under a key that is the same for ever.
 */
export async function ensureMerchants(deps: ActivityDeps, input: MerchantsInput): Promise<MerchantsResult> {
  await deps.ensureWebhook();
  const needed = await deps.ledger.merchantsNeeded(input.batchId, deps.merchantsDigest);
  if (needed.length === 0) return { known: 0, created: 0, held: 0, waiting: null };
  const over = attemptOver();
  const list = await deps.service.listMerchants(over);
  requireRunningWorker(over);
  if (list.kind === 'unreadable') {
    if (list.reason.code === LIST_UNREADABLE)
      await deps.ledger.noteMisfits(deps.profileDigest, [{ ...list.reason, times: 1, at: deps.now() }]);
    return waitForService(deps, input, list.reason);
  }
  await deps.ledger.clearMisfit(deps.profileDigest, LIST_UNREADABLE);

  const wanted = new Set(needed.map((need) => need.nif));
  const known = list.merchants.filter((merchant) => wanted.has(merchant.nif));
  await deps.ledger.saveMerchants(deps.application, known, deps.merchantsDigest);
  const knownNifs = new Set(known.map((merchant) => merchant.nif));
  const missing = needed.filter(({ nif }) => !knownNifs.has(nif));
  const { batchId, run } = input;
  const permit = deps.permission.request({ batchId, run, lastsMs: LONGEST_CREATING_MS, over });
  try {
    return await createMissing(deps, { input, missing, known: known.length, permit });
  } finally {
    permit.close();
  }
}

/** Looks for the merchants of a batch whose slices lack them. What its page waits for; null: nothing, and the next round sends the rest. */
export type ForgottenMerchants = (
  deps: ActivityDeps,
  input: Pick<MerchantsInput, 'ledgerId' | 'batchId' | 'fencingToken' | 'run'>,
) => Promise<Waiting | null>;

/**
 * `lote confirm-service` forgets the ids of merchants, for those of another account are others, also while a batch is sent. All slices of a batch
 * that find it out in this process look once.
 */
export function createForgottenMerchants(): ForgottenMerchants {
  const open = new Map<string, Promise<MerchantsResult>>();
  return async (deps, { ledgerId, batchId, fencingToken, run }) => {
    const known = open.get(batchId);
    const look =
      known ??
      ensureMerchants(deps, { ledgerId, batchId, fencingToken, run, lastTry: false, holdStuck: false }).finally(() =>
        open.delete(batchId),
      );
    if (known === undefined) open.set(batchId, look);
    const { waiting } = await look;
    if (waiting === null || waiting.for === 'merchants' || waiting.reason === STOPPED) return null;
    return { reason: waiting.reason, probeAfterMs: NEXT_LOOK_MS };
  };
}

interface Creating {
  readonly input: MerchantsInput;
  readonly missing: readonly MerchantNeed[];
  readonly known: number;
  readonly permit: SendingPermit;
}

async function createMissing(deps: ActivityDeps, work: Creating): Promise<MerchantsResult> {
  const { holdStuck } = work.input;
  const over = attemptOver();
  let created = 0;
  let held = 0;
  let inARow = 0;
  let stuck: Reason | null = null;
  const forbidden: ForbiddenMerchant[] = [];
  // By lot: where many are forbidden, each try asks for others, and finds one that may be created.
  for (const need of takeRandom(work.missing, work.missing.length, deps.random)) {
    requireRunningWorker(over);
    const isAsked = created > 0 || forbidden.length < MOST_FORBIDDEN;
    const outcome = await createMerchant(deps, work, need, isAsked);
    if (outcome.kind === 'not-permitted') {
      requireRunningWorker(over);
      const stop = work.permit.stoppedBecause();
      if (stop !== null) return waitForService(deps, work.input, stop);
      return { known: work.known, created, held, waiting: { for: 'service', reason: STOPPED } };
    }
    if (outcome.kind === 'access-denied') return waitForService(deps, work.input, outcome.reason);
    if (outcome.kind === 'created') created += 1;
    if (outcome.kind === 'held') held += outcome.invoices;
    if (outcome.kind === 'forbidden') forbidden.push({ nif: need.nif, reason: outcome.reason });
    inARow = outcome.kind === 'not-now' && outcome.reason.code !== KEY_USED ? inARow + 1 : 0;
    if (outcome.kind !== 'not-now') continue;
    if (inARow >= STUCK_IN_A_ROW) return waitForService(deps, work.input, outcome.reason);
    if (!holdStuck) {
      stuck = outcome.reason;
      continue;
    }
    const invoices = await holdMerchant(deps, work.input, { nif: need.nif, reason: notCreated(outcome.reason) });
    held += invoices;
  }
  const [first] = forbidden;
  if (first !== undefined) {
    // Nobody gains by giving up soon: the key may get its right while the batch waits.
    if (!(await deps.ledger.hasSendable(work.input.batchId, deps.merchantsDigest)))
      return waitForService(deps, work.input, mayNotCreate(first.reason));
    if (holdStuck) {
      const invoices = await holdForbidden(deps, work.input, forbidden);
      held += invoices;
    } else stuck ??= first.reason;
  }
  const waiting = stuck === null ? null : ({ for: 'merchants', reason: stuck.code } as const);
  return { known: work.known, created, held, waiting };
}

/** A merchant whose creation the service forbids; the reason is its answer, or that of those before which it was not asked for. */
interface ForbiddenMerchant {
  readonly nif: string;
  readonly reason: Reason;
}

type Created =
  | { readonly kind: 'created' | 'not-permitted' }
  | { readonly kind: 'held'; readonly invoices: number }
  | { readonly kind: 'not-now' | 'access-denied' | 'forbidden'; readonly reason: Reason };

async function createMerchant(
  deps: ActivityDeps,
  { input, permit }: Creating,
  need: MerchantNeed,
  isAsked: boolean,
): Promise<Created> {
  const { nif, legalName, email } = need;
  if (legalName === null || email === null) {
    const message =
      'The service does not know this merchant, and the file lacks its legal name or e-mail. Add merchant_legal_name and merchant_email and drop the file again.';
    const reason = { code: 'merchant-details-missing', message };
    return { kind: 'held', invoices: await holdMerchant(deps, input, { nif, reason }) };
  }
  if (!isAsked) return { kind: 'forbidden', reason: NOT_ASKED };
  const key = merchantKeyOf(deps.application, nif);
  if (!(await permit.confirm())) return { kind: 'not-permitted' };
  const answer = await deps.service.createMerchant({ nif, legalName, email }, key, { permit });
  if (answer.kind === 'not-permitted') return answer;
  if (answer.kind === 'created') {
    await deps.ledger.saveMerchants(deps.application, [{ nif, merchantId: answer.merchantId }], deps.merchantsDigest);
    return { kind: 'created' };
  }
  // A 401 or a redirect is the account's trouble; a 403 may be this merchant's alone.
  if (answer.kind === 'access-denied' && isForbidden(answer.reason))
    return { kind: 'forbidden', reason: answer.reason };
  if (answer.kind !== 'refused') return { kind: answer.kind, reason: answer.reason };
  const message = `The service refused to create this merchant (${answer.reason.code}: ${answer.reason.message}). Its invoices were not sent.`;
  return {
    kind: 'held',
    invoices: await holdMerchant(deps, input, { nif, reason: { code: 'merchant-refused', message } }),
  };
}

function notCreated(reason: Reason): Reason {
  const message = `The service did not say whether it created this merchant (${reason.code}: ${reason.message}). Its invoices were not sent; drop the file again to try once more.`;
  return { code: 'merchant-not-created', message };
}

/** Of a merchant that comes after so many forbidden ones. */
const NOT_ASKED: Reason = {
  code: 'http-403',
  message: `not asked for after ${MOST_FORBIDDEN} merchants that the service forbade`,
};

const ASK_SUPPORT =
  'ask its support whether the API key may create merchants, then drop the file again to try once more';

function mayNotCreate({ code, message }: Reason): Reason {
  return {
    code,
    message: `The service forbids the creation of merchants (${message}). Nothing was sent: ${ASK_SUPPORT}.`,
  };
}

async function holdForbidden(
  deps: ActivityDeps,
  input: MerchantsInput,
  forbidden: readonly ForbiddenMerchant[],
): Promise<number> {
  let held = 0;
  for (const { nif, reason } of forbidden) {
    const message = `The service forbids the creation of this merchant (${reason.code}: ${reason.message}). Its invoices were not sent: ${ASK_SUPPORT}.`;
    // oxlint-disable-next-line no-await-in-loop
    const invoices = await holdMerchant(deps, input, { nif, reason: { code: 'merchant-not-created', message } });
    held += invoices;
  }
  return held;
}

function holdMerchant(
  deps: ActivityDeps,
  { batchId, fencingToken }: MerchantsInput,
  { nif, reason }: { nif: string; reason: Reason },
): Promise<number> {
  return deps.ledger.holdUnsent(batchId, { reason, merchantNif: nif, now: deps.now(), fencingToken });
}

async function waitForService(
  deps: ActivityDeps,
  { batchId, fencingToken, lastTry }: MerchantsInput,
  reason: Reason,
): Promise<MerchantsResult> {
  deps.log.warn('merchants cannot be ensured now', { batchId, reason: reason.code, lastTry });
  const held = lastTry ? await deps.ledger.holdUnsent(batchId, { reason, now: deps.now(), fencingToken }) : 0;
  return { known: 0, created: 0, held, waiting: { for: 'service', reason: reason.code } };
}
