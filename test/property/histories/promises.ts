import type { Answer } from '../../../src/domain/machine/invoice-answers.ts';
import { hasEnded, type InvoiceLife } from '../../../src/domain/machine/invoice-life.ts';
import { type Command, decide } from '../../../src/domain/machine/invoice-machine.ts';
import { INVOICE_STATES, type InvoiceState } from '../../../src/domain/invoice-state.ts';
import type { Invoice, Life, Watcher } from './life.ts';
import { expectAnyOrder } from './orders.ts';
import { DAY } from './service.ts';

/** What is promised of every history. */
export const PROMISES = {
  oneKey: 'POSTs no second key before the first one was definitively refused, has failed, or is accepted as a risk',
  issued: 'never leaves `issued`',
  proof: 'calls nothing unsent, held or rejected that may exist, without proof',
  order: 'ends alike in whatever order answer, event and status arrive',
  repeated: 'changes nothing more when a command is repeated, but that POSTs, GETs and hand-outs are counted',
  stale: 'changes nothing by the word of a batch, a generation or a repeat that is not the present one',
} as const;

export type Promised = keyof typeof PROMISES;

/** A history has broken a promise. */
export class Broken extends Error {
  readonly promise: Promised;

  constructor(promise: Promised, found: string) {
    super(`${PROMISES[promise]}: ${found}`);
    this.promise = promise;
  }
}

const UNSENT: readonly InvoiceState[] = ['staged', 'held', 'rejected'];

/** Checks every promise at every step, and counts what the machine has done. */
export class PromiseWatcher implements Watcher {
  /** Commands that changed an invoice, by their kind. */
  readonly commands = new Map<Command['kind'], number>();
  /** Moves from state to state. */
  readonly moves = new Map(INVOICE_STATES.map((from) => [from, new Set<InvoiceState>()]));
  posted = 0;

  changed(life: Life, before: Invoice, command: Command): void {
    const { invoice } = life;
    this.commands.set(command.kind, (this.commands.get(command.kind) ?? 0) + 1);
    if (before.state === 'issued') expectIssued(before, invoice);
    else if (before.state !== invoice.state) this.moves.get(before.state)?.add(invoice.state);
    if (UNSENT.includes(invoice.state)) expectProof(life, before);
    expectSameAgain(invoice, command, before);
    if (life.random.once(8)) expectStaleRefused(life.random.once(2) ? before : invoice, command);
    if (life.attempts.length > 0 && life.random.once(24)) expectAnyOrder(life);
  }

  posts({ service, now }: Life, key: string): void {
    this.posted += 1;
    if (service.use(key).isRisked) return;
    const other = service.used.find((use) => use.key !== key && !service.isOver(use));
    if (other !== undefined) throw new Broken('oneKey', `"${key}" is POSTed, and "${other.key}" may have a document`);
    const own = service.documentOf(key);
    if (own !== undefined && own.known !== 'failed' && now - own.createdAt >= DAY)
      throw new Broken('oneKey', `"${key}" is POSTed, which the service has forgotten`);
  }

  stale({ invoice }: Life, before: Invoice): void {
    if (invoice !== before) throw new Broken('stale', 'the answer to an earlier generation has changed the invoice');
  }

  note(_what: string, _given?: unknown): void {}
}

function expectIssued(before: Invoice, { state, serviceId, generation }: Invoice): void {
  if (state === 'issued' && serviceId === before.serviceId && generation === before.generation) return;
  throw new Broken('issued', `it is ${state}, ${serviceId}, in generation ${generation}`);
}

/** Each POST of its key was refused, or its document is known beside it, has failed, or is accepted as a risk. */
function expectProof({ service, invoice, lost }: Life, before: Invoice): void {
  const { state, idempotencyKey: key } = invoice;
  if (state === before.state && key === before.idempotencyKey) return;
  const use = service.used.find((one) => one.key === key);
  // The ledger remembers apart what was sent without it.
  if (use === undefined || service.isOver(use) || lost?.key === key) return;
  const document = service.documentOf(key);
  if (document !== undefined && invoice.kept.some(({ serviceId }) => serviceId === document.serviceId)) return;
  throw new Broken('proof', `it is ${state}, and "${key}" may have a document`);
}

function expectSameAgain(invoice: Invoice, command: Command, before: Invoice): void {
  // A GET of what was another document before is a word about the present one now.
  const isNews = command.kind === 'hear' && before.serviceId !== invoice.serviceId;
  const again = decide(invoice, isNews ? { kind: 'hear', statuses: [] } : command);
  if ('refusal' in again || isAlike(invoice, again.invoice)) return;
  throw new Broken('repeated', `${command.kind} makes ${shown(again.invoice)} of ${shown(invoice)}`);
}

function isAlike(a: InvoiceLife, b: InvoiceLife): boolean {
  return (
    a.state === b.state &&
    a.generation === b.generation &&
    a.fingerprint === b.fingerprint &&
    a.idempotencyKey === b.idempotencyKey &&
    a.ownerBatch === b.ownerBatch &&
    a.serviceId === b.serviceId &&
    a.firstSentAt === b.firstSentAt &&
    a.acceptedAt === b.acceptedAt &&
    a.settledAt === b.settledAt &&
    a.reason?.code === b.reason?.code &&
    a.flags.length === b.flags.length
  );
}

/** The command once more, by a batch that does not own the invoice, for an earlier generation, and for an earlier repeat. */
function expectStaleRefused(invoice: Invoice, command: Command): void {
  const { kind } = command;
  const isCorrection = kind === 'stage' && hasEnded(invoice.state);
  if ('batchId' in command && !invoice.ownerIsClosed && !isCorrection)
    expectRefused(invoice, { ...command, batchId: 'another batch' });
  if (kind === 'unfreeze' || kind === 'freeze' || kind === 'next-key')
    expectRefused(invoice, { ...command, generation: invoice.generation - 1 });
  if (kind === 'unfreeze') expectRefused(invoice, { ...command, idempotencyKey: 'an earlier key' });
  if (kind === 'record') expectStaleAnswer(invoice, command.answer);
}

function expectRefused(invoice: Invoice, command: Command): void {
  const decided = decide(invoice, command);
  if (!('refusal' in decided)) throw new Broken('stale', `${command.kind} makes it ${shown(decided.invoice)}`);
}

/** An answer to an earlier generation only stops the invoice; a proof counts only while no process has taken it since. */
function expectStaleAnswer(invoice: Invoice, answer: Answer): void {
  const earlier = { ...answer, generation: invoice.generation - 1 };
  const decided = decide(invoice, { kind: 'record', answer: earlier });
  if (!('refusal' in decided)) {
    const { state } = decided.invoice;
    const isStopped = state === invoice.state || state === 'held' || state === 'unknown' || state === 'issued';
    if (answer.outcome.kind !== 'accepted' || !isStopped)
      throw new Broken('stale', `an answer to an earlier generation makes it ${shown(decided.invoice)}`);
  }
  if (invoice.exposure !== 'lost' || answer.outcome.kind !== 'rejected') return;
  const outcome = { ...answer.outcome, proven: true };
  const late = decide(invoice, { kind: 'record', answer: { ...answer, outcome, takenAt: invoice.changedAt - 1 } });
  if ('invoice' in late && late.invoice.state === 'rejected')
    throw new Broken('stale', 'the refusal of an earlier repeat rejects it');
}

function shown({ state, generation, idempotencyKey, serviceId, flags, reason }: InvoiceLife): string {
  return [state, generation, idempotencyKey, serviceId, reason?.code, ...flags].join(' ');
}
