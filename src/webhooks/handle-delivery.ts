import type { IncomingMessage } from 'node:http';
import type { RecordDelivery } from '../domain/ports/ledger/delivery-ledger.ts';
import type { DeliveryGroup } from './delivery-group.ts';
import type { DeliveryTally } from './delivery-tally.ts';
import type { EventReader } from './event-reader.ts';
import { judgeDelivery } from './judge-delivery.ts';
import type { MisfitWatch } from './misfits/misfit-watch.ts';
import { SAMPLE_BODY_LIMIT, type RefusedSample } from './misfits/refused-samples.ts';
import { readBody, type ByteBudget } from './read-body.ts';
import type { ReceiverAnswer } from './receiver-routes.ts';
import { SECRETS_FRESH_MS, SECRETS_RETRY_MS, type SecretCache } from './secret-cache.ts';
import type { SignatureRefusal } from './signature/refusal.ts';
import type { RequestHead } from './signature/request-head.ts';
import type { SignatureCheck } from './signature/signature-check.ts';

/** Senders back off by themselves; this only keeps them from coming back at once. */
const RETRY_AFTER_SECONDS = '5';

/** Static message, then fields, so that they group. Never a body, a signature or a secret. */
export interface ReceiverLog {
  warn(message: string, fields?: Record<string, unknown>): void;
}

const TAKEN: ReceiverAnswer = { status: 204, headers: {} };
/** Asks the sender to come again, and hangs up. */
export const UNAVAILABLE: ReceiverAnswer = {
  status: 503,
  headers: { 'retry-after': RETRY_AFTER_SECONDS, connection: 'close' },
};

/** What handling a delivery needs. */
export interface DeliveryHandlerParts {
  readonly check: SignatureCheck;
  readonly read: EventReader;
  /** Bytes of the largest body. */
  readonly bodyLimit: number;
  readonly log: ReceiverLog;
  readonly tally: DeliveryTally;
  /** Null: nobody asks what would fit. */
  readonly misfits: MisfitWatch | null;
  readonly group: DeliveryGroup;
  readonly budget: ByteBudget;
  readonly secrets: SecretCache;
  /** False: they are not to be stored now, and their sender comes again. */
  readonly accept: (deliveries: readonly RecordDelivery[]) => true | Promise<boolean>;
  readonly now: () => number;
  /** Gets each delivery that was judged; left out: nobody does. */
  readonly capture?: (delivery: CapturedDelivery) => void;
}

/** A delivery as it came, for whoever records it; it may hold names, and its headers what proves the sender. */
export interface CapturedDelivery {
  /** Epoch milliseconds. */
  readonly at: number;
  /** Names and values in turn. */
  readonly rawHeaders: readonly string[];
  /** null: it was refused before its body was read. */
  readonly raw: Uint8Array | null;
  /** null: its signature holds. */
  readonly refusal: SignatureRefusal | null;
}

/** Answers one delivery; a 2xx means that it is committed. `pathSecret` is the step after the receiver's own address. */
export async function handleDelivery(
  incoming: IncomingMessage,
  parts: DeliveryHandlerParts,
  pathSecret?: string,
): Promise<ReceiverAnswer> {
  const head: RequestHead = {
    rawHeaders: incoming.rawHeaders,
    now: parts.now(),
    ...(pathSecret !== undefined && { pathSecret }),
  };
  const checked = withSecrets(parts.secrets, (secrets) => parts.check.verifyHead(head, secrets));
  const early = checked instanceof Promise ? await checked : checked;
  if (early.why !== null) {
    parts.capture?.({ ...captured(head), raw: null, refusal: early.why });
    await keepUnread(incoming, parts, head, early.why);
    return refused(parts, early.why);
  }
  const body = await readBody(incoming, parts.bodyLimit, parts.budget);
  if (body.kind !== 'read') return withoutBody(parts, body.kind);
  try {
    return await record(incoming, parts, { head: { ...head, now: parts.now() }, raw: body.raw });
  } finally {
    parts.budget.give(body.raw.byteLength);
  }
}

