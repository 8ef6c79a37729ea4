import type { Answer } from '../../../src/domain/machine/invoice-answers.ts';
import type { KeptGeneration } from '../../../src/domain/machine/invoice-life.ts';
import type { Command } from '../../../src/domain/machine/invoice-machine.ts';
import { type Attempt, type Batch, BECAUSE, contentOf, keyOf, type Life } from './life.ts';
import { DAY, tell } from './service.ts';

/** A worker POSTs within a minute of being given the invoice, or not at all. */
const SLICE = 60_000;
/** A repeat that has not changed for so long is one that a crash ended. */
const STALE = 5;
const POSTS_OF_A_SLICE = 3;
const UNCLEAR = { code: 'earlier-key-unclear', message: 'unclear' };
const FORGOTTEN = { code: 'retention-window-over', message: 'forgotten' };
const OPEN = [
  BECAUSE,
  { code: 'stored-error', message: 'stored' },
  { code: 'key-known-with-other-bytes', message: 'bytes' },
];

/** What workers do with the invoice, as `activities/sending` does it. */

/** A batch gives what it owns to a worker. */
export function handOut(life: Life): void {
  const batch = life.liveBatch();
  if (batch === undefined || batch.isClosed || life.invoice.ownerBatch !== batch.id) return;
  batch.isStaging = false;
  const { state, generation } = life.invoice;
  const earlier = earlierOf(life);
  if (state === 'staged') freeze(life, batch, earlier);
  if (state !== 'sending' || !life.order({ kind: 'hand-out', batchId: batch.id })) return;
  const mayExist = life.invoice.exposure === 'lost';
  const frozenAt = life.invoice.frozenAt ?? 0;
  const mayExistSince = mayExist ? Math.max(frozenAt, life.riskAcceptedAt) : earlier === undefined ? null : frozenAt;
  const isForgotten = earlier === undefined && mayExistSince !== null && life.now - mayExistSince >= DAY;
  if (isForgotten)
    write(
      life,
      { generation, key: life.invoice.idempotencyKey, posts: 0, taken: null },
      { kind: 'unknown', reason: FORGOTTEN },
    );
  else give(life, { batchId: batch.id, earlier, mayExist, mayExistSince });
}

function freeze(life: Life, { id }: Batch, earlier: KeptGeneration | undefined): void {
  const { now, lost } = life;
  const { generation, idempotencyKey, frozenAt } = life.invoice;
  if (lost !== null && (lost.key !== idempotencyKey || now - lost.at >= DAY)) {
    life.order({ kind: 'doubt', batchId: id, reason: { code: 'older-ledger', message: 'older' }, now });
    return;
  }
  if (!life.order({ kind: 'freeze', batchId: id, generation, mayExist: lost !== null, now })) return;
  const before = earlier === undefined ? null : frozenAt;
  const mayExistSince = lost === null ? before : Math.min(lost.at, before ?? lost.at);
  life.frozenAt[generation] = mayExistSince ?? now;
  life.lost = null;
  life.load();
  give(life, { batchId: id, earlier, froze: true, mayExist: lost !== null, mayExistSince });
}

/** The earlier generation whose key the invoice still has. */
function earlierOf({ invoice: { kept, generation, idempotencyKey } }: Life): KeptGeneration | undefined {
  return kept.findLast(
    (one) =>
      one.generation > 0 &&
      one.generation < generation &&
      one.idempotencyKey === idempotencyKey &&
      one.state !== 'held',
  );
}

type Given = Pick<Attempt, 'batchId' | 'earlier' | 'mayExist' | 'mayExistSince'> & Partial<Attempt>;

function give(life: Life, { batchId, earlier, mayExist, mayExistSince, froze = false, taken = null }: Given): void {
  const { generation, idempotencyKey: key } = life.invoice;
  life.attempts.push({
    batchId,
    generation,
    key,
    earlier,
    froze,
    taken,
    handedOutAt: life.now,
    mayExist,
    mayExistSince,
    posts: 0,
    outcome: null,
  });
}

/** Reconciliation gives up what it may not repeat, and takes what it may. */
export function reconcile(life: Life): void {
  const { now } = life;
  const { changedAt, ownerBatch: batchId } = life.invoice;
  const [staleBefore, dayAgo] = [now - STALE, now - DAY];
  life.order({ kind: 'give-up', staleBefore, frozenUntil: dayAgo, reason: BECAUSE, now });
  if (!life.order({ kind: 'take', staleBefore, frozenAfter: dayAgo, now })) return;
  const taken = { at: now, after: changedAt };
  give(life, { batchId, earlier: earlierOf(life), taken, mayExist: true, mayExistSince: life.invoice.frozenAt });
}

/** A worker puts back what it froze and has not POSTed. */
export function putBack(life: Life): void {
  const attempt = life.random.pick(life.attempts);
  if (attempt?.froze !== true || attempt.posts > 0) return;
  crash(life, attempt);
  const { batchId, generation, key: idempotencyKey } = attempt;
  life.order({ kind: 'unfreeze', batchId, generation, idempotencyKey, reason: BECAUSE, now: life.now });
}

/** What a worker knew is lost. */
export function crash(life: Life, attempt = life.random.pick(life.attempts)): void {
  if (attempt !== undefined) life.attempts.splice(life.attempts.indexOf(attempt), 1);
}

