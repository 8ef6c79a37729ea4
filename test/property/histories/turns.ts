import type { InvoiceState } from '../../../src/domain/invoice-state.ts';
import type { Status } from '../../../src/domain/machine/invoice-answers.ts';
import type { Command } from '../../../src/domain/machine/invoice-machine.ts';
import { attachmentOf, type Brought } from '../../../src/domain/machine/invoice-staging.ts';
import { type Batch, BATCHES, BECAUSE, contentOf, fingerprintOf, isKeyOf, keyOf, type Life } from './life.ts';
import { DAY, tell } from './service.ts';
import { crash, handOut, post, putBack, reconcile, record } from './workers.ts';

/** What may happen at any time. */
const TURNS = {
  'hand out': handOut,
  post,
  record,
  crash: (life: Life) => crash(life),
  'put back': putBack,
  reconcile,
  settle,
  'undo a failure': undoFailure,
  webhook: deliver,
  GET: ask,
  'late answer of a GET': hearLate,
  drop,
  'give up a staging': giveUpStaging,
  'close a page': closePage,
  hold,
  release,
  repeat,
  'close a batch': close,
  'open a batch again': open,
  retry,
  'end repeats': endRepeats,
  'share an id': share,
  'a ledger from a copy': loseTime,
  'a minute': (life: Life) => void (life.now += 60_001),
  'a day': (life: Life) => void (life.now += DAY),
} as const satisfies Record<string, (life: Life) => void>;

type Turn = keyof typeof TURNS;

const WORK: readonly Turn[] = ['hand out', 'post', 'post', 'record', 'record'];
const WORDS: readonly Turn[] = ['settle', 'webhook', 'GET', 'late answer of a GET'];
/** What is likely in a state: chance alone seldom comes far. */
const LIKELY: Readonly<Record<InvoiceState, readonly Turn[]>> = {
  staged: ['hand out', 'hand out', 'hand out', 'drop', 'give up a staging', 'hold', 'close a batch'],
  sending: [...WORK, ...WORK, 'put back', 'hold', 'close a page', 'close a batch', 'a minute'],
  accepted: [...WORDS, ...WORDS, 'record', 'close a page', 'close a batch'],
  issued: [...WORDS, 'post', 'record', 'undo a failure', 'drop', 'retry'],
  failed: ['retry', 'retry', 'drop', 'undo a failure', 'record', ...WORDS],
  rejected: ['retry', 'retry', 'drop', 'record'],
  unknown: ['reconcile', 'repeat', 'post', 'record', 'retry', 'end repeats', 'close a batch'],
  unsettled: [...WORDS, 'open a batch again'],
  held: ['release', 'retry', 'drop', 'record', 'a ledger from a copy'],
};
const ALL = Object.keys(TURNS) as readonly Turn[];

/** Lets one thing happen, if it can. */
export function takeTurn(life: Life): void {
  const { random, invoice, watcher } = life;
  const turn = random.pick(random.once(4) ? ALL : LIKELY[invoice.state]) ?? 'a minute';
  life.now += 1;
  watcher.note(turn);
  TURNS[turn](life);
}

const MOST_GENERATIONS = 3;

/** Another file with the invoice, or with other content for it. */
function drop(life: Life): void {
  const { invoice, now, random, lost } = life;
  if (life.batches.length === BATCHES.length) return;
  const batch = life.begin(random.below(2));
  const { content, id } = batch;
  const brought: Brought = {
    batchId: id,
    fingerprint: fingerprintOf(content),
    isStaged: false,
    isAwaited: false,
    keepsRejected: random.once(4),
    riskAccepted: random.once(6),
    retentionMs: DAY,
    wasLost: lost !== null,
    continuedKey: lost !== null && isKeyOf(content, lost.key) ? lost.key : null,
    keyOf: (generation) => keyOf(content, generation),
    now,
  };
  const attachment = attachmentOf(invoice, brought);
  life.watcher.note(attachment);
  batch.isLive = attachment !== 'conflict' && attachment !== 'needs-risk';
  if (attachment === 'correct') replaceContent(life, id);
  const command = { kind: 'stage' as const, ...brought };
  if (brought.riskAccepted && attachment === 'correct') orderAtRisk(life, command);
  else life.order(command);
}

