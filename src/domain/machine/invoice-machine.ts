import { hear, record, share, type Answer, type Status } from './invoice-answers.ts';
import {
  goesByItself,
  hasEarlierKey,
  isUnsent,
  ISSUED_EARLIER,
  keptAsItEnded,
  NOT_NOW,
  type Decided,
  type Effect,
  type InvoiceLife,
  type Refused,
  type Surroundings,
} from './invoice-life.ts';
import {
  type Brought,
  NEW_GENERATION,
  passOn,
  type PassOn,
  type Restoration,
  restore,
  stage,
} from './invoice-staging.ts';
import type { InvoiceState } from '../invoice-state.ts';
import type { Reason } from '../invoice.ts';
import {
  decideRetry,
  insideRetention,
  NEVER_REPEATED_REASONS,
  OLDER_LEDGER,
  SPENT_KEY_REASONS,
  type RetryPolicy,
} from '../retry-decision.ts';
import { isAhead } from '../time/is-ahead.ts';

/**
 * The life of an invoice between its file and its last word, as one pure function. The ledger locks invoices, asks
 * `decide` about each, and writes what it says.
 *
 *   command       from                                      to
 *   hold          staged, sending and never POSTed          held
 *                 sending, and no POST was answered         unknown, where that is ordered
 *                 held                                      held, with another reason, where that is ordered
 *   close         staged, sending and never POSTed          held
 *                 sending                                   unknown
 *                 accepted                                  unsettled
 *   expire        accepted too long ago                     unsettled
 *   release       held, or unsent of a closed batch         staged
 *   repeat        unknown                                   sending (same key, same bytes)
 *   take          unknown, or a repeat that a crash ended   sending (the same, by reconciliation)
 *   freeze        staged                                    sending
 *   unfreeze      sending, and this attempt POSTed nothing  staged
 *   hand-out      sending                                   sending (its exposure says that a POST may be out)
 *   give-up       a repeat that a crash ended               unknown
 *   end-repeats   unknown                                   unknown, with another reason
 *   retry         held, failed, rejected, unknown           as `decideRetry` says
 *   stage         unsent of a batch that sends nothing      staged, with the same content
 *                 the same, failed, rejected                staged, the next generation with other content
 *   pass-on       staged, of a staging that is given up     staged or held, of a batch that waits for it
 *   restore       unsent correction that is given up        as the generation before it ended
 *   next-key      sending, its earlier key brought the same staged or held, with a key of its own
 *   sent-without  any but issued, sent without the ledger   flagged, and unsent or open, where another key was used
 *   doubt         staged                                    held, and flagged
 *   record        sending                                   accepted, rejected, held, unknown, or sending again
 *                 unknown                                   accepted, or unknown
 *                 whose answer comes late                   flagged, and unsent or open: held or unknown
 *   hear          accepted, unsettled                       issued, failed
 *                 failed                                    issued
 *                 of which an earlier document is issued    issued by it, held, unknown, or flagged
 *   share         any                                       flagged
 */
interface OfBatch {
  readonly batchId: string;
}

interface WithReason {
  readonly reason: Reason;
  readonly now: number;
}

/** What each command says. Times are epoch milliseconds. */
interface Commands {
  /**
   * `unanswered`: the reason of what a process had to send, and of which no POST is known that may have created a document;
   * null: it stays as it is. `andHeld`: what is held already gets the reason, too.
   */
  hold: OfBatch & WithReason & { readonly unanswered: Reason | null; readonly andHeld: boolean };
  /** `unsent`: the reason of what was never handed out. A reason that an invoice has stays. */
  close: OfBatch & WithReason & { readonly unsent: Reason };
  expire: WithReason & { readonly acceptedBefore: number };
  release: OfBatch & { readonly now: number };
  repeat: OfBatch & { readonly frozenAfter: number };
  /** Of an attempt that had it with this key; left out: with the key of the generation. */
  unfreeze: OfBatch & WithReason & { readonly generation: number; readonly idempotencyKey?: string | undefined };
  /** `mayExist`: its key was used while the ledger did not hear of it. The ledger writes this one by a statement of its own. */
  freeze: OfBatch & { readonly generation: number; readonly mayExist: boolean; readonly now: number };
  'hand-out': OfBatch;
  take: { readonly staleBefore: number; readonly frozenAfter: number; readonly now: number };
  /** `frozenUntil`: the service may have forgotten keys that were frozen so long ago. A reason that an invoice has stays. */
  'give-up': WithReason & { readonly staleBefore: number; readonly frozenUntil: number };
  /** `messageAhead`: the message where a clock that ran ahead froze it. */
  'end-repeats': WithReason & { readonly frozenUntil: number; readonly messageAhead: string };
  /** It was sent while the ledger did not hear of it, last with this key. */
  'sent-without': WithReason & { readonly idempotencyKey: string };
  doubt: OfBatch & WithReason;
  retry: OfBatch & {
    readonly policy: RetryPolicy;
    /** The total of the batch waits for an operator. */
    readonly totalUnconfirmed: boolean;
    readonly keyOf: (generation: number) => string;
  };
  stage: Brought;
  'pass-on': PassOn;
  restore: Restoration;
  record: { readonly answer: Answer };
  hear: { readonly statuses: readonly Status[] };
  share: object;
  /** `isProven`: the answer names the document of the earlier key. */
  'next-key': {
    readonly generation: number;
    readonly idempotencyKey: string;
    readonly attempts: number;
    readonly isProven: boolean;
    readonly now: number;
  };
}