async function record(
  incoming: IncomingMessage,
  parts: DeliveryHandlerParts,
  received: { readonly head: RequestHead; readonly raw: Uint8Array },
): Promise<ReceiverAnswer> {
  const judged = withSecrets(parts.secrets, (secrets) => judgeDelivery({ ...received, secrets }, parts));
  const verdict = judged instanceof Promise ? await judged : judged;
  parts.capture?.({ ...captured(received.head), raw: received.raw, refusal: verdict.why });
  if (verdict.kind === 'refuse') {
    keepRead(incoming, parts, received, verdict.why);
    return refused(parts, verdict.why);
  }
  const deliveries = verdict.deliveries instanceof Promise ? await verdict.deliveries : verdict.deliveries;
  const accepted = parts.accept(deliveries);
  if (accepted !== true && !(await accepted)) {
    parts.tally.notStored();
    return UNAVAILABLE;
  }
  if (!(await isStored(parts.group, deliveries))) {
    parts.tally.notStored();
    return UNAVAILABLE;
  }
  parts.tally.taken(deliveries.some(({ event }) => event === null));
  parts.misfits?.fitted(deliveries);
  return TAKEN;
}

function captured({ now: at, rawHeaders }: RequestHead): Pick<CapturedDelivery, 'at' | 'rawHeaders'> {
  return { at, rawHeaders };
}

/** True only when every row is committed. */
async function isStored(group: DeliveryGroup, deliveries: readonly RecordDelivery[]): Promise<boolean> {
  const [only] = deliveries;
  if (deliveries.length === 1 && only !== undefined) return (await group.add(only)) === 'stored';
  const recorded = await Promise.all(deliveries.map(async (delivery) => group.add(delivery)));
  return recorded.every((one) => one === 'stored');
}

interface Judged {
  readonly why: SignatureRefusal | null;
}

/** Tries with the secrets at hand, and once more with fresh ones when none of them fits; a promise only where secrets are read. */
function withSecrets<Verdict extends Judged>(
  cache: SecretCache,
  attempt: (secrets: readonly string[]) => Verdict,
): Verdict | Promise<Verdict> {
  const known = cache.known(SECRETS_FRESH_MS);
  if (known === null) return cache.get(SECRETS_FRESH_MS).then((secrets) => tryAgain(cache, attempt, attempt(secrets)));
  return tryAgain(cache, attempt, attempt(known));
}

function tryAgain<Verdict extends Judged>(
  cache: SecretCache,
  attempt: (secrets: readonly string[]) => Verdict,
  verdict: Verdict,
): Verdict | Promise<Verdict> {
  if (verdict.why !== 'no-secret' && verdict.why !== 'signature-wrong') return verdict;
  return cache.get(SECRETS_RETRY_MS).then(attempt);
}

function withoutBody(parts: DeliveryHandlerParts, why: 'too-large' | 'no-memory' | 'aborted'): ReceiverAnswer {
  if (why === 'no-memory') return UNAVAILABLE;
  // An aborted request has no reader for the answer; the answer only ends the request.
  if (why === 'aborted') return hangUp(400);
  parts.tally.refused('body-too-large');
  return hangUp(413);
}

/**
 * A few deliveries that are refused by their head alone are read all the same, so that somebody can be told what would
 * fit.
 */
async function keepUnread(
  incoming: IncomingMessage,
  { misfits, budget }: DeliveryHandlerParts,
  head: RequestHead,
  why: SignatureRefusal,
): Promise<void> {
  const keep = misfits?.claim(incoming.socket.remoteAddress ?? '') ?? null;
  if (keep === null) return;
  const body = await readBody(incoming, SAMPLE_BODY_LIMIT, budget);
  if (body.kind !== 'read') return;
  budget.give(body.raw.byteLength);
  keep(sampleOf(head, body.raw, why));
}

function keepRead(
  incoming: IncomingMessage,
  { misfits }: DeliveryHandlerParts,
  { head, raw }: { readonly head: RequestHead; readonly raw: Uint8Array },
  why: SignatureRefusal,
): void {
  if (raw.byteLength > SAMPLE_BODY_LIMIT) return;
  misfits?.claim(incoming.socket.remoteAddress ?? '')?.(sampleOf(head, raw, why));
}

function sampleOf({ rawHeaders, pathSecret }: RequestHead, body: Uint8Array, why: SignatureRefusal): RefusedSample {
  return { why, headers: rawHeaders, body, ...(pathSecret !== undefined && { pathSecret }) };
}

/** The answer is the same for every cause, so that it does not help a forger. The log has the cause. */
function refused({ log, tally, misfits }: DeliveryHandlerParts, why: SignatureRefusal): ReceiverAnswer {
  tally.refused(why);
  misfits?.refused(why);
  log.warn('A delivery was refused', { why });
  return hangUp(401);
}

/** The unread rest of a body is not wanted: the connection ends with the answer. */
function hangUp(status: 400 | 401 | 413): ReceiverAnswer {
  return { status, headers: { connection: 'close' } };
}
