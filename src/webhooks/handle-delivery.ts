import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import type { DeliveryGroup } from './delivery-group.ts';
import { readBody, type ByteBudget } from './read-body.ts';
import { headerLines, judgeDelivery, type ReceivedRequest, type ReceiverShapes } from './judge-delivery.ts';
import { SECRETS_FRESH_MS, SECRETS_RETRY_MS, type SecretCache } from './secret-cache.ts';
import { verifyHeader, type SignatureRefusal } from './signature.ts';

/** An event of one invoice is a few hundred bytes. */
const BODY_LIMIT = 256 * 1024;

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
  readonly shapes: ReceiverShapes;
  readonly log: ReceiverLog;
  readonly group: DeliveryGroup;
  readonly budget: ByteBudget;
  readonly secrets: SecretCache;
  readonly now: () => number;
}

/** Answers one delivery; a 2xx means that it is committed. */
export async function handleDelivery(c: Context<Bindings>, parts: DeliveryHandlerParts): Promise<Response> {
  const { incoming } = c.env;
  const { header } = parts.shapes.signature;
  const headerValues = headerLines(incoming.rawHeaders, header);
  const early = await withSecrets(parts.secrets, (secrets) =>
    verifyHeader({ headerValues, secrets, shape: parts.shapes.signature }),
  );
  if (early.why !== null) return refused(c, parts.log, early.why);
  const body = await readBody(incoming, BODY_LIMIT, parts.budget);
  if (body.kind !== 'read') return withoutBody(c, body.kind);
  try {
    return await record(c, parts, { raw: body.raw, headerValues });
  } finally {
    parts.budget.give(body.raw.byteLength);
  }
}

async function record(
  c: Context<Bindings>,
  parts: DeliveryHandlerParts,
  received: Pick<ReceivedRequest, 'raw' | 'headerValues'>,
): Promise<Response> {
  const now = parts.now();
  const verdict = await withSecrets(parts.secrets, (secrets) =>
    judgeDelivery({ ...received, secrets, shapes: parts.shapes, now }),
  );
  if (verdict.kind === 'refuse') return refused(c, parts.log, verdict.why);
  const recorded = await parts.group.add(verdict.delivery);
  return recorded === 'stored' ? c.body(null, 204) : unavailable(c);
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

function withoutBody(c: Context<Bindings>, why: 'too-large' | 'no-memory' | 'aborted'): Response {
  if (why === 'no-memory') return unavailable(c);
  // An aborted request has no reader for the answer; the answer only ends the request.
  return hangUp(c, why === 'too-large' ? 413 : 400);
}

/** The answer is the same for every cause, so that it does not help a forger. The log has the cause. */
function refused(c: Context<Bindings>, log: ReceiverLog, why: string): Response {
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