type Kind = keyof Commands;

/** What may be ordered. */
export type Command = { [K in Kind]: { readonly kind: K } & Commands[K] }[Kind];

/** A reason that dropping the file again does not end: the corrections for it bring what is missing. */
const MERCHANT_DETAILS_MISSING = 'merchant-details-missing';

/** Flags that say: a second document of this invoice exists, or existed. */
const SECOND_DOCUMENT: readonly string[] = [ISSUED_EARLIER, 'second-service-id'];

type Invoice = InvoiceLife & Surroundings;

const DECISIONS: { readonly [K in Kind]: (invoice: Invoice, command: Commands[K]) => Decided | Refused } = {
  hold,
  close,
  expire: (invoice, command) => (isOver(invoice, command) ? become(invoice, 'unsettled', command) : NOT_NOW),
  release: (invoice, command) =>
    isReleased(invoice, command)
      ? changed(invoice, { state: 'staged', ownerBatch: command.batchId, reason: null, changedAt: command.now })
      : NOT_NOW,
  repeat: (invoice, command) =>
    isRepeated(invoice, command)
      ? changed(invoice, { state: 'sending', ownerBatch: command.batchId, exposure: 'lost' })
      : NOT_NOW,
  take: (invoice, command) =>
    isTaken(invoice, command)
      ? changed(invoice, { state: 'sending', exposure: 'lost', changedAt: command.now })
      : NOT_NOW,
  freeze,
  unfreeze,
  'hand-out': handOut,
  'give-up': (invoice, command) =>
    isStaleRepeat(invoice, command) && isForgotten(invoice, command)
      ? become(invoice, 'unknown', { ...command, reason: invoice.reason ?? command.reason })
      : NOT_NOW,
  'end-repeats': endRepeats,
  'sent-without': sentWithout,
  doubt: (invoice, command) =>
    isOwn(invoice, command) && invoice.state === 'staged' ? doubted(invoice, command) : NOT_NOW,
  retry,
  stage,
  'pass-on': passOn,
  restore,
  record: (invoice, { answer }) => record(invoice, answer),
  hear: (invoice, { statuses }) => hear(invoice, statuses),
  share: (invoice) => share(invoice),
  'next-key': takeNextKey,
};

/** Applies one command to one invoice. */
export function decide(invoice: Invoice, command: Command): Decided | Refused {
  // Command and decision have the same kind, which a union does not say.
  return (DECISIONS[command.kind] as (one: Invoice, ordered: Command) => Decided | Refused)(invoice, command);
}

function changed(invoice: InvoiceLife, change: Partial<InvoiceLife>): Decided {
  return { invoice: { ...invoice, ...change } };
}

function become(invoice: InvoiceLife, state: InvoiceState, { reason, now }: WithReason): Decided {
  return changed(invoice, { state, reason, changedAt: now });
}

function isOwn({ ownerBatch }: InvoiceLife, { batchId }: OfBatch): boolean {
  return ownerBatch === batchId;
}

function hold(invoice: InvoiceLife, command: Commands['hold']): Decided | Refused {
  const { unanswered, andHeld, now } = command;
  if (!isOwn(invoice, command)) return NOT_NOW;
  if (isUnsent(invoice) || (andHeld && isExplained(invoice))) return become(invoice, 'held', command);
  return unanswered !== null && isUnanswered(invoice)
    ? become(invoice, 'unknown', { reason: unanswered, now })
    : NOT_NOW;
}

/** A process had it to send, and the ledger knows no POST of it that may have created a document. */
function isUnanswered({ state, exposure, firstSentAt }: InvoiceLife): boolean {
  return state === 'sending' && (exposure === 'open' || (exposure === 'lost' && firstSentAt === null));
}

/** What dropping the file again would not release keeps its reason. */
function isExplained(invoice: InvoiceLife): boolean {
  return invoice.state === 'held' && goesByItself(invoice) && invoice.reason?.code !== MERCHANT_DETAILS_MISSING;
}