/** Lines of the batches before keep the outcome of their content. */
function replaceContent({ batches, invoice }: Life, batchId: string): void {
  for (const other of batches) {
    if (other.id === batchId || !other.isLive) continue;
    other.isLive = false;
    other.holds = invoice.generation;
  }
}

/** What was sent without the ledger goes with the key that it has now. */
function orderAtRisk(life: Life, command: Command): void {
  if (life.orderAtRisk(command) && life.lost !== null) life.lost = { key: life.invoice.idempotencyKey, at: life.now };
}

/** A file is stopped while it is read: what it would have sent goes to a batch that waits for it, or is what it was. */
function giveUpStaging(life: Life): void {
  const batch = life.liveBatch();
  if (batch?.isStaging !== true || batch.isClosed || life.invoice.ownerBatch !== batch.id) return;
  const heir = life.batches.find((one) => one !== batch && one.isLive);
  if (heir !== undefined) {
    const reason = heir.isStaging ? null : BECAUSE;
    batch.isLive = !life.order({ kind: 'pass-on', batchId: batch.id, heir: heir.id, reason });
    return;
  }
  const generation = Math.max(0, ...life.batches.map(({ holds }) => holds ?? 0));
  const held = life.batches.find(({ holds }) => holds === generation);
  if (held === undefined || !life.order({ kind: 'restore', batchId: batch.id, generation, heir: held.id })) return;
  batch.isLive = false;
  for (const one of life.batches) if (one.holds === generation) Object.assign(one, { isLive: true, holds: null });
  life.load(
    life.invoice,
    life.invoice.kept.filter((one) => one.generation < generation),
  );
}

function closePage(life: Life): void {
  const batch = openBatch(life);
  if (batch === undefined) return;
  const { now } = life;
  if (life.invoice.state === 'accepted') life.order({ kind: 'expire', acceptedBefore: now, reason: BECAUSE, now });
  else life.order({ kind: 'close', batchId: batch.id, reason: BECAUSE, unsent: BECAUSE, now });
}

function openBatch(life: Life): Batch | undefined {
  const batch = life.liveBatch();
  return batch === undefined || batch.isClosed || batch.isStaging ? undefined : batch;
}

/** Sending stops. */
function hold(life: Life): void {
  const batch = openBatch(life);
  if (batch === undefined) return;
  const { now, random } = life;
  const { id: batchId } = batch;
  const unanswered = random.once(2) ? BECAUSE : null;
  life.order({ kind: 'hold', batchId, reason: BECAUSE, unanswered, andHeld: random.once(2), now });
}

function release(life: Life): void {
  const batch = openBatch(life);
  if (batch !== undefined) life.order({ kind: 'release', batchId: batch.id, now: life.now });
}

function repeat(life: Life): void {
  const batch = openBatch(life);
  if (batch !== undefined) life.order({ kind: 'repeat', batchId: batch.id, frozenAfter: life.now - DAY });
}

function close(life: Life): void {
  const batch = openBatch(life);
  if (batch === undefined) return;
  const isEnded = life.random.once(2);
  if (isEnded) life.order({ kind: 'close', batchId: batch.id, reason: BECAUSE, unsent: BECAUSE, now: life.now });
  batch.isClosed = true;
  life.load();
}

function open(life: Life): void {
  const batch = life.liveBatch();
  if (batch === undefined) return;
  batch.isClosed = false;
  life.load();
}

