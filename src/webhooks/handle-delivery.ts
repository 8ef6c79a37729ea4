import type { IncomingMessage } from 'node:http';
import type { DeliveryStore } from './delivery-groups.ts';
import type { EventReader } from './event-reader.ts';
import type { DeliveryFindings } from './delivery-findings.ts';
import { readBody, type ByteBudget, type Unpacked, unpackBody } from './read-body.ts';
import type { ReceiverAnswer } from './receiver-routes.ts';
import { SIGNATURE_REFUSALS, type RequestHead, type SignatureCheck, type SignatureRefusal } from './signature-check.ts';
import type { RecordDelivery } from '../ledger/webhooks/deliveries.ts';

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

/** Why a delivery was not taken: it did not prove where it comes from, or its body is too large. */
const DELIVERY_REFUSALS = [...SIGNATURE_REFUSALS, 'body-too-large'] as const;

/** How many deliveries had which end since the receiver of this process started. */
export interface DeliveryCounts {
  /** Committed in the ledger. */
  taken: number;
  /** Of those taken: with an event, or one of several, that cannot be read. */
  withoutEvent: number;
  /** Proven, and not committed: the ledger was away or behind, and the sender was asked to come again. */
  notStored: number;
  readonly refused: Record<(typeof DELIVERY_REFUSALS)[number], number>;
}

/** The counts of a receiver that starts. */
export function noDeliveries(): DeliveryCounts {
  const refused = Object.fromEntries(DELIVERY_REFUSALS.map((why) => [why, 0])) as DeliveryCounts['refused'];
  return { taken: 0, withoutEvent: 0, notStored: 0, refused };
}

/** What handling a delivery needs. */
export interface DeliveryHandlerParts {
  readonly check: SignatureCheck;
  readonly read: EventReader;
  /** Bytes of the largest body. */
  readonly bodyLimit: number;
  readonly log: ReceiverLog;
  readonly tally: DeliveryCounts;
  /** Null: nothing is noted. */
  readonly findings: DeliveryFindings | null;
  readonly store: DeliveryStore;
  readonly budget: ByteBudget;
  readonly secrets: SecretCache;
  /** False: they are not to be stored now, and their sender comes again. */
  readonly accept: (deliveries: readonly RecordDelivery[]) => boolean | Promise<boolean>;
  readonly now: () => number;
}

/** Answers one delivery; a 2xx means that it is committed. `pathSecret` is the step after the receiver's own address. */
export async function handleDelivery(
  incoming: IncomingMessage,
  parts: DeliveryHandlerParts,
  pathSecret?: string,
): Promise<ReceiverAnswer> {
  const head: RequestHead = { rawHeaders: incoming.rawHeaders, now: parts.now(), pathSecret };
  const early = await withSecrets(parts.secrets, (secrets) => parts.check.verifyHead(head, secrets));
  if (early !== null) return refused(parts, early);
  const body = await readBody(incoming, parts.bodyLimit, parts.budget);
  if (body.kind !== 'read') return withoutBody(parts, body.kind);
  const { raw } = body;
  const unpacked = unpackBody(raw, incoming.headers['content-encoding'], parts.bodyLimit);
  const more = unpacked.kind === 'unpacked' ? unpacked.bytes.byteLength : 0;
  const fits = parts.budget.take(more);
  try {
    if (!fits) return UNAVAILABLE;
    if (unpacked.kind === 'too-large') return withoutBody(parts, 'too-large');
    return await record(parts, { ...head, now: parts.now() }, { raw, unpacked });
  } finally {
    parts.budget.give(raw.byteLength + (fits ? more : 0));
  }
}

/** The body is not parsed before its signature is verified. */
async function record(
  parts: DeliveryHandlerParts,
  head: RequestHead,
  { raw, unpacked }: { readonly raw: Uint8Array; readonly unpacked: Unpacked },
): Promise<ReceiverAnswer> {
  const { check, tally } = parts;
  const why = await withSecrets(parts.secrets, (secrets) => check.verify(head, secrets, raw, unpacked));
  if (why !== null) return refused(parts, why);
  const plain = unpacked.kind === 'unpacked' ? unpacked.bytes : raw;
  const deliveries = await parts.read({ raw: plain, rawHeaders: head.rawHeaders, receivedAt: head.now });
  if (!(await parts.accept(deliveries)) || !(await parts.store.add(deliveries))) {
    tally.notStored += 1;
    return UNAVAILABLE;
  }
  tally.taken += 1;
  if (deliveries.some(({ event }) => event === null)) tally.withoutEvent += 1;
  parts.findings?.fitted(deliveries);
  return TAKEN;
}

/** Secrets are stored in the ledger; one query for each delivery would double the ledger's work. */
const SECRETS_FRESH_MS = 5_000;

/** A delivery that no known secret signed may be signed with one registered a moment ago: then they are read again, but not once per forgery. */
const SECRETS_RETRY_MS = 250;

/** Webhook secrets in memory, so that deliveries do not query the ledger. */
export interface SecretCache {
  /** The secrets, read again when older than `maxAgeMs`. */
  get(maxAgeMs: number): Promise<readonly string[]>;
}

/** Makes a cache over `load`. Reads at the same time share one `load`; one that fails rejects all of them. */
export function createSecretCache(load: () => Promise<readonly string[]>, now: () => number): SecretCache {
  let secrets: readonly string[] = [];
  let loadedAt = Number.NEGATIVE_INFINITY;
  let loading: Promise<readonly string[]> | null = null;

  async function reload(): Promise<readonly string[]> {
    try {
      secrets = await load();
      loadedAt = now();
      return secrets;
    } finally {
      loading = null;
    }
  }

  return {
    async get(maxAgeMs) {
      // Below zero: the clock was set back, and the age of the secrets is unknown.
      const age = now() - loadedAt;
      return age >= 0 && age < maxAgeMs ? secrets : await (loading ??= reload());
    },
  };
}

const MAY_FIT_A_NEW_SECRET: ReadonlySet<SignatureRefusal> = new Set([
  'no-secret',
  'signature-wrong',
  'signature-wrong-packed',
]);

/** Tries with the secrets at hand, and once more with fresh ones when none of them fits. */
async function withSecrets(
  cache: SecretCache,
  attempt: (secrets: readonly string[]) => SignatureRefusal | null,
): Promise<SignatureRefusal | null> {
  const why = attempt(await cache.get(SECRETS_FRESH_MS));
  if (why === null || !MAY_FIT_A_NEW_SECRET.has(why)) return why;
  return attempt(await cache.get(SECRETS_RETRY_MS));
}

function withoutBody(parts: DeliveryHandlerParts, why: 'too-large' | 'no-memory' | 'aborted'): ReceiverAnswer {
  if (why === 'no-memory') return UNAVAILABLE;
  // An aborted request has no reader for the answer; the answer only ends the request.
  if (why === 'aborted') return hangUp(400);
  parts.tally.refused['body-too-large'] += 1;
  return hangUp(413);
}

/** The answer is the same for every cause, so that it does not help a forger. The log has the cause. */
function refused({ log, tally, findings }: DeliveryHandlerParts, why: SignatureRefusal): ReceiverAnswer {
  tally.refused[why] += 1;
  findings?.refused(why);
  log.warn('A delivery was refused', { why });
  return hangUp(401);
}

/** The unread rest of a body is not wanted: the connection ends with the answer. */
function hangUp(status: 400 | 401 | 413): ReceiverAnswer {
  return { status, headers: { connection: 'close' } };
}
