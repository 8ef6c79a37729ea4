import type { Release } from '../../src/concurrency/semaphore.ts';
import type { Reason } from '../../src/domain/invoice.ts';
import type {
  CreateAnswer,
  DeparturePermit,
  InvoicingService,
  PostLimits,
} from '../../src/domain/ports/invoicing-service.ts';
import type { InvoiceTry } from '../../src/domain/ports/ledger/batch-record.ts';
import type { SendableInvoice, SendOutcome } from '../../src/domain/ports/ledger/sending-ledger.ts';
import { openTries } from './open-tries.ts';
import { refusedAfterLostAnswer } from './refused-repeat.ts';
import type { RetentionWindow } from './retention-window.ts';
import type { SendingPermit } from './sending-permission.ts';
import { isServerError, type StoredErrors, type StoredErrorVerdict } from './stored-errors.ts';

/** POSTs of one invoice inside one slice; what is left after them is tried again in the page's next round. */
const TRIES_PER_SLICE = 3;
const FIRST_BACKOFF_MS = 200;
/** A longer Retry-After is the page's to wait for, on a timer that survives this process. */
const LONGEST_PAUSE_MS = 2_000;

/** What became of one invoice, to be recorded; times are epoch milliseconds. */
export interface Sent {
  /** POSTs that left. */
  readonly attempts: number;
  /** Null: nothing left, because nothing may be sent now; the ledger knows the invoice as it was. */
  readonly outcome: SendOutcome | null;
  /** When the first POST left, the last one, and when its answer came. */
  readonly sentAt: number;
  readonly lastSentAt: number;
  readonly answeredAt: number;
  /** POSTs that brought no final word. */
  readonly tries: readonly InvoiceTry[];
  /** The last answer was trouble of the whole service, not of this invoice. */
  readonly trouble: Trouble | null;
  /** For how long the service as a whole wants nothing; null: it named no time, or named it for this key alone. */
  readonly retryAfterMs: number | null;
  /** For how long after the answer it wants no repeat of this key; null: it named no time for the key alone. */
  readonly keyDelayMs: number | null;
}

interface Trouble {
  readonly accessDenied: boolean;
  readonly reason: Reason;
  /** An error of this key alone, of which it is not known yet that it stays. */
  readonly own: boolean;
}

/** The POST of an answer; `isFirst`: the key was never sent before. */
interface JudgedPost {
  readonly sentAt: number;
  readonly key: string;
  readonly isFirst: boolean;
}

/** What one slice gives to the sending of each of its invoices. */
export interface SendDeps {
  readonly service: Pick<InvoicingService, 'createInvoice'>;
  readonly random: () => number;
  readonly now: () => number;
  /** The turn of an invoice; a promise where it has to wait for it, of null: nothing may be sent any more. */
  readonly admit: (invoice: SendableInvoice) => Release | Promise<Release | null>;
  readonly pause: (ms: number) => Promise<void>;
  /** Judges an answer before the permit is released, so that no other POST leaves when none may. */
  readonly answered: (answer: CreateAnswer, post: JudgedPost) => Promise<void> | null;
  /** True: after this answer send other invoices first, or none. */
  readonly stopped: () => boolean;
  readonly window: RetentionWindow;
  readonly permit: SendingPermit;
  /** Asked in the moment before the first byte; left out: `permit`. */
  readonly permitOf?: (invoice: SendableInvoice) => DeparturePermit;
  readonly storedErrors: StoredErrors;
  /** Whether the service answers at all: in an outage every key gets the same error. */
  readonly serviceAnswers: () => Promise<boolean>;
}