/** A worker POSTs once, if it may, and gets an answer or none. */
export function post(life: Life): void {
  const { now, random, attempts } = life;
  const attempt = random.pick(attempts);
  if (attempt === undefined || (attempt.outcome !== null && attempt.outcome.kind !== 'pending')) return;
  if (attempt.posts === POSTS_OF_A_SLICE || now - attempt.handedOutAt > SLICE) return;
  if (attempt.mayExistSince !== null && now - attempt.mayExistSince >= DAY) {
    attempt.outcome = { kind: 'unknown', reason: FORGOTTEN };
    return;
  }
  if (attempt.generation > 1 && !isBeingSent(life, attempt)) return;
  life.watcher.posts(life, attempt.key);
  attempt.posts += 1;
  attempt.outcome = answerTo(life, attempt);
}

/** Asked before each POST of a later generation. */
function isBeingSent({ invoice }: Life, { generation, key }: Attempt): boolean {
  const isIts = invoice.state === 'sending' && invoice.generation === generation && invoice.idempotencyKey === key;
  return isIts && invoice.kept.every((one) => one.state === 'issued' || one.said.issuedAt === null);
}

function answerTo(life: Life, attempt: Attempt): Answer['outcome'] {
  const { service, random, now } = life;
  const use = service.use(attempt.key);
  const kind = random.below(8);
  if (kind < 2) return { kind: 'accepted', serviceId: service.create(attempt.key, now).serviceId };
  if (kind === 2) return refused(life, attempt);
  if (kind === 3) return { kind: 'pending', reason: BECAUSE, mayExist: attempt.mayExist };
  use.isOpen = true;
  attempt.mayExist = true;
  attempt.mayExistSince ??= now;
  if (kind !== 4) service.create(attempt.key, now);
  if (kind === 6) return { kind: 'unknown', reason: random.pick(OPEN) ?? BECAUSE };
  // A proxy mixes up two answers.
  if (kind === 7 && random.once(3)) return { kind: 'accepted', serviceId: 'inv_of_another_invoice' };
  return { kind: 'pending', reason: BECAUSE, mayExist: true };
}

/** After a lost answer it proves nothing, but where the profile says so and no other POST can be on its way. */
function refused({ service, random, now }: Life, { key, mayExist, taken }: Attempt): Answer['outcome'] {
  if (!mayExist) return { kind: 'rejected', reason: BECAUSE };
  const isProof = taken !== null && now - taken.after >= SLICE && random.once(2);
  if (!isProof || service.documentOf(key) !== undefined) return { kind: 'unknown', reason: BECAUSE };
  service.use(key).isOpen = false;
  return { kind: 'rejected', reason: BECAUSE, proven: true };
}

/** A worker writes what it knows, and is done. */
export function record(life: Life): void {
  const attempt = life.random.pick(life.attempts);
  if (attempt === undefined || attempt.outcome === null) return;
  crash(life, attempt);
  const { outcome } = attempt;
  const isOfAnother = outcome.kind === 'accepted' && life.service.named(outcome.serviceId) === undefined;
  if (attempt.earlier === undefined || isOfAnother) write(life, attempt, outcome);
  else recordEarlier(life, attempt, { outcome, earlier: attempt.earlier });
}

interface OfEarlier {
  readonly outcome: Answer['outcome'];
  readonly earlier: KeptGeneration;
}

/** What the answer to an earlier key proves, as `activities/sending/earlier-key.ts` judges it. */
function recordEarlier(life: Life, attempt: Attempt, { outcome, earlier }: OfEarlier): void {
  const unclear = { kind: 'unknown', reason: UNCLEAR } as const;
  if (outcome.kind === 'rejected' && outcome.proven !== true) {
    if (earlier.state === 'rejected') return takeNextKey(life, attempt, false);
    return write(life, attempt, unclear);
  }
  if (outcome.kind !== 'accepted') return write(life, attempt, outcome);
  const document = life.service.named(outcome.serviceId);
  if (document === undefined || document.serviceId !== earlier.serviceId) {
    const isSameContent = earlier.fingerprint === life.invoice.fingerprint;
    return write(life, isSameContent ? attempt : { ...attempt, generation: earlier.generation }, outcome);
  }
  if (document.state === 'processing') return write(life, attempt, unclear);
  tell(document, document.state);
  if (document.state === 'failed') return takeNextKey(life, attempt, true);
  const { serviceId } = document;
  life.order({ kind: 'hear', statuses: [{ serviceId, status: 'issued', reason: null, now: life.now }] });
  return write(life, attempt, { kind: 'pending', reason: UNCLEAR, mayExist: false });
}

function takeNextKey(life: Life, { generation, posts: attempts }: Attempt, isProven: boolean): void {
  const idempotencyKey = keyOf(contentOf(life), generation);
  life.order({ kind: 'next-key', generation, attempts, idempotencyKey, isProven, now: life.now });
}

type Tried = Pick<Attempt, 'generation' | 'key' | 'posts' | 'taken'>;

/** The answer, and then the events that came before it. */
function write(life: Life, tried: Tried, outcome: Answer['outcome']): void {
  const before = life.invoice;
  life.order(answerOf(life, tried, outcome));
  if (tried.generation < before.generation && outcome.kind !== 'accepted') life.watcher.stale(life, before);
  life.order({ kind: 'hear', statuses: [] });
}

/** What is recorded of a worker's POSTs. */
export function answerOf(life: Life, { generation, key, posts, taken }: Tried, given: Answer['outcome']): Command {
  const isRepeat = taken !== null && given.kind === 'pending';
  const outcome = isRepeat ? { kind: 'unknown' as const, reason: given.reason } : given;
  const idIsTaken = outcome.kind === 'accepted' && life.service.named(outcome.serviceId) === undefined;
  const { now } = life;
  const answer = {
    generation,
    idempotencyKey: key,
    attempts: posts,
    sentAt: now,
    answeredAt: now,
    takenAt: taken?.at ?? null,
    outcome,
    idIsTaken,
    sharesId: false,
  };
  return { kind: 'record', answer };
}
