import type { Reason } from '../../src/domain/invoice.ts';
import type { ActivityDeps } from '../deps.ts';
import { judgeEarlier, refusedAfterLostAnswer } from './earlier-key.ts';
import type { RetentionWindow } from './retention-window.ts';
import { restricted } from './sending-permission.ts';
import { isServerError, type StoredErrors, type StoredErrorVerdict } from './stored-errors.ts';
import type { CreateAnswer, DeparturePermit } from '../../src/domain/records/service-answers.ts';
import type { SendableInvoice } from '../../src/ledger/sending/sending.ts';
import type { SendOutcome } from '../../src/ledger/sending/record-answers.ts';

/** Largest number of POSTs of one invoice in one slice. The page's next round continues. */
const TRIES_PER_SLICE = 3;
const FIRST_BACKOFF_MS = 200;
/** The page waits for a longer Retry-After, on a timer that survives this process. */
const LONGEST_PAUSE_MS = 2_000;

/** The result of sending one invoice, to be recorded; times are epoch milliseconds. */
export interface Sent {
  /** POSTs that left. */
  readonly attempts: number;
  /** Null if no POST left because sending has stopped; the ledger then keeps the invoice as it was. */
  readonly outcome: SendOutcome | null;
  /** The generation of the outcome. Optional: the default is the invoice's own. */
  readonly generation?: number | undefined;
  /** When the first POST left, when the last POST left, and when its answer came. */
  readonly sentAt: number;
  readonly lastSentAt: number;
  readonly answeredAt: number;
  /** Set if the last answer was trouble of the whole service, not of this invoice. */
  readonly trouble: Trouble | null;
  /** How long the whole service asks Lote to wait. Null if it named no time, or a time for this key alone. */
  readonly retryAfterMs: number | null;
}

interface Trouble {
  readonly accessDenied: boolean;
  readonly reason: Reason;
  /** The error concerns this key alone, and it is not yet proved to be permanent. */
  readonly own: boolean;
}

/** What one slice provides for the sending of each of its invoices. */
export interface SendDeps extends Pick<ActivityDeps, 'service' | 'random' | 'now' | 'calibration' | 'ledger' | 'log'> {
  /** Returns whether the invoice may be POSTed now, as far as this process knows. */
  readonly mayLeave: (invoice: SendableInvoice) => boolean;
  readonly pause: (ms: number) => Promise<void>;
  /** Judges an answer at once, so that a stop precedes the next POST. */
  readonly answered: (answer: CreateAnswer, post: { readonly sentAt: number; readonly key: string }) => Promise<void>;
  /** Returns true if the service is in trouble, so that this slice must not repeat the invoice. */
  readonly stopped: () => boolean;
  readonly window: RetentionWindow;
  /** The permit that is checked in the moment before the first byte. */
  readonly permitOf: (invoice: SendableInvoice) => DeparturePermit;
  readonly storedErrors: StoredErrors;
  /** Returns whether the service answers at all: in an outage every key gets the same error. */
  readonly serviceAnswers: () => Promise<boolean>;
}

