import {
  ACCEPTED_EARLIER,
  type Decided,
  type EventsSaid,
  flagged,
  hasEarlierKey,
  hasEnded,
  type InvoiceLife,
  ISSUED_EARLIER,
  isUnsent,
  keptAsItEnded,
  type KeptGeneration,
  NOT_NOW,
  NOTHING_SAID,
  type Refused,
  type Surroundings,
} from './invoice-life.ts';
import type { InvoiceState } from '../invoice-state.ts';
import type { Reason } from '../invoice.ts';

/**
 * Applies the words of the service to an invoice: the answer to a POST, stored events, and GETs. A contradiction
 * becomes a flag and never takes back an earlier word; `issued` wins over every other state and is final. The order in
 * which answer, events and GETs arrive changes neither the final state nor the flags.
 */
type Invoice = InvoiceLife & Surroundings;

/** The result of the POSTs of one generation. Times are epoch milliseconds. */
export interface Answer {
  readonly generation: number;
  /** The key of these POSTs; the default is the generation's. While a generation repeats an earlier key, it has two keys. */
  readonly idempotencyKey?: string | undefined;
  /** Number of POSTs since the last recorded answer. */
  readonly attempts: number;
  readonly sentAt: number;
  readonly answeredAt: number;
  /** When reconciliation took the invoice for a repeat. A proof counts only if no process has taken or handed out the invoice since. */
  readonly takenAt: number | null;
  readonly outcome:
    | { readonly kind: 'accepted'; readonly serviceId: string }
    | { readonly kind: 'rejected'; readonly reason: Reason; readonly proven?: boolean }
    | { readonly kind: 'unknown' | 'held'; readonly reason: Reason }
    | { readonly kind: 'pending'; readonly reason: Reason; readonly mayExist: boolean };
  /** Another invoice, another generation or another answer of the same set has this service id already. */
  readonly idIsTaken: boolean;
  /** Another invoice was answered with the id of this invoice, so one of the two answers may be wrong. */
  readonly sharesId: boolean;
}

/** The result of a GET of one document. */
export interface Status {
  readonly serviceId: string;
  readonly status: 'issued' | 'failed' | 'processing' | 'unreadable';
  /** True if only a signed event said `failed`, because the answer to the confirming GET was unreadable. */
  readonly unconfirmed?: boolean;
  readonly reason: Reason | null;
  /** Number of planned polls done so far; the default is one more than before. A poll out of turn does not raise it. */
  readonly asks?: number;
  readonly now: number;
}

/** States in which the answer to a POST may still come. In every later state, the ledger has it. */
const ANSWERABLE: readonly InvoiceState[] = ['sending', 'unknown'];
/** States that wait for the final word of the service. */
const WAITING: readonly InvoiceState[] = ['accepted', 'unsettled'];

const SECOND_ID = 'second-service-id';
const SHARED_ID = 'shared-service-id';
const AFTER_FAILED = 'issued-after-failed';
const FAILED_AFTER = 'failed-after-issued';
const UNCONFIRMED = 'failure-unconfirmed';

const NO_REASON: Reason = { code: 'failed', message: 'The service gave no reason' };

/** Reason of an invoice whose answer named the id of another invoice. */
export const SERVICE_ID_TAKEN: Reason = {
  code: 'service-id-taken',
  message:
    "The service answered with an id that another invoice has already; ask the service's support what it stands for",
};
const ISSUED_AFTER_ALL: Reason = {
  code: ISSUED_EARLIER,
  message:
    'The service issued an earlier document of this invoice after it had called it failed; decide whether this one must go too',
};
const ACCEPTED_AFTER_ALL: Reason = {
  code: ACCEPTED_EARLIER,
  message:
    'The service accepted an earlier document of this invoice after its key had been given up; decide whether this one must go too',
};

/** Records the answer to a POST. */
export function record(invoice: Invoice, given: Answer): Decided | Refused {
  const { outcome } = given;
  const isKept = outcome.kind === 'accepted' && hasKept(invoice, outcome.serviceId);
  const answer = isKept ? { ...given, idIsTaken: true } : given;
  const heard = answer.generation === invoice.generation ? recordPresent(invoice, answer) : null;
  const decided = heard ?? recordEarlier(invoice, answer);
  if (!answer.sharesId) return decided === null ? NOT_NOW : risen(invoice, decided);
  return share({ ...invoice, ...decided?.invoice }, decided?.kept);
}

function hasKept({ kept }: Surroundings, serviceId: string): boolean {
  return kept.some((one) => one.serviceId === serviceId);
}

