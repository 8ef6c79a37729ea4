import type { IncomingMessage } from 'node:http';
import type { DeliveryStore } from './delivery-groups.ts';
import type { createEventReader } from './event-reader.ts';
import type { DeliveryFindings } from './delivery-findings.ts';
import { sharedAnswer } from '../platform/concurrency.ts';
import { readBody, type ByteBudget, unpackBody } from './read-body.ts';
import { SIGNATURE_REFUSALS, type SignatureCheck, type SignatureRefusal } from './signature-check.ts';
import type { RecordDelivery } from '../ledger/webhooks/deliveries.ts';

/** Senders back off by themselves; this value only prevents an immediate retry. */
const RETRY_AFTER_SECONDS = '5';

/** The receiver's answer to a request. The body is optional. */
export interface ReceiverAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

const TAKEN: ReceiverAnswer = { status: 204, headers: {} };
/** Asks the sender to retry later, and closes the connection. */
export const UNAVAILABLE: ReceiverAnswer = {
  status: 503,
  headers: { 'retry-after': RETRY_AFTER_SECONDS, connection: 'close' },
};

/** Why the receiver refused a delivery: the delivery did not prove its sender, or its body is too large. */
const DELIVERY_REFUSALS = [...SIGNATURE_REFUSALS, 'body-too-large'] as const;

/** Counts of deliveries by result since the receiver of this process started. */
export interface DeliveryCounts {
  /** Deliveries committed in the ledger. */
  taken: number;
  /** Taken deliveries with at least one event that cannot be read. */
  withoutEvent: number;
  /** Proven deliveries that were not committed: the ledger was unreachable or behind, and the sender must retry. */
  notStored: number;
  readonly refused: Record<(typeof DELIVERY_REFUSALS)[number], number>;
}

/** Returns the counts of a receiver that starts. */
export function noDeliveries(): DeliveryCounts {
  const refused = Object.fromEntries(DELIVERY_REFUSALS.map((why) => [why, 0])) as DeliveryCounts['refused'];
  return { taken: 0, withoutEvent: 0, notStored: 0, refused };
}

/** The parts that the handling of a delivery needs. */
export interface DeliveryHandlerParts {
  readonly check: SignatureCheck;
  readonly read: ReturnType<typeof createEventReader>;
  /** The size of the largest body, in bytes. */
  readonly bodyLimit: number;
  /** Takes a static message and fields, so that messages group. A field is never a body, a signature or a secret. */
  readonly log: { warn(message: string, fields?: Record<string, unknown>): void };
  readonly tally: DeliveryCounts;
  readonly findings: DeliveryFindings;
  readonly store: DeliveryStore;
  readonly budget: ByteBudget;
  readonly secrets: ReturnType<typeof createSecretCache>;
  /** Returns false when the receiver must answer 503 so that the sender retries. */
  readonly accept: (deliveries: readonly RecordDelivery[]) => boolean | Promise<boolean>;
  readonly now: () => number;
}

/** Answers one delivery; a 2xx means that it is committed. */
export async function handleDelivery(incoming: IncomingMessage, parts: DeliveryHandlerParts): Promise<ReceiverAnswer> {
  const body = await readBody(incoming, parts.bodyLimit, parts.budget);
  if (body.kind !== 'read') return withoutBody(parts, body.kind);
  const { raw } = body;
  try {
    const plain = unpackBody(raw, incoming.headers['content-encoding'], parts.bodyLimit);
    return plain === null ? withoutBody(parts, 'too-large') : await record(parts, incoming, { raw, plain });
  } finally {
    parts.budget.give(raw.byteLength);
  }
}

/** Verifies the signature before it parses the body, then stores the delivery. */
async function record(
  parts: DeliveryHandlerParts,
  { rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>,
  { raw, plain }: { readonly raw: Uint8Array; readonly plain: Uint8Array },
): Promise<ReceiverAnswer> {
  const { check, tally } = parts;
  const now = parts.now();
  const bodies = plain === raw ? [raw] : [raw, plain];
  const why = check({ rawHeaders, now, bodies }, await parts.secrets());
  if (why !== null) return refused(parts, why);
  const deliveries = await parts.read({ raw: plain, rawHeaders, receivedAt: now });
  if (!(await parts.accept(deliveries)) || !(await parts.store.add(deliveries))) {
    tally.notStored += 1;
    return UNAVAILABLE;
  }
  tally.taken += 1;
  if (deliveries.some(({ event }) => event === null)) tally.withoutEvent += 1;
  parts.findings.fitted(deliveries);
  return TAKEN;
}

/** The secrets are in the ledger; a query for each delivery would double the work of the ledger. A new secret counts after this time. */
const SECRETS_FRESH_MS = 250;

/** Keeps webhook secrets in memory for a moment. Concurrent reads share one `load`; if it fails, all of them reject. */
export function createSecretCache(load: () => Promise<readonly string[]>, now: () => number) {
  let secrets: readonly string[] = [];
  let loadedAt = Number.NEGATIVE_INFINITY;
  const reload = sharedAnswer(async () => {
    secrets = await load();
    loadedAt = now();
    return secrets;
  });

  return async (): Promise<readonly string[]> => {
    // A negative age means that the clock was set back, so the age of the secrets is unknown.
    const age = now() - loadedAt;
    return age >= 0 && age < SECRETS_FRESH_MS ? secrets : reload();
  };
}

function withoutBody(parts: DeliveryHandlerParts, why: 'too-large' | 'no-memory' | 'aborted'): ReceiverAnswer {
  if (why === 'no-memory') return UNAVAILABLE;
  // The sender of an aborted request reads no answer; the answer only ends the request.
  if (why === 'aborted') return hangUp(400);
  parts.tally.refused['body-too-large'] += 1;
  return hangUp(413);
}

/** Answers the same for every cause, so that the answer does not help a forger. The log has the cause. */
function refused({ log, tally, findings }: DeliveryHandlerParts, why: SignatureRefusal): ReceiverAnswer {
  tally.refused[why] += 1;
  findings.refused(why);
  log.warn('A delivery was refused', { why });
  return hangUp(401);
}

/** Closes the connection with the answer, because the receiver does not want the unread rest of the body. */
function hangUp(status: 400 | 401 | 413): ReceiverAnswer {
  return { status, headers: { connection: 'close' } };
}