function close(invoice: InvoiceLife, command: Commands['close']): Decided | Refused {
  const { reason, unsent, now } = command;
  const { state, exposure } = invoice;
  if (!isOwn(invoice, command)) return NOT_NOW;
  if (state === 'accepted') return become(invoice, 'unsettled', command);
  if (state === 'staged') return become(invoice, 'held', { reason: invoice.reason ?? unsent, now });
  if (state !== 'sending') return NOT_NOW;
  // The reason of its last try says more.
  return become(invoice, exposure === 'none' ? 'held' : 'unknown', { reason: invoice.reason ?? reason, now });
}

function isOver({ state, acceptedAt }: InvoiceLife, { acceptedBefore, now }: Commands['expire']): boolean {
  return state === 'accepted' && acceptedAt !== null && (acceptedAt < acceptedBefore || isAhead(acceptedAt, now));
}

function isReleased(invoice: Invoice, command: Commands['release']): boolean {
  if (!goesByItself(invoice)) return false;
  if (isOwn(invoice, command)) return invoice.state === 'held';
  return invoice.ownerIsClosed && (invoice.state === 'staged' || invoice.state === 'held');
}

/** Inside the retention window a repeat cannot make a second document, unless another sender used the key. */
function mayRepeat(invoice: Invoice, frozenAfter: number): boolean {
  const { frozenAt, reason } = invoice;
  const isKnown = frozenAt !== null && frozenAt > frozenAfter;
  return isKnown && goesByItself(invoice) && !NEVER_REPEATED_REASONS.includes(reason?.code ?? '');
}

function isRepeated(invoice: Invoice, command: Commands['repeat']): boolean {
  const isFree = isOwn(invoice, command) || invoice.ownerIsClosed;
  return invoice.state === 'unknown' && isFree && mayRepeat(invoice, command.frozenAfter);
}

/** Of a closed batch. After the first one's time of change, no other reconciler takes it. */
function isTaken(invoice: Invoice, command: Commands['take']): boolean {
  const { state, ownerIsClosed, frozenAt } = invoice;
  const isOpen = state === 'unknown' || isStaleRepeat(invoice, command);
  const isPast = !isAhead(frozenAt ?? 0, command.now);
  return ownerIsClosed && isOpen && isPast && mayRepeat(invoice, command.frozenAfter);
}

function freeze(invoice: InvoiceLife, command: Commands['freeze']): Decided | Refused {
  const { generation, mayExist, now } = command;
  if (!isOwn(invoice, command) || invoice.state !== 'staged' || invoice.generation !== generation) return NOT_NOW;
  return changed(invoice, { state: 'sending', exposure: mayExist ? 'lost' : 'open', reason: null, changedAt: now });
}

/** Only the attempt that froze it may put it back. A later attempt that finds it `sending` makes its exposure `lost`. */
function unfreeze(invoice: InvoiceLife, command: Commands['unfreeze']): Decided | Refused {
  const { state, exposure, generation, idempotencyKey } = invoice;
  if (!isOwn(invoice, command) || state !== 'sending' || exposure !== 'open' || generation !== command.generation)
    return NOT_NOW;
  // An attempt that had the earlier key of this generation says nothing of POSTs under its own.
  if ((command.idempotencyKey ?? idempotencyKey) !== idempotencyKey) return NOT_NOW;
  return changed(invoice, { state: 'staged', exposure: 'none', reason: command.reason, changedAt: command.now });
}

/**
 * An earlier attempt left it `sending`. Where an answer may be lost it stays so; where every answer was written, the
 * POST that comes now is open. The later time shows a reconciler that what it heard before proves nothing any more.
 */
function handOut(invoice: InvoiceLife, command: Commands['hand-out']): Decided | Refused {
  if (!isOwn(invoice, command) || invoice.state !== 'sending') return NOT_NOW;
  const exposure = invoice.exposure === 'none' ? 'open' : 'lost';
  return changed(invoice, { exposure, changedAt: invoice.changedAt + 1 });
}

/** A repeat that has not changed for so long that its process has ended. */
function isStaleRepeat(
  { state, changedAt }: InvoiceLife,
  { staleBefore, now }: { readonly staleBefore: number; readonly now: number },
): boolean {
  return state === 'sending' && (changedAt < staleBefore || isAhead(changedAt, now));
}

/** Its batch sends nothing any more, and no repeat of its key is safe. A time of freezing that lies ahead is wrong, so it counts as too old. */
function isForgotten(
  { frozenAt, ownerIsClosed }: Surroundings,
  { frozenUntil, now }: { readonly frozenUntil: number; readonly now: number },
): boolean {
  return ownerIsClosed && frozenAt !== null && (frozenAt <= frozenUntil || isAhead(frozenAt, now));
}

/**
 * Ends what a repeat would have settled. A spent key keeps its reason, because by that reason a retry after the window
 * gives the invoice a new key. The time of the last change stays: the invoice has waited since then.
 */