/** Flags an invoice whose service id the service also gave to another invoice. */
export function share(invoice: Invoice, kept: readonly KeptGeneration[] = []): Decided {
  return risen(invoice, { invoice: { ...invoice, flags: flagged(invoice.flags, SHARED_ID) }, kept });
}

/** Records an answer for the present generation. Returns null if the answer does not apply to the invoice in its state. */
function recordPresent(invoice: Invoice, answer: Answer): Decided | null {
  const { state, exposure, serviceId } = invoice;
  const { outcome, attempts } = answer;
  const isAnswerable = ANSWERABLE.includes(state);
  const names = outcome.kind === 'accepted' ? outcome.serviceId : null;
  // A document that is already kept beside the present one is not a second id.
  const isSecond = names !== null && serviceId !== null && serviceId !== names && !hasKept(invoice, names);
  if (!isAnswerable && !isSecond) return null;
  // A missing document under an earlier key says nothing about a POST under the present key.
  if (names === null && (answer.idempotencyKey ?? invoice.idempotencyKey) !== invoice.idempotencyKey) return null;
  // This rejection was decided without a new POST, from an answer recorded before; a later attempt may have a POST on the wire.
  if (outcome.kind === 'rejected' && attempts === 0 && state === 'sending' && exposure === 'open') return null;
  const flags = isSecond ? flagged(invoice.flags, SECOND_ID) : invoice.flags;
  const changed = { ...invoice, flags, changedAt: answer.answeredAt };
  if (!isAnswerable) {
    // The service gave two ids for one key. Keeping the other document applies its events and polls it.
    const kept =
      answer.idIsTaken || names === null ? [] : [secondDocument(invoice, invoice, { ...answer, attempts: 0 }, names)];
    return { invoice: changed, kept };
  }
  const tried = {
    ...changed,
    attempts: invoice.attempts + attempts,
    firstSentAt: attempts > 0 ? (invoice.firstSentAt ?? answer.sentAt) : invoice.firstSentAt,
  };
  if (outcome.kind === 'accepted' && !answer.idIsTaken) {
    const { serviceId: id } = outcome;
    return {
      invoice: { ...tried, state: 'accepted', serviceId: id, acceptedAt: answer.answeredAt, asks: 0, reason: null },
    };
  }
  const reason = outcome.kind === 'accepted' ? SERVICE_ID_TAKEN : outcome.reason;
  // An answer that proves nothing is less exact than the reason that the invoice has.
  if (state === 'unknown') return { invoice: answer.idIsTaken ? { ...tried, reason } : tried };
  return {
    invoice: { ...tried, reason, state: stateAfter(invoice, answer), exposure: exposureAfter(invoice, answer) },
  };
}

/** The next state of an invoice that was `sending`. */
function stateAfter({ exposure, changedAt }: InvoiceLife, { outcome, takenAt }: Answer): InvoiceState {
  switch (outcome.kind) {
    case 'accepted':
    case 'unknown':
      return 'unknown';
    case 'pending':
      return 'sending';
    case 'held':
      return exposure === 'lost' ? 'unknown' : 'held';
    case 'rejected': {
      const isProven = outcome.proven === true && (takenAt === null || takenAt === changedAt);
      return exposure === 'lost' && !isProven ? 'unknown' : 'rejected';
    }
  }
}

function exposureAfter({ exposure }: InvoiceLife, { outcome }: Answer): InvoiceLife['exposure'] {
  if (outcome.kind === 'unknown' || (outcome.kind === 'pending' && outcome.mayExist)) return 'lost';
  return (outcome.kind === 'pending' || outcome.kind === 'held') && exposure === 'open' ? 'none' : exposure;
}

/**
 * Records an acceptance of a generation that the ledger has given up: a replaced one, or the present one if it is
 * rejected or held. Stops the invoice where possible, until an operator accepts the risk of a second document.
 */
function recordEarlier(invoice: Invoice, answer: Answer): Decided | null {
  const { outcome, generation, idIsTaken } = answer;
  if (outcome.kind !== 'accepted' || idIsTaken || outcome.serviceId === invoice.serviceId) return null;
  const isGivenUp =
    generation < invoice.generation ||
    (generation === invoice.generation &&
      invoice.serviceId === null &&
      (invoice.state === 'held' || invoice.state === 'rejected'));
  if (!isGivenUp) return null;
  const own = invoice.kept.find((one) => one.generation === generation) ?? invoice;
  return {
    kept: [secondDocument(invoice, own, answer, outcome.serviceId)],
    invoice: {
      ...stopped(invoice, ACCEPTED_AFTER_ALL),
      flags: flagged(invoice.flags, SECOND_ID),
      changedAt: answer.answeredAt,
    },
  };
}