function retry(life: Life): void {
  const batch = life.liveBatch();
  if (batch === undefined) return;
  const { random, now } = life;
  const acceptDuplicateRisk = random.once(6);
  const policy = {
    maxGenerations: MOST_GENERATIONS,
    retentionMs: DAY,
    rejectionIsProof: !random.once(4),
    acceptDuplicateRisk,
    unattended: !acceptDuplicateRisk && random.once(3),
    now,
  };
  const content = contentOf(life);
  const command = {
    kind: 'retry' as const,
    batchId: batch.id,
    policy,
    totalUnconfirmed: random.once(16),
    keyOf: (generation: number) => keyOf(content, generation),
  };
  if (acceptDuplicateRisk) orderAtRisk(life, command);
  else life.order(command);
}

/** Another invoice is answered with the id of this one. */
function share(life: Life): void {
  if (life.invoice.serviceId !== null) life.order({ kind: 'share' });
}

function endRepeats(life: Life): void {
  const { now } = life;
  const reason = { code: 'retention-window-over', message: 'over' };
  life.order({ kind: 'end-repeats', frozenUntil: now - DAY, reason, messageAhead: 'ahead', now });
}

/** The service decides. */
function settle({ service, random }: Life): void {
  const document = random.pick(service.documents);
  if (document?.state === 'processing') document.state = random.once(2) ? 'issued' : 'failed';
}

/** The service issues what it had called failed. */
function undoFailure({ service, random }: Life): void {
  const document = random.pick(service.documents);
  if (document?.state !== 'failed') return;
  document.state = 'issued';
  document.isUndone = true;
}

/** A delivery comes, perhaps twice, late, before the answer, or to a receiver that dies before it applies it. */
function deliver(life: Life): void {
  const document = life.random.pick(life.service.documents);
  if (document === undefined || document.state === 'processing') return;
  const verdict = document.isUndone && life.random.once(2) ? 'failed' : document.state;
  life.service.deliver(document, verdict, life.now);
  life.load();
  if (!life.random.once(8)) life.order({ kind: 'hear', statuses: [] });
}

/** A GET of a document that the ledger waits for; its answer may be late. */
function ask(life: Life): void {
  const { invoice, random, now, service } = life;
  const document = random.pick(service.documents);
  if (document === undefined) return;
  const { serviceId, state } = document;
  const isKept = invoice.kept.some((one) => one.serviceId === serviceId && one.state === 'accepted');
  if (serviceId !== invoice.serviceId && !isKept) return;
  const status = random.once(4) ? 'unreadable' : state;
  life.statuses.push({ serviceId, status, reason: null, unconfirmed: random.once(8), now });
  if (!random.once(4)) hearLate(life);
}

function hearLate(life: Life): void {
  const status = life.statuses.pop();
  if (status === undefined) return;
  const document = life.service.named(status.serviceId);
  if (document !== undefined && (status.status === 'issued' || status.status === 'failed'))
    tell(document, status.status);
  hear(life, [status]);
}

function hear(life: Life, statuses: readonly Status[]): void {
  life.order({ kind: 'hear', statuses });
}

/** The ledger is older than what was sent: with the key that the invoice has, or, after a refusal, with the next one. */
function loseTime(life: Life): void {
  const { service, random, now, invoice } = life;
  const { state, idempotencyKey, generation } = invoice;
  const isSame = ['staged', 'held', 'sending', 'unknown'].includes(state) && random.once(2);
  const key = isSame ? idempotencyKey : keyOf(contentOf(life), generation + 1);
  if (state === 'issued' || service.used.some((use) => use.key !== key && !service.isOver(use))) return;
  // No process repeats a key that the service may have forgotten.
  if (isSame && invoice.frozenAt !== null && now - invoice.frozenAt >= DAY) return;
  life.attempts.length = 0;
  const use = service.use(key);
  use.isOpen = true;
  if (random.once(2)) service.create(key, now);
  life.lost = { key, at: life.lost?.key === key ? life.lost.at : now };
  const reason = { code: 'older-ledger', message: 'older' };
  life.order({ kind: 'sent-without', idempotencyKey: key, reason, now });
  const isForgotten = !['staged', 'held'].includes(life.invoice.state) && life.invoice.idempotencyKey === key;
  if (isForgotten) life.lost = null;
}
