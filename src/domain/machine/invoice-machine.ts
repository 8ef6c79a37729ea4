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
import { isAhead } from '../time/instants.ts';

/**
 * Decides each change of an invoice, in one pure function. The ledger locks invoices, calls `decide` for each, and
 * writes the result. "Unsent": no POST can have reached the service; "open": `sending` or `unknown`.
 *
 *   command       from                                             to
 *   hold          staged, or sending but never POSTed              held
 *                 sending, and no POST was answered                unknown, if the command asks for it
 *                 held                                             held with another reason, if the command asks for it
 *   close         staged, or sending but never POSTed              held
 *                 sending                                          unknown
 *                 accepted                                         unsettled
 *   expire        accepted too long ago                            unsettled
 *   release       held, or staged in a closed batch                staged
 *   repeat        unknown                                          sending (same key, same bytes)
 *   take          unknown, or a repeat that a crash ended          sending (same key, same bytes; for reconciliation)
 *   freeze        staged                                           sending
 *   unfreeze      sending, and this attempt POSTed nothing         staged
 *   hand-out      sending                                          sending (the exposure says that a POST may be out)
 *   give-up       a repeat that a crash ended                      unknown
 *   end-repeats   unknown                                          unknown with another reason
 *   retry         held, failed, rejected, unknown                  the state that `decideRetry` chooses
 *   stage         staged or held, and its batch sends nothing      staged with the same content
 *                 the same, or failed, or rejected                 staged as the next generation, with other content
 *   pass-on       staged, and its batch gives up the staging       staged or held, owned by a batch that waits for it
 *   restore       unsent correction that its batch gives up        the state in which the earlier generation ended
 *   next-key      sending, and the earlier key gave no new answer  staged or held, with the key of its own generation
 *   sent-without  any but issued, after another key was used       flagged, and held if unsent, unknown if open
 *   doubt         staged                                           held, and flagged
 *   record        sending                                          accepted, rejected, held, unknown, or still sending
 *                 unknown                                          accepted, or unknown
 *                 any, if the answer comes late                    flagged, and held if unsent, unknown if open
 *   hear          accepted, unsettled                              issued, failed
 *                 failed                                           issued
 *                 any, if an earlier document is issued            issued by that document, held, unknown, or flagged
 *   share         any                                              flagged
 */
interface OfBatch {
  readonly batchId: string;
}

interface WithReason {
  readonly reason: Reason;
  readonly now: number;
}