/** A second document gets a negative generation number and is polled: the invoice has failed only if both documents have. */
function secondDocument(
  { kept }: Surroundings,
  { fingerprint, idempotencyKey }: Pick<InvoiceLife, 'fingerprint' | 'idempotencyKey'>,
  { attempts, sentAt }: Answer,
  serviceId: string,
): KeptGeneration {
  return {
    generation: Math.min(0, ...kept.map((one) => one.generation)) - 1,
    ...{ fingerprint, idempotencyKey, state: 'accepted', serviceId, attempts, firstSentAt: sentAt },
    ...{ settledAt: null, reason: null, flags: [SECOND_ID], said: NOTHING_SAID },
  };
}

/** True if it is proved that no attempt of this generation under its own key has reached the service. */
function isOwnUnsent(invoice: Invoice): boolean {
  return isUnsent(invoice) || invoice.state === 'held' || (invoice.state === 'sending' && hasEarlierKey(invoice));
}

/** Stops an invoice that has an earlier document, because one more attempt could create a second document. */
function stopped(invoice: Invoice, reason: Reason): InvoiceLife {
  if (isOwnUnsent(invoice)) return { ...invoice, state: 'held', exposure: 'none', reason };
  return ANSWERABLE.includes(invoice.state) ? { ...invoice, state: 'unknown', reason } : invoice;
}

/** Applies the results of GETs and all stored events to every document of the invoice. */
export function hear(invoice: Invoice, statuses: readonly Status[]): Decided | Refused {
  const heard = sameContentFirst(invoice).map((one) => ({ one, now: hearOfKept(one, statuses) }));
  const kept = heard.map(({ now }) => now);
  // Stored events come first, because the result of a GET may be older than the events.
  let present = applyEvents(invoice, invoice.said);
  for (const status of statuses)
    if (status.serviceId === invoice.serviceId) present = told({ ...invoice, ...present, kept }, status);
  const changes = new Map<number, KeptGeneration>();
  for (const { one, now } of heard) {
    if (now === one) continue;
    changes.set(now.generation, now);
    if (now.state !== 'issued') continue;
    const decided = issueEarlier({ ...invoice, ...present, kept }, now);
    for (const ended of decided.kept ?? []) changes.set(ended.generation, ended);
    present = decided.invoice;
  }
  const decided = risen(invoice, { invoice: present, kept: [...changes.values()] });
  const isAsBefore = decided.invoice === invoice && changes.size === 0;
  return isAsBefore ? NOT_NOW : decided;
}

/** Applies a GET of the present document. A failure without a confirming GET is flagged, so that only an operator sends the invoice again. */
function told(invoice: Invoice, { status, unconfirmed = false, reason, asks, now }: Status): InvoiceLife {
  const { state, said } = invoice;
  const polled = { ...invoice, asks: Math.max(invoice.asks, asks ?? invoice.asks + 1), changedAt: now };
  const isReportedFailed = said.failedFirst || said.failedLater;
  if (status === 'issued') {
    if (!WAITING.includes(state) && state !== 'failed') return polled;
    const flags = state === 'failed' || isReportedFailed ? flagged(invoice.flags, AFTER_FAILED) : invoice.flags;
    return { ...polled, state: 'issued', settledAt: now, reason: null, flags };
  }
  // An unreadable status confirms a stored `failed` event. A key with two documents has failed only if both have.
  const isFailed = status === 'failed' || (status === 'unreadable' && isReportedFailed);
  if (isFailed && state === 'issued') return { ...polled, flags: flagged(invoice.flags, FAILED_AFTER) };
  const isOtherAlive = invoice.kept.some((one) => one.generation < 0 && one.state === 'accepted');
  if (!isFailed || isOtherAlive || !WAITING.includes(state)) return polled;
  const isUnconfirmed = unconfirmed || status === 'unreadable';
  return {
    ...polled,
    ...{ state: 'failed', settledAt: now, reason: reason ?? said.failure ?? NO_REASON },
    flags: isUnconfirmed ? flagged(invoice.flags, UNCONFIRMED) : invoice.flags,
  };
}

/** `issued` settles at once; `failed` needs a GET to confirm it. The order of storage decides which contradiction is flagged. */
function applyEvents(invoice: InvoiceLife, { issuedAt, failedFirst, failedLater }: EventsSaid): InvoiceLife {
  const { state } = invoice;
  const issues = issuedAt !== null && (WAITING.includes(state) || state === 'failed');
  const isAfterFailed = (issues || (issuedAt !== null && state === 'issued')) && (state === 'failed' || failedFirst);
  const isFailedAfter =
    issuedAt === null ? failedFirst && state === 'issued' && !invoice.flags.includes(AFTER_FAILED) : failedLater;
  const after = isAfterFailed ? flagged(invoice.flags, AFTER_FAILED) : invoice.flags;
  const flags = isFailedAfter ? flagged(after, FAILED_AFTER) : after;
  if (issues) return { ...invoice, state: 'issued', settledAt: issuedAt, changedAt: issuedAt, reason: null, flags };
  return flags === invoice.flags ? invoice : { ...invoice, flags };
}

