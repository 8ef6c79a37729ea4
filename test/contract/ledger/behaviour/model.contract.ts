import { recordDeliveries } from '../scenario.ts';
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TestBatch } from '../scenario.ts';
import { createScenario, delivery, NOW, REASON } from '../scenario.ts';
import type { Ledger } from '../../../../src/ledger/ledger.ts';
import type { SendableInvoice } from '../../../../src/ledger/sending/sending.ts';
import type { StatusUpdate } from '../../../../src/ledger/settling/settling.ts';
import type { SendOutcome } from '../../../../src/ledger/sending/record-answers.ts';

/**
 * Random lives of one invoice: files dropped again and changed, workers that stall, crash and come back late, answers lost, webhooks early
 * and twice, GETs whose answers come late, pages and batches closed, batches opened again, days that pass, operators who retry with and
 * without the risk of a duplicate, reconcilers who repeat. The service of the model knows only keys, as the real one, forgets them after a
 * day, and may issue what it had called failed.
 *
 * Held at every step: no POST under a second key while a document of another key may be alive, and none under a key that the service may
 * have forgotten, but for what an operator has risked on record; no POST at all once it is known that a failed document was issued after
 * all; no other bytes under a key that has a document; `issued` is never left; the ledger never says failed, rejected or held of a document
 * that is alive.
 */

/** More of them: MODEL_RUNS=5000 npx vitest run test/contract/ledger/postgres-operating.test.ts -t 'life of an invoice'. */
const RUNS = process.env['MODEL_RUNS'];
const LONGEST_LIFE = 45;
/** The service keeps a key for so long, and the ledger is told so. */
const DAY = 86_400_000;
/** A slice of invoices is sent within a minute of being handed out, or not at all. */
const SLICE = 60_000;
/** A repeat this old is one that a crash ended. */
const STALE = 5;

type Command =
  | { readonly kind: 'drop'; readonly content: number }
  | { readonly kind: 'redrop' | 'close-page' | 'hold' | 'release' | 'finish' | 'hand-out'; readonly batch: number }
  | {
      readonly kind: 'post';
      readonly worker: number;
      readonly answer: 'created' | 'lost-before' | 'lost-after' | 'refused' | 'not-now' | 'stored';
    }
  | { readonly kind: 'record' | 'crash' | 'put-back'; readonly worker: number }
  | { readonly kind: 'settle'; readonly document: number; readonly as: 'issued' | 'failed' }
  | { readonly kind: 'webhook' | 'undo-failure'; readonly document: number }
  | { readonly kind: 'get' | 'ask-slowly' | 'close-batch'; readonly batch: number }
  | { readonly kind: 'tell'; readonly answer: number }
  | {
      readonly kind: 'retry';
      readonly batch: number;
      readonly byRow: boolean;
      readonly risk: boolean;
    }
  | { readonly kind: 'reconcile'; readonly batch: number }
  | { readonly kind: 'day' };

const index = fc.nat(5);

const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('drop' as const), content: fc.nat(2) }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('hand-out' as const), batch: index }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        'redrop' as const,
        'close-page' as const,
        'hold' as const,
        'release' as const,
        'finish' as const,
      ),
      batch: index,
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('post' as const),
      worker: index,
      answer: fc.constantFrom(
        'created' as const,
        'lost-before' as const,
        'lost-after' as const,
        'refused' as const,
        'not-now' as const,
        'stored' as const,
      ),
    }),
  },
  { weight: 7, arbitrary: fc.record({ kind: fc.constant('record' as const), worker: index }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('crash' as const), worker: index }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('put-back' as const), worker: index }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('settle' as const),
      document: index,
      as: fc.constantFrom('issued' as const, 'failed' as const),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('webhook' as const), document: index }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('undo-failure' as const), document: index }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('day' as const) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('get' as const), batch: index }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constantFrom('ask-slowly' as const, 'close-batch' as const), batch: index }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('tell' as const), answer: index }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('retry' as const),
      batch: index,
      byRow: fc.boolean(),
      risk: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('reconcile' as const), batch: index }),
  },
);

