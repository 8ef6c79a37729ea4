import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import type { RecordDelivery } from '../domain/ports/ledger.ts';
import type { DeliveryGroup } from './delivery-group.ts';
import type { DeliveryTally } from './delivery-tally.ts';
import type { EventReader } from './event-reader.ts';
import { judgeDelivery } from './judge-delivery.ts';
import type { MisfitWatch } from './misfits/misfit-watch.ts';
import { SAMPLE_BODY_LIMIT, type RefusedSample } from './misfits/refused-samples.ts';
import { readBody, type ByteBudget } from './read-body.ts';
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

/**
 * Hono's type parameter that gives access to the raw Node request; the signature is checked on its headers and bytes.
 */
export interface Bindings {
  Bindings: HttpBindings;
}

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
}

/** Answers one delivery; a 2xx means that it is committed. `pathSecret` is the step after the receiver's own address. */
export async function handleDelivery(
  c: Context<Bindings>,
  parts: DeliveryHandlerParts,
  pathSecret?: string,
): Promise<Response> {
  const { incoming } = c.env;
  const head: RequestHead = {
    rawHeaders: incoming.rawHeaders,
    now: parts.now(),
    ...(pathSecret !== undefined && { pathSecret }),
  };
  const early = await withSecrets(parts.secrets, (secrets) => parts.check.verifyHead(head, secrets));
  if (early.why !== null) {
    await keepUnread(c, parts, head, early.why);
    return refused(c, parts, early.why);
  }
  const body = await readBody(incoming, parts.bodyLimit, parts.budget);
  if (body.kind !== 'read') return withoutBody(c, parts, body.kind);
  try {
    return await record(c, parts, { head: { ...head, now: parts.now() }, raw: body.raw });
  } finally {
    parts.budget.give(body.raw.byteLength);
  }
}

async function record(
  c: Context<Bindings>,
  parts: DeliveryHandlerParts,
  received: { readonly head: RequestHead; readonly raw: Uint8Array },
): Promise<Response> {
  const verdict = await withSecrets(parts.secrets, (secrets) => judgeDelivery({ ...received, secrets }, parts));
  if (verdict.kind === 'refuse') {
    keepRead(c, parts, received, verdict.why);
    return refused(c, parts, verdict.why);
  }
  const deliveries = verdict.deliveries instanceof Promise ? await verdict.deliveries : verdict.deliveries;
  const accepted = parts.accept(deliveries);
  if (accepted !== true && !(await accepted)) {
    parts.tally.notStored();
    return unavailable(c);
  }
  if (!(await isStored(parts.group, deliveries))) {
    parts.tally.notStored();
    return unavailable(c);
  }
  parts.tally.taken(deliveries.some(({ event }) => event === null));
  parts.misfits?.fitted(deliveries);
  return c.body(null, 204);
}

/** True only when every row is committed. */
async function isStored(group: DeliveryGroup, deliveries: readonly RecordDelivery[]): Promise<boolean> {
  const [only] = deliveries;
  if (deliveries.length === 1 && only !== undefined) return (await group.add(only)) === 'stored';
  const recorded = await Promise.all(deliveries.map(async (delivery) => group.add(delivery)));
  return recorded.every((one) => one === 'stored');
}

/** Tries with the secrets at hand, and once more with fresh ones when none of them fits. */
async function withSecrets<Verdict extends { readonly why: SignatureRefusal | null }>(
  cache: SecretCache,
  attempt: (secrets: readonly string[]) => Verdict,
): Promise<Verdict> {
  const verdict = attempt(await cache.get(SECRETS_FRESH_MS));
  if (verdict.why !== 'no-secret' && verdict.why !== 'signature-wrong') return verdict;
  return attempt(await cache.get(SECRETS_RETRY_MS));
}

function withoutBody(
  c: Context<Bindings>,
  parts: DeliveryHandlerParts,
  why: 'too-large' | 'no-memory' | 'aborted',
): Response {
  if (why === 'no-memory') return unavailable(c);
  // An aborted request has no reader for the answer; the answer only ends the request.
  if (why === 'aborted') return hangUp(c, 400);
  parts.tally.refused('body-too-large');
  return hangUp(c, 413);
}

/**
 * A few deliveries that are refused by their head alone are read all the same, so that somebody can be told what would
 * fit.
 */
async function keepUnread(
  c: Context<Bindings>,
  { misfits, budget }: DeliveryHandlerParts,
  head: RequestHead,
  why: SignatureRefusal,
): Promise<void> {
  const { incoming } = c.env;
  const keep = misfits?.claim(incoming.socket.remoteAddress ?? '') ?? null;
  if (keep === null) return;
  const body = await readBody(incoming, SAMPLE_BODY_LIMIT, budget);
  if (body.kind !== 'read') return;
  budget.give(body.raw.byteLength);
  keep(sampleOf(head, body.raw, why));
}

function keepRead(
  c: Context<Bindings>,
  { misfits }: DeliveryHandlerParts,
  { head, raw }: { readonly head: RequestHead; readonly raw: Uint8Array },
  why: SignatureRefusal,
): void {
  if (raw.byteLength > SAMPLE_BODY_LIMIT) return;
  misfits?.claim(c.env.incoming.socket.remoteAddress ?? '')?.(sampleOf(head, raw, why));
}

function sampleOf({ rawHeaders, pathSecret }: RequestHead, body: Uint8Array, why: SignatureRefusal): RefusedSample {
  return { why, headers: rawHeaders, body, ...(pathSecret !== undefined && { pathSecret }) };
}

/** The answer is the same for every cause, so that it does not help a forger. The log has the cause. */
function refused(c: Context<Bindings>, { log, tally, misfits }: DeliveryHandlerParts, why: SignatureRefusal): Response {
  tally.refused(why);
  misfits?.refused(why);
  log.warn('A delivery was refused', { why });
  return hangUp(c, 401);
}

/** The unread rest of a body is not wanted: the connection ends with the answer. */
function hangUp(c: Context<Bindings>, status: 400 | 401 | 413): Response {
  return c.body(null, status, { connection: 'close' });
}

/** Asks the sender to come again, and hangs up. */
export function unavailable(c: Context<Bindings>): Response {
  return c.body(null, 503, { 'retry-after': RETRY_AFTER_SECONDS, connection: 'close' });
}