/** Arguments of each command. Times are epoch milliseconds. */
interface Commands {
  /**
   * `unanswered`: the reason for invoices that a process had to send and whose recorded POSTs cannot have created a
   * document; null leaves these invoices unchanged. `andHeld`: invoices that are held already get the reason too.
   */
  hold: OfBatch & WithReason & { readonly unanswered: Reason | null; readonly andHeld: boolean };
  /** `unsent`: the reason for invoices that were never handed out. An invoice that has a reason keeps it. */
  close: OfBatch & WithReason & { readonly unsent: Reason };
  expire: WithReason & { readonly acceptedBefore: number };
  release: OfBatch & { readonly now: number };
  repeat: OfBatch & { readonly frozenAfter: number };
  /** `idempotencyKey`: the key that the attempt had; the default is the key of the generation. */
  unfreeze: OfBatch & WithReason & { readonly generation: number; readonly idempotencyKey?: string | undefined };
  /** `mayExist`: the key was used without the ledger's knowledge. The ledger runs this command as a statement of its own. */
  freeze: OfBatch & { readonly generation: number; readonly mayExist: boolean; readonly now: number };
  'hand-out': OfBatch;
  take: { readonly staleBefore: number; readonly frozenAfter: number; readonly now: number };
  /** `frozenUntil`: the service may have forgotten keys that were frozen at this time or before. An invoice that has a reason keeps it. */
  'give-up': WithReason & { readonly staleBefore: number; readonly frozenUntil: number };
  /** `messageAhead`: the message for an invoice that was frozen by a clock that ran ahead. */
  'end-repeats': WithReason & { readonly frozenUntil: number; readonly messageAhead: string };
  /** The invoice was sent without the ledger's knowledge; `idempotencyKey` is the last key used. */
  'sent-without': WithReason & { readonly idempotencyKey: string };
  doubt: OfBatch & WithReason;
  retry: OfBatch & {
    readonly policy: RetryPolicy;
    /** The batch waits for an operator to confirm its total. */
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

/** One command with its arguments. */
export type Command = { [K in Kind]: { readonly kind: K } & Commands[K] }[Kind];

/** Dropping the file again does not release an invoice with this reason: the corrections file supplies the missing details. */
const MERCHANT_DETAILS_MISSING = 'merchant-details-missing';

/** Flags of an invoice of which a second document exists or existed. */
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
  // Command and decision have the same kind, but the union type cannot express this.
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

/** True if a process had the invoice to send and the ledger knows no POST that may have created a document. */
function isUnanswered({ state, exposure, firstSentAt }: InvoiceLife): boolean {
  return state === 'sending' && (exposure === 'open' || (exposure === 'lost' && firstSentAt === null));
}

/** True if dropping the file again would release the invoice, so that its reason may be replaced. */
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
  // The reason of the last attempt is more exact than the reason of the command.
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

/** Inside the retention window a repeat cannot create a second document, unless another sender used the key. */
function mayRepeat(invoice: Invoice, frozenAfter: number): boolean {
  const { frozenAt, reason } = invoice;
  const isKnown = frozenAt !== null && frozenAt > frozenAfter;
  return isKnown && goesByItself(invoice) && !NEVER_REPEATED_REASONS.includes(reason?.code ?? '');
}

function isRepeated(invoice: Invoice, command: Commands['repeat']): boolean {
  const isFree = isOwn(invoice, command) || invoice.ownerIsClosed;
  return invoice.state === 'unknown' && isFree && mayRepeat(invoice, command.frozenAfter);
}

/** Takes invoices of closed batches. The new time of change keeps other reconcilers from taking the same one. */
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

/** Only the attempt that froze the invoice may unfreeze it; a later attempt makes its exposure `lost`. */
function unfreeze(invoice: InvoiceLife, command: Commands['unfreeze']): Decided | Refused {
  const { state, exposure, generation, idempotencyKey } = invoice;
  if (!isOwn(invoice, command) || state !== 'sending' || exposure !== 'open' || generation !== command.generation)
    return NOT_NOW;
  // An attempt with the earlier key of this generation says nothing about POSTs under the generation's own key.
  if ((command.idempotencyKey ?? idempotencyKey) !== idempotencyKey) return NOT_NOW;
  return changed(invoice, { state: 'staged', exposure: 'none', reason: command.reason, changedAt: command.now });
}

/**
 * Hands out an invoice that an earlier attempt left `sending`, as `open` if every answer was recorded, and as `lost` if
 * not. The later time of change tells a reconciler that what it heard before proves nothing any more.
 */
function handOut(invoice: InvoiceLife, command: Commands['hand-out']): Decided | Refused {
  if (!isOwn(invoice, command) || invoice.state !== 'sending') return NOT_NOW;
  const exposure = invoice.exposure === 'none' ? 'open' : 'lost';
  return changed(invoice, { exposure, changedAt: invoice.changedAt + 1 });
}

/** True for a repeat that has not changed for so long that its process must have ended. */
function isStaleRepeat(
  { state, changedAt }: InvoiceLife,
  { staleBefore, now }: { readonly staleBefore: number; readonly now: number },
): boolean {
  return state === 'sending' && (changedAt < staleBefore || isAhead(changedAt, now));
}

/** True if the batch is closed and a repeat is no longer safe. A freezing time in the future is wrong and counts as too old. */
function isForgotten(
  { frozenAt, ownerIsClosed }: Surroundings,
  { frozenUntil, now }: { readonly frozenUntil: number; readonly now: number },
): boolean {
  return ownerIsClosed && frozenAt !== null && (frozenAt <= frozenUntil || isAhead(frozenAt, now));
}

/**
 * Gives the invoice the reason that no repeat will settle it. The reason of a spent key stays, because after the window
 * a retry reads it to choose a new key. The time of the last change stays, because the invoice has waited since then.
 */
function endRepeats(invoice: Invoice, command: Commands['end-repeats']): Decided | Refused {
  const code = invoice.reason?.code ?? '';
  if (invoice.state !== 'unknown' || !isForgotten(invoice, command) || !goesByItself(invoice)) return NOT_NOW;
  if (code === command.reason.code || SPENT_KEY_REASONS.includes(code)) return NOT_NOW;
  const message = isAhead(invoice.frozenAt ?? 0, command.now) ? command.messageAhead : command.reason.message;
  return changed(invoice, { reason: { code: command.reason.code, message } });
}

/** A POST with the same key is one more attempt. After one with another key, the invoice's own key must not be used. */
function sentWithout(invoice: InvoiceLife, command: Commands['sent-without']): Decided | Refused {
  const { state, idempotencyKey } = invoice;
  if (state === 'issued') return NOT_NOW;
  if (idempotencyKey !== command.idempotencyKey) return doubted(invoice, command);
  return state === 'sending' ? changed(invoice, { exposure: 'lost' }) : NOT_NOW;
}

/** Flags the invoice so that only an operator sends it again. What the service said about it stays. */
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
  // The flag of an older ledger is removed, because an operator accepted the risk of that earlier time only.
  const sent = { ownerBatch: batchId, changedAt: policy.now, flags: flags.filter((flag) => flag !== OLDER_LEDGER) };
  if (move === 'repeat') {
    const effects: readonly Effect[] = policy.acceptDuplicateRisk ? ['accept-risk'] : [];
    return { move, effects, ...changed(invoice, { ...sent, state: 'sending', exposure: 'lost' }) };
  }
  if (move === 'release') {
    // An earlier key created a document. A second document, which an operator accepts, needs a key of its own.
    const needsOwnKey = flags.some((flag) => SECOND_DOCUMENT.includes(flag));
    const idempotencyKey = needsOwnKey ? keyOf(generation) : invoice.idempotencyKey;
    return { move, ...changed(invoice, { ...sent, state: 'staged', reason: null, idempotencyKey }) };
  }
  // While the service remembers the old key, Lote asks with it once more before it uses the new key.
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
 * Takes the next key after the earlier one has given its old answer again. If another process has had the invoice
 * since, only an answer that names the document of the earlier key is proof. A closed batch holds the invoice.
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