/** Where a life may begin: chance alone seldom comes so far. */
const BEGINNINGS: readonly (readonly Command[])[] = [
  [],
  // Sent, its answer lost, and a day gone by.
  [
    { kind: 'drop', content: 0 },
    { kind: 'hand-out', batch: 0 },
    { kind: 'post', worker: 0, answer: 'lost-after' },
    { kind: 'record', worker: 0 },
    { kind: 'day' },
  ],
  // Failed, and sent again under its next key.
  [
    { kind: 'drop', content: 0 },
    { kind: 'hand-out', batch: 0 },
    { kind: 'post', worker: 0, answer: 'created' },
    { kind: 'record', worker: 0 },
    { kind: 'settle', document: 0, as: 'failed' },
    { kind: 'get', batch: 0 },
    { kind: 'retry', batch: 0, byRow: true, risk: false },
    { kind: 'hand-out', batch: 0 },
  ],
];

interface ServiceDocument {
  readonly serviceId: string;
  readonly key: string;
  readonly body: string;
  readonly createdAt: number;
  state: 'processing' | 'issued' | 'failed';
  /** The service had called it failed, and issued it after all: no client can prevent what follows from that, before it is told. */
  undone: boolean;
}

/** A process that froze an invoice, or found it sending, and is busy with it. It knows of its own answers, and trusts the ledger for the rest. */
interface Worker {
  readonly invoice: Pick<SendableInvoice, 'invoiceId' | 'generation' | 'idempotencyKey' | 'earlier'>;
  /** Reconciliation repeats once, and what that does not tell stays unknown. */
  readonly reconciler: boolean;
  /** It was staged when this worker was handed it. */
  readonly froze: boolean;
  readonly body: string;
  readonly handedOutAt: number;
  attempts: number;
  lost: boolean;
  outcome: SendOutcome | null;
}

/** Lives of one test: each takes an embedded ledger more than a second where nine other files of tests run beside. */
const LIVES_OF_A_TEST = 10;

export function modelContract(ledger: Ledger, usualRuns: number): void {
  const lives = Number(RUNS ?? usualRuns);
  const parts = Array.from({ length: Math.ceil(lives / LIVES_OF_A_TEST) }, (_, part) => part * LIVES_OF_A_TEST);
  describe('the life of an invoice', () => {
    it.each(parts)(
      'never meets a second key while the first may be alive, and never leaves issued (from life %i on)',
      async (before) => {
        const property = fc.asyncProperty(
          fc.constantFrom(...BEGINNINGS),
          // The first lives of a property would else be short ones.
          fc.noBias(fc.array(command, { minLength: 5, maxLength: LONGEST_LIFE, size: 'max' })),
          (beginning, commands) => live(ledger, [...beginning, ...commands]),
        );

        await fc.assert(property, { numRuns: Math.min(LIVES_OF_A_TEST, lives - before) });
      },
    );
  });
}