/** POSTs one invoice with its frozen bytes and key until an answer is final, or other invoices must go first. */
export async function sendInvoice(deps: SendDeps, invoice: SendableInvoice, body: string): Promise<Sent> {
  let { mayExist, mayExistSince } = invoice;
  let before: Sent | null = null;
  const permit = deps.permitOf?.(invoice) ?? deps.permit;
  for (let attempts = 1; ; attempts += 1) {
    const turn = deps.admit(invoice);
    const release = turn instanceof Promise ? await turn : turn;
    if (release === null) return before ?? turnedAway(deps.now());
    const lastSentAt = deps.now();
    // Waiting for its turn takes time: what was inside the window when the slice began may be outside by now.
    if (deps.window.isOver(mayExistSince)) {
      release();
      return { ...(before ?? turnedAway(lastSentAt)), outcome: deps.window.outcomeOf(mayExistSince) };
    }
    const place = deps.storedErrors.leave();
    const { window } = deps;
    const limits = {
      signal: window.signal(mayExistSince),
      permit: window.permit(mayExistSince, permit),
      firstUsedAt: mayExistSince,
    };
    const isFirst = attempts === 1 && invoice.attempts === 0;
    const sent = { sentAt: lastSentAt, key: invoice.idempotencyKey, isFirst };
    const answer = await post(deps, { body, limits, sent, release });
    if (answer.kind === 'not-permitted') {
      const stayed = before ?? turnedAway(deps.now());
      return window.isOver(mayExistSince) ? { ...stayed, outcome: window.outcomeOf(mayExistSince) } : stayed;
    }
    const answeredAt = deps.now();
    mayExist ||= answer.kind === 'lost' || (answer.kind === 'access-denied' && answer.mayExist);
    if (mayExist) mayExistSince ??= lastSentAt;
    const noted = deps.storedErrors.note({ key: sent.key, place, sentAt: lastSentAt, answeredAt }, answer);
    const verdict = noted === 'stored' ? await confirmStored(deps, sent.key) : noted;
    const stored = verdict === 'stored' || (invoice.errorKept === true && isServerError(answer));
    const outcome = stored ? storedError(answer) : outcomeOf(answer, mayExist);
    const delayMs = 'retryAfterMs' in answer ? answer.retryAfterMs : null;
    const isOfKey = 'isDelayOfKey' in answer;
    const delays = { retryAfterMs: isOfKey ? null : delayMs, keyDelayMs: isOfKey ? delayMs : null };
    const trouble = stored ? null : troubleOf(answer, verdict === 'own');
    const pauseMs = delayMs ?? deps.random() * FIRST_BACKOFF_MS * 2 ** attempts;
    const final = outcome.kind !== 'pending' || answer.kind === 'access-denied';
    const sentAt: number = before?.sentAt ?? lastSentAt;
    const tries: readonly InvoiceTry[] = [
      ...(before?.tries ?? []),
      ...openTries(outcome, { sentAt: lastSentAt, answeredAt }),
    ];
    before = { attempts, outcome, sentAt, lastSentAt, answeredAt, tries, trouble, ...delays };
    if (final || attempts >= TRIES_PER_SLICE || pauseMs > LONGEST_PAUSE_MS || deps.stopped()) return before;
    await deps.pause(pauseMs);
  }
}

interface Post {
  readonly body: string;
  readonly limits: PostLimits;
  readonly sent: JudgedPost;
  readonly release: Release;
}

async function post(deps: SendDeps, { body, limits, sent, release }: Post): Promise<CreateAnswer> {
  try {
    const answer = await deps.service.createInvoice(body, sent.key, limits);
    const judging = deps.answered(answer, sent);
    if (judging !== null) await judging;
    return answer;
  } finally {
    release();
  }
}

/** Asked behind an open circuit, too: otherwise an error that is stored under a key is waited out like an outage. */
async function confirmStored(deps: SendDeps, key: string): Promise<StoredErrorVerdict> {
  const answers = await deps.serviceAnswers();
  deps.storedErrors.forget(key);
  return answers ? 'stored' : 'open';
}

function turnedAway(now: number): Sent {
  return {
    attempts: 0,
    outcome: null,
    sentAt: now,
    lastSentAt: now,
    answeredAt: now,
    tries: [],
    trouble: null,
    retryAfterMs: null,
    keyDelayMs: null,
  };
}

/** A definitive-looking refusal after a lost answer proves nothing about the lost one: `unknown`, never `rejected`. */
function outcomeOf(answer: Exclude<CreateAnswer, { kind: 'not-permitted' }>, mayExist: boolean): SendOutcome {
  switch (answer.kind) {
    case 'created':
      return { kind: 'accepted', serviceId: answer.serviceId };
    case 'refused':
      return mayExist ? refusedAfterLostAnswer(answer.reason) : { kind: 'rejected', reason: answer.reason };
    case 'key-mismatch':
      return { kind: 'unknown', reason: answer.reason };
    case 'not-now':
    case 'lost':
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