/** POSTs one invoice with its frozen bytes and key until an answer is final, or other invoices must go first. */
export async function sendInvoice(deps: SendDeps, invoice: SendableInvoice, body: string): Promise<Sent> {
  let { mayExist, mayExistSince } = invoice;
  let before: Sent | null = null;
  const permit = deps.permitOf(invoice);
  const { window } = deps;
  for (let attempts = 1; ; attempts += 1) {
    if (!deps.mayLeave(invoice)) return before ?? turnedAway(deps.now());
    let lastSentAt = deps.now();
    const place = deps.storedErrors.leave();
    const answer: CreateAnswer = window.isOver(mayExistSince)
      ? { kind: 'not-permitted' }
      : await deps.service.createInvoice(body, invoice.idempotencyKey, {
          permit: restricted(window.permit(mayExistSince, permit), () => {
            // The POST may wait long for its turn, so the last check of its permit gives the time at which it leaves.
            lastSentAt = deps.now();
            return true;
          }),
        });
    const key = invoice.idempotencyKey;
    await deps.answered(answer, { sentAt: lastSentAt, key });
    if (answer.kind === 'not-permitted') {
      const stayed = before ?? turnedAway(deps.now());
      return window.isOver(mayExistSince) ? { ...stayed, outcome: window.outcomeOf(mayExistSince) } : stayed;
    }
    const answeredAt = deps.now();
    mayExist ||= answer.kind === 'lost' || (answer.kind === 'access-denied' && answer.mayExist);
    if (mayExist) mayExistSince ??= lastSentAt;
    const noted = deps.storedErrors.note({ key, place, sentAt: lastSentAt, answeredAt }, answer);
    const verdict = noted === 'stored' ? await confirmStored(deps, key) : noted;
    const stored = verdict === 'stored' || (invoice.errorKept && isServerError(answer));
    const { outcome, generation } = stored
      ? { outcome: storedError(answer) }
      : ((await judgeEarlier(deps, invoice, { answer, mayExist })) ?? { outcome: outcomeOf(answer, mayExist) });
    const delayMs = 'retryAfterMs' in answer ? answer.retryAfterMs : null;
    const retryAfterMs = 'isDelayOfKey' in answer ? null : delayMs;
    const trouble = stored ? null : troubleOf(answer, verdict === 'own');
    const pauseMs = delayMs ?? deps.random() * FIRST_BACKOFF_MS * 2 ** attempts;
    const final = outcome.kind !== 'pending' || answer.kind === 'access-denied';
    const sentAt: number = before?.sentAt ?? lastSentAt;
    before = { attempts, outcome, generation, sentAt, lastSentAt, answeredAt, trouble, retryAfterMs };
    if (final || attempts >= TRIES_PER_SLICE || pauseMs > LONGEST_PAUSE_MS || deps.stopped()) return before;
    await deps.pause(pauseMs);
  }
}

/** Asks the service even while the circuit is open. Otherwise Lote would take an error stored under one key for an outage, and wait. */
async function confirmStored(deps: SendDeps, key: string): Promise<StoredErrorVerdict> {
  const answers = await deps.serviceAnswers();
  deps.storedErrors.forget(key);
  return answers ? 'stored' : 'open';
}

function turnedAway(now: number): Sent {
  const times = { sentAt: now, lastSentAt: now, answeredAt: now };
  return { attempts: 0, outcome: null, ...times, trouble: null, retryAfterMs: null };
}

/** A refusal after a lost answer looks definitive, but proves nothing about the lost answer: `unknown`, never `rejected`. */
function outcomeOf(answer: Exclude<CreateAnswer, { kind: 'not-permitted' }>, mayExist: boolean): SendOutcome {
  switch (answer.kind) {
    case 'created':
      return { kind: 'accepted', serviceId: answer.serviceId };
    case 'refused':
      return mayExist ? refusedAfterLostAnswer(answer.reason) : { kind: 'rejected', reason: answer.reason };
    case 'key-mismatch':
      return { kind: 'unknown', reason: answer.reason };
    case 'lost':
      return answer.isSameAgain === true
        ? { kind: 'unknown', reason: answer.reason }
        : { kind: 'pending', reason: answer.reason, mayExist };
    case 'not-now':
    case 'access-denied':
      return { kind: 'pending', reason: answer.reason, mayExist };
  }
}

function storedError(answer: CreateAnswer): SendOutcome {
  const said = 'reason' in answer ? answer.reason.message : '';
  const message = `The service gives the same error to this key again and again (${said}). Ask its support what became of the invoice.`;
  return { kind: 'unknown', reason: { code: 'stored-error', message } };
}

function troubleOf(answer: CreateAnswer, own: boolean): Trouble | null {
  if (answer.kind === 'access-denied') return { accessDenied: true, reason: answer.reason, own };
  if (answer.kind === 'not-now' || answer.kind === 'lost') return { accessDenied: false, reason: answer.reason, own };
  return null;
}