async function live(ledger: Ledger, commands: readonly Command[]): Promise<void> {
  const scenario = createScenario(ledger);
  const batches: TestBatch[] = [];
  const documents: ServiceDocument[] = [];
  /** Keys of which an operator knew that a document of them may be alive, and sent all the same. */
  const risked = new Set<string>();
  /** Since when the ledger knows that a document which it had called failed is issued. */
  let toldUndoneAt = Number.POSITIVE_INFINITY;
  /** Ids that the ledger was given with an answer; a webhook about another one is a stranger's to it. */
  const recorded = new Set<string>();
  /** Documents of which the ledger knows that they are issued after all. */
  const notified = new Set<ServiceDocument>();
  /** Documents that a webhook called issued. */
  const delivered = new Set<ServiceDocument>();
  let workers: Worker[] = [];
  /** Answers of GETs that are still on their way; whatever happens meanwhile, they are written down as they were given. */
  let answers: StatusUpdate[] = [];
  let clock = NOW;
  let issued = false;

  for (const one of commands) {
    clock += 1;
    await run(one);
    await check();
  }

  async function run(one: Command): Promise<void> {
    if (one.kind === 'day') {
      clock += DAY;
    } else if (one.kind === 'drop') {
      batches.push(await scenario.run([{ ref: 'the-one', unitPrice: String(one.content + 1) }]));
    } else if ('batch' in one) {
      const batch = pick(batches, one.batch);
      if (batch === null) return;
      if (one.kind === 'retry') await retry(batch, one);
      else if (one.kind === 'reconcile') await reconcile(batch);
      else await runOnBatch(one.kind, batch);
    } else if ('worker' in one) {
      const worker = pick(workers, one.worker);
      if (worker === null) return;
      if (one.kind === 'post') post(worker, one.answer);
      else if (one.kind === 'record') await record(worker);
      else if (one.kind === 'put-back') await putBack(worker);
      else workers = workers.filter((other) => other !== worker);
    } else if (one.kind === 'tell') {
      const answer = pick(answers, one.answer);
      if (answer === null) return;
      answers = answers.filter((other) => other !== answer);
      await notify([{ ...answer, now: clock }]);
    } else {
      const document = pick(documents, one.document);
      if (document === null) return;
      if (one.kind === 'settle' && document.state === 'processing') document.state = one.as;
      if (one.kind === 'undo-failure' && document.state === 'failed') {
        document.state = 'issued';
        document.undone = true;
      }
      if (one.kind === 'webhook' && document.state !== 'processing') {
        await recordDeliveries(ledger, [
          delivery(document.serviceId, document.state, {
            bytes: `${document.serviceId} ${document.state} ${clock % 3}`,
            receivedAt: clock,
          }),
        ]);
        if (document.state === 'issued') delivered.add(document);
        if (recorded.has(document.serviceId)) noteTold(document);
      }
    }
  }

  async function runOnBatch(
    kind: Exclude<Extract<Command, { readonly batch: number }>['kind'], 'retry' | 'reconcile'>,
    batch: TestBatch,
  ): Promise<void> {
    const { batchId } = batch;
    if (kind === 'hand-out') await handOut(batch);
    else if (kind === 'redrop') await redrop(batch);
    else if (kind === 'close-page')
      await ledger.closePage(batchId, 1, { acceptedBefore: clock, reason: REASON, now: clock });
    else if (kind === 'hold') await ledger.holdUnsent(batchId, { reason: REASON, now: clock });
    else if (kind === 'release') await ledger.releaseHeld(batchId, clock);
    else if (kind === 'finish') await ledger.setBatchState(batchId, 'finished', clock);
    else if (kind === 'close-batch') await ledger.closeBatch(batchId, { reason: REASON, now: clock });
    else if (kind === 'ask-slowly') answers.push(...(await answersNow(batch)));
    else await notify(await answersNow(batch));
  }

  async function redrop(batch: TestBatch): Promise<void> {
    await batch.claim({ runId: `run-${clock}`, takeOver: true });
    await ledger.repeatUnknown(batch.batchId, clock - DAY);
  }

  async function notify(news: readonly StatusUpdate[]): Promise<void> {
    await ledger.recordStatus(news);
    for (const { serviceId, status } of news) {
      const document = documents.find((one) => one.serviceId === serviceId);
      if (document !== undefined && status === 'issued') noteTold(document);
    }
  }

  function noteTold(document: ServiceDocument): void {
    // Told again it is no news: an operator may have accepted the risk meanwhile, knowing of it.
    if (document.state !== 'issued' || !document.undone || notified.has(document)) return;
    notified.add(document);
    toldUndoneAt = Math.min(toldUndoneAt, clock);
  }

  async function retry(batch: TestBatch, how: Extract<Command, { kind: 'retry' }>): Promise<void> {
    const before = (await batch.lines()).find(({ state }) => state === 'unknown');
    const { moved } = await ledger.retryInvoices({
      batchId: batch.batchId,
      selection: how.byRow ? { rows: [2] } : {},
      policy: {
        maxGenerations: 4,
        retentionMs: DAY,
        rejectionIsProof: true,
        acceptDuplicateRisk: how.risk,
        now: clock,
      },
      action: { actionId: randomUUID(), who: null, why: 'the model says so' },
    });
    if (moved.abandon > 0) expect(how.risk, 'the risk was accepted').toBe(true);
    if (!how.risk || Object.values(moved).every((count) => count === 0)) return;
    expect(await ledger.auditOf(batch.batchId), 'the risk is on record').toContainEqual(
      expect.objectContaining({ acceptedDuplicateRisk: true }),
    );
    for (const { key } of documents) risked.add(key);
    if (before?.idempotencyKey) risked.add(before.idempotencyKey);
    toldUndoneAt = Number.POSITIVE_INFINITY;
  }

  async function reconcile(batch: TestBatch): Promise<void> {
    const lines = await batch.lines();
    await batch.report({ writtenAt: clock, open: lines });
    await ledger.applyMissedEvents();
    const taken = await ledger.takeUnknown({
      application: scenario.application,
      now: clock,
      retentionMs: DAY,
      staleMs: STALE,
      all: true,
      afterInvoiceId: 0,
      limit: 10_000,
    });
    const keys = lines.map(({ idempotencyKey }) => idempotencyKey);
    for (const invoice of taken.filter(({ idempotencyKey }) => keys.includes(idempotencyKey)))
      workers.push({ ...idle(invoice, invoice.body), reconciler: true, lost: true });
  }

  async function handOut(batch: TestBatch): Promise<void> {
    for (const invoice of await batch.sendable()) {
      if (invoice.mayExistSince !== null && clock - invoice.mayExistSince >= DAY) {
        await leaveUnknown(invoice);
        continue;
      }
      const body = invoice.body ?? `bytes of batch ${batches.indexOf(batch)}: ${invoice.invoice.lines[0]?.unitPrice}`;
      if (invoice.state === 'staged') {
        const moved = await ledger.freeze(
          batch.batchId,
          [
            {
              ...{ invoiceId: invoice.invoiceId, generation: invoice.generation, body },
              frozenAt: invoice.earlier === undefined ? null : invoice.mayExistSince,
            },
          ],
          clock,
        );
        if (moved.length === 0) continue;
      }
      workers.push({ ...idle(invoice, body), froze: invoice.state === 'staged' });
    }
  }

  /** What the activities do with one whose key may be forgotten. */
  async function leaveUnknown({ invoiceId, generation }: SendableInvoice): Promise<void> {
    const outcome = { kind: 'unknown', reason: REASON } as const;
    await ledger.recordSends([{ invoiceId, generation, attempts: 0, sentAt: clock, outcome }]);
  }

  function idle(invoice: Worker['invoice'], body: string): Worker {
    return {
      invoice,
      reconciler: false,
      froze: false,
      body,
      handedOutAt: clock,
      attempts: 0,
      lost: false,
      outcome: null,
    };
  }

  function post(worker: Worker, answer: Extract<Command, { kind: 'post' }>['answer']): void {
    // A yes or a no for good ends the sending; only what is pending is tried again.
    if (worker.outcome !== null && worker.outcome.kind !== 'pending') return;
    if (clock - worker.handedOutAt > SLICE) return;
    expect(worker.handedOutAt, 'when it was handed out, before an undone failure was known').toBeLessThanOrEqual(
      toldUndoneAt,
    );
    worker.attempts += 1;
    const key = worker.invoice.idempotencyKey;
    const created = ['created', 'lost-after', 'stored'].includes(answer) ? create(key, worker.body) : null;
    if (answer === 'lost-before' || answer === 'lost-after') worker.lost = true;
    if (answer === 'created') worker.outcome = { kind: 'accepted', serviceId: created?.serviceId ?? '' };
    // The service keeps an error under the key for ever, and a document behind it.
    else if (answer === 'stored') worker.outcome = { kind: 'unknown', reason: { ...REASON, code: 'stored-error' } };
    else if (answer === 'refused') worker.outcome = { kind: worker.lost ? 'unknown' : 'rejected', reason: REASON };
    else worker.outcome = { kind: 'pending', reason: REASON, mayExist: worker.lost };
  }

  /** The document of the key, while the service remembers it; else a new one, which must then be the only one alive. */
  function create(key: string, body: string): ServiceDocument {
    const known = documents.findLast((one) => one.key === key);
    if (known !== undefined && clock - known.createdAt < DAY) {
      expect(body, 'the bytes of a key that has a document').toBe(known.body);
      return known;
    }
    expect(alive(), 'documents that are alive when a POST makes another one').toEqual([]);
    const serviceId = `inv_${key}_${documents.length}`;
    const document: ServiceDocument = { serviceId, key, body, createdAt: clock, state: 'processing', undone: false };
    documents.push(document);
    return document;
  }

  /** But for those that an operator has risked, and those of which the service had said that they are not. */
  function alive(): readonly ServiceDocument[] {
    return documents.filter(({ state, undone, key }) => state !== 'failed' && !undone && !risked.has(key));
  }

  /** What was frozen and not sent, by the attempt that froze it. */
  async function putBack(worker: Worker): Promise<void> {
    if (!worker.froze || worker.attempts > 0) return;
    workers = workers.filter((other) => other !== worker);
    const { invoiceId, generation } = worker.invoice;
    for (const { batchId } of batches)
      await ledger.unfreeze(batchId, [{ invoiceId, generation }], { reason: REASON, now: clock });
  }

  /** What the port asks: recorded once a process is done with an invoice for now. */
  async function record(worker: Worker): Promise<void> {
    if (worker.outcome === null) return;
    workers = workers.filter((other) => other !== worker);
    const { invoiceId } = worker.invoice;
    const { reconciler, attempts } = worker;
    const { outcome, generation } = await judged(worker, worker.outcome);
    const saying: SendOutcome =
      reconciler && outcome.kind === 'pending' ? { kind: 'unknown', reason: outcome.reason } : outcome;
    await ledger.recordSends([{ invoiceId, generation, attempts, sentAt: clock, outcome: saying }]);
    if (saying.kind !== 'accepted') return;
    recorded.add(saying.serviceId);
    for (const document of delivered) if (document.serviceId === saying.serviceId) noteTold(document);
  }

  /** As the activities judge the answer to a key of an earlier generation. */
  async function judged({ invoice, lost }: Worker, outcome: SendOutcome) {
    const { invoiceId, generation, earlier } = invoice;
    if (earlier === undefined) return { outcome, generation };
    const unclear: SendOutcome = { kind: 'unknown', reason: REASON };
    if (outcome.kind === 'rejected') {
      const isSame = !lost && earlier.state === 'rejected';
      return { generation, outcome: isSame ? ({ kind: 'next-key', reason: REASON, proven: false } as const) : unclear };
    }
    if (outcome.kind !== 'accepted') return { outcome, generation };
    const { serviceId } = outcome;
    if (serviceId !== earlier.serviceId)
      return { outcome, generation: earlier.isSameContent ? generation : earlier.generation };
    const state = documents.find((one) => one.serviceId === serviceId)?.state;
    if (state === 'failed')
      return { generation, outcome: { kind: 'next-key', reason: REASON, proven: true } satisfies SendOutcome };
    if (state !== 'issued') return { outcome: unclear, generation };
    await notify([{ invoiceId, serviceId, status: 'issued', reason: null, now: clock }]);
    return { generation, outcome: { kind: 'pending', reason: REASON, mayExist: false } satisfies SendOutcome };
  }

  async function answersNow(batch: TestBatch): Promise<readonly StatusUpdate[]> {
    const silent = await ledger.pendingInvoices(batch.batchId, 1, clock + 1, 10);
    return silent.map(({ invoiceId, serviceId }) => {
      const document = documents.find((one) => one.serviceId === serviceId);
      return { invoiceId, serviceId, status: document?.state ?? 'unreadable', reason: null, now: clock };
    });
  }

  async function check(): Promise<void> {
    expect(alive().length, 'documents alive').toBeLessThanOrEqual(1);
    // Asked for together: to ask an embedded ledger costs more than its answer.
    for (const lines of await Promise.all(batches.map((batch) => batch.lines())))
      for (const line of lines) checkLine(line);
  }

  function checkLine(line: Awaited<ReturnType<TestBatch['lines']>>[number]): void {
    const own = documents.find(({ serviceId }) => serviceId === line.serviceId);
    const flagged = line.flags.some((flag) => flag === 'issued-in-earlier-generation' || flag === 'second-service-id');
    if (line.state === 'issued' || line.state === 'already-issued') expect(own?.state).toBe('issued');
    if (line.state === 'failed')
      expect(own?.state === 'failed' || (own?.undone === true && clock <= toldUndoneAt)).toBe(true);
    if (line.state === 'rejected' || line.state === 'held' || line.state === 'staged') {
      // The key of an earlier generation is kept until it has been asked once more.
      const ofKey = alive().filter(({ key }) => key === line.idempotencyKey && !flagged);
      expect(ofKey, `documents of one that is ${line.state}`).toEqual([]);
    }
    if (line.state === 'accepted' || line.state === 'unsettled') expect(own).toBeDefined();
    if (issued && line.state !== 'conflict' && !flagged && risked.size === 0)
      expect(['issued', 'already-issued', 'failed', 'rejected']).toContain(line.state);
    issued ||= line.state === 'issued';
  }
}

function pick<Item>(items: readonly Item[], place: number): Item | null {
  return items[place % Math.max(items.length, 1)] ?? null;
}