/** Documents with the present content come first, because only they can become the document of the invoice. */
function sameContentFirst({ kept, fingerprint }: Invoice): readonly KeptGeneration[] {
  return kept.toSorted((a, b) => Number(b.fingerprint === fingerprint) - Number(a.fingerprint === fingerprint));
}

/** Applies news to the document of a kept generation. Returns the same object if there is no news. */
function hearOfKept(kept: KeptGeneration, statuses: readonly Status[]): KeptGeneration {
  const { state, serviceId, generation, said } = kept;
  if (state === 'issued' || serviceId === null) return kept;
  const ofIt = statuses.filter((one) => one.serviceId === serviceId);
  const times = ofIt.filter(({ status }) => status === 'issued').map(({ now }) => now);
  if (said.issuedAt !== null) times.push(said.issuedAt);
  if (times.length > 0) {
    const flags = state === 'accepted' ? kept.flags : flagged(kept.flags, AFTER_FAILED);
    return { ...kept, state: 'issued', settledAt: Math.min(...times), reason: null, flags };
  }
  const failed = ofIt.find(({ status }) => status === 'failed');
  if (failed === undefined || generation > 0 || state !== 'accepted') return kept;
  return { ...kept, state: 'failed', settledAt: failed.now };
}

/**
 * Decides the state of an invoice when the document of another generation is issued.
 *
 *   same content, and this generation never left, failed or was refused   -> issued, by that document
 *   second document of the same key, and no final word yet                -> issued, by that document
 *   other content, and this generation never left                         -> held until an operator has decided
 *   sending, and a POST may have arrived                                 -> unknown
 *   anything else                                                        -> flagged
 */
function issueEarlier(invoice: Invoice, issued: KeptGeneration): Decided {
  const { state, fingerprint, idempotencyKey } = invoice;
  const waits = WAITING.includes(state);
  const isUnsentYet = isOwnUnsent(invoice);
  const isOther = issued.idempotencyKey === idempotencyKey && waits;
  if (issued.fingerprint === fingerprint && (isUnsentYet || hasEnded(state) || isOther)) {
    const flags = waits && !issued.said.failedFirst ? invoice.flags : flagged(invoice.flags, AFTER_FAILED);
    return {
      invoice: issuedBy({ ...invoice, flags, exposure: isUnsentYet ? 'none' : invoice.exposure }, issued),
      kept: isUnsentYet ? [] : [keptAsItEnded(invoice)],
    };
  }
  return { invoice: { ...stopped(invoice, ISSUED_AFTER_ALL), flags: flagged(invoice.flags, ISSUED_EARLIER) } };
}

/**
 * An invoice that failed or was rejected becomes issued if an earlier document with the same content is issued. The
 * generation that ended is kept, because late news of its document must reach it.
 */
export function risen(before: Invoice, decided: Decided): Decided {
  const { invoice, kept = [] } = decided;
  if (!hasEnded(invoice.state) || !invoice.flags.includes(ISSUED_EARLIER)) return decided;
  const known = [
    ...kept,
    ...before.kept.filter((one) => !kept.some(({ generation }) => generation === one.generation)),
  ];
  const issued = known
    .filter((one) => one.fingerprint === invoice.fingerprint && one.state === 'issued' && one.serviceId !== null)
    .toSorted((a, b) => a.generation - b.generation)[0];
  if (issued === undefined) return decided;
  const changedAt = Math.max(invoice.changedAt, issued.settledAt ?? 0);
  return {
    invoice: { ...issuedBy({ ...invoice, flags: flagged(invoice.flags, AFTER_FAILED) }, issued), changedAt },
    kept: [...kept, keptAsItEnded({ ...before, ...invoice })],
  };
}

function issuedBy(invoice: InvoiceLife, document: KeptGeneration): InvoiceLife {
  const { serviceId, idempotencyKey, firstSentAt, settledAt, said } = document;
  const changedAt = settledAt ?? invoice.changedAt;
  const adopted = { ...invoice, serviceId, idempotencyKey, firstSentAt, settledAt, changedAt, reason: null };
  return applyEvents({ ...adopted, state: 'issued' }, said);
}