function endRepeats(invoice: Invoice, command: Commands['end-repeats']): Decided | Refused {
  const code = invoice.reason?.code ?? '';
  if (invoice.state !== 'unknown' || !isForgotten(invoice, command) || !goesByItself(invoice)) return NOT_NOW;
  if (code === command.reason.code || SPENT_KEY_REASONS.includes(code)) return NOT_NOW;
  const message = isAhead(invoice.frozenAt ?? 0, command.now) ? command.messageAhead : command.reason.message;
  return changed(invoice, { reason: { code: command.reason.code, message } });
}

/** A POST with the same key is no more than another try. After one with another key, its own must not be used any more. */
function sentWithout(invoice: InvoiceLife, command: Commands['sent-without']): Decided | Refused {
  const { state, idempotencyKey } = invoice;
  if (state === 'issued') return NOT_NOW;
  if (idempotencyKey !== command.idempotencyKey) return doubted(invoice, command);
  return state === 'sending' ? changed(invoice, { exposure: 'lost' }) : NOT_NOW;
}

/** Nothing of it goes by itself any more. What the service has said of it stays said. */
function doubted(invoice: InvoiceLife, { reason, now }: WithReason): Decided {
  const flags = [...invoice.flags.filter((flag) => flag !== OLDER_LEDGER), OLDER_LEDGER];
  const { state } = invoice;
  if (state === 'held' || isUnsent(invoice)) return changed(invoice, { flags, state: 'held', reason, changedAt: now });
  const isOpen = state === 'sending' || state === 'unknown';
  return changed(invoice, isOpen ? { flags, state: 'unknown', reason, changedAt: now } : { flags, changedAt: now });
}

function retry(invoice: Invoice, command: Commands['retry']): Decided | Refused {
  const { batchId, policy, totalUnconfirmed, keyOf } = command;
  const { state, generation, flags, frozenAt } = invoice;
  const free = isOwn(invoice, command) || invoice.ownerIsClosed;
  const reasonCode = invoice.reason?.code ?? null;
  const decision = decideRetry({ state, generation, reasonCode, flags, frozenAt, free, totalUnconfirmed }, policy);
  if ('refusal' in decision) return decision;
  const { move } = decision;
  // The risk that an operator has accepted says nothing of what comes now.
  const sent = { ownerBatch: batchId, changedAt: policy.now, flags: flags.filter((flag) => flag !== OLDER_LEDGER) };
  if (move === 'repeat') {
    const effects: readonly Effect[] = policy.acceptDuplicateRisk ? ['accept-risk'] : [];
    return { move, effects, ...changed(invoice, { ...sent, state: 'sending', exposure: 'lost' }) };
  }
  if (move === 'release') {
    // An earlier key brought a document, and an operator accepts another one: it goes under a key of its own.
    const needsOwnKey = flags.some((flag) => SECOND_DOCUMENT.includes(flag));
    const idempotencyKey = needsOwnKey ? keyOf(generation) : invoice.idempotencyKey;
    return { move, ...changed(invoice, { ...sent, state: 'staged', reason: null, idempotencyKey }) };
  }
  // While the service remembers the old key, it is asked once more before the new one is used.
  const isAsked = move === 'regenerate' && insideRetention(frozenAt, policy);
  return {
    move,
    kept: [keptAsItEnded(invoice)],
    effects: ['next-content', ...(isAsked ? (['next-body'] as const) : [])],
    ...changed(invoice, {
      ...sent,
      ...NEW_GENERATION,
      generation: generation + 1,
      idempotencyKey: isAsked ? invoice.idempotencyKey : keyOf(generation + 1),
    }),
  };
}

const NOT_SENT_YET: Reason = {
  code: 'not-sent',
  message: 'Its earlier key brought what it had brought before; it is not sent yet under its next key',
};

/**
 * The earlier key was asked once more and brought the same. An answer after which another process has had the invoice
 * to send proves nothing, unless it names the document of that key. Of a closed batch it is not sent by itself.
 */
function takeNextKey(invoice: Invoice, command: Commands['next-key']): Decided | Refused {
  const { state, generation, exposure, ownerIsClosed } = invoice;
  if (state !== 'sending' || generation !== command.generation || !hasEarlierKey(invoice)) return NOT_NOW;
  if (exposure === 'lost' && !command.isProven) return NOT_NOW;
  return changed(invoice, {
    state: ownerIsClosed ? 'held' : 'staged',
    reason: ownerIsClosed ? NOT_SENT_YET : null,
    idempotencyKey: command.idempotencyKey,
    exposure: 'none',
    attempts: invoice.attempts + command.attempts,
    firstSentAt: null,
    changedAt: command.now,
  });
}
