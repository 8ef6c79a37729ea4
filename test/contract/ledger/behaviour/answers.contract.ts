import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Ledger } from '../../../../src/domain/ports/ledger/ledger.ts';
import type { RecordSend, SendOutcome } from '../../../../src/domain/ports/ledger/sending-ledger.ts';
import type {
  RetryRequest,
  RetryResult,
  RetrySelection,
} from '../../../../src/domain/ports/ledger/operating-ledger.ts';
import type { RetryPolicy } from '../../../../src/domain/retry-decision.ts';
import type { OpenLedger, Scenario, TestBatch } from '../scenario.ts';
import { accepted, createScenario, delivery, NOW, REASON, serviceIdOf } from '../scenario.ts';

const HOUR = 3_600_000;
const LATER = { code: 'later', message: 'Later' };

const POLICY: RetryPolicy = {
  maxGenerations: 9,
  retentionMs: 24 * HOUR,
  rejectionIsProof: true,
  acceptDuplicateRisk: false,
  now: NOW + HOUR,
};

/** Answers that come late, twice or about another life of an invoice; and what operators may still do then. */
export function answersContract(open: OpenLedger): void {
  let ledger: Ledger;
  let scenario: Scenario;
  beforeAll(async () => {
    ledger = await open();
    scenario = createScenario(ledger);
  });

  function answer(invoiceId: number, outcome: SendOutcome, over: Partial<RecordSend> = {}): RecordSend {
    return { invoiceId, generation: 1, attempts: 1, sentAt: NOW, outcome, ...over };
  }

  function retry(
    batch: TestBatch,
    selection: RetrySelection = {},
    over: { readonly policy?: Partial<RetryPolicy>; readonly action?: Partial<RetryRequest['action']> } = {},
  ): Promise<RetryResult> {
    return ledger.retryInvoices({
      batchId: batch.batchId,
      selection,
      policy: { ...POLICY, ...over.policy },
      action: { actionId: randomUUID(), who: 'ana', why: 'again', ...over.action },
    });
  }

  const unknown = { kind: 'unknown', reason: REASON } as const;
  const rejected = { kind: 'rejected', reason: REASON } as const;

  describe('an answer', () => {
    it('of an earlier life that comes when the next one is on the wire moves nothing of it, but an acceptance stops it', async () => {
      const batch = await scenario.run([{ ref: 'late-life' }]);
      await batch.send('late-life', rejected);
      await retry(batch);
      const { invoiceId } = await batch.freeze('late-life');
      const ofNext = { serviceId: null, generation: 2, attempts: 1 };

      await ledger.recordSends([answer(invoiceId, rejected)]);
      expect(await batch.line('late-life')).toMatchObject({ state: 'sending', flags: [], ...ofNext });
      await ledger.recordSends([answer(invoiceId, accepted(serviceIdOf(scenario, 'late-life')))]);
      expect(await batch.line('late-life')).toMatchObject({
        ...{ state: 'unknown', reason: { code: 'accepted-in-earlier-generation' }, flags: ['second-service-id'] },
        ...ofNext,
      });
    });

    it.each(['rejected', 'held'] as const)(
      'that accepts what is %s already is not lost: its document is asked for, and issues it',
      async (kind) => {
        const ref = `late-${kind}`;
        const batch = await scenario.run([{ ref }]);
        const { invoiceId } = await batch.freeze(ref);
        await ledger.recordSends([answer(invoiceId, { kind, reason: REASON })]);
        const serviceId = serviceIdOf(scenario, ref);

        await ledger.recordSends([answer(invoiceId, accepted(serviceId))]);
        expect(await batch.line(ref)).toMatchObject({ state: kind, flags: ['second-service-id'] });
        await ledger.recordStatus([{ invoiceId, serviceId, status: 'issued', reason: null, now: NOW + 5 }]);

        expect(await batch.line(ref)).toMatchObject({ state: 'issued', serviceId });
      },
    );

    it('that another id was given for the key counts no try and moves no time of the first one', async () => {
      const batch = await scenario.run([{ ref: 'second-id' }]);
      const { invoiceId } = await batch.freeze('second-id');
      const first = serviceIdOf(scenario, 'second-id');
      await ledger.recordSends([answer(invoiceId, accepted(first))]);

      await ledger.recordSends([
        answer(invoiceId, accepted(serviceIdOf(scenario, 'second-id-b')), { attempts: 3, sentAt: NOW + HOUR }),
      ]);

      expect(await batch.line('second-id')).toMatchObject({ serviceId: first, attempts: 1, sentAt: NOW });
      expect(await ledger.pendingInvoices(batch.batchId, 1, NOW + 1, 9)).toMatchObject([{ acceptedAt: NOW }]);
    });

    it('that needed no POST of its own is no first one', async () => {
      const batch = await scenario.run([{ ref: 'no-post' }]);
      const { invoiceId } = await batch.freeze('no-post');

      await ledger.recordSends([
        answer(invoiceId, { kind: 'pending', reason: LATER, mayExist: false }, { attempts: 0, sentAt: NOW + 1 }),
      ]);
      const before = (await batch.line('no-post')).sentAt;
      await ledger.recordSends([
        answer(invoiceId, { kind: 'pending', reason: LATER, mayExist: false }, { sentAt: NOW + 2 }),
      ]);

      expect([before, (await batch.line('no-post')).sentAt]).toEqual([null, NOW + 2]);
    });

    it('that says unknown, held or pending of what is unknown already leaves the first reason', async () => {
      const batch = await scenario.run([{ ref: 'first-reason' }]);
      const { invoiceId } = await batch.freeze('first-reason');
      await ledger.recordSends([answer(invoiceId, unknown)]);

      for (const outcome of [
        { kind: 'unknown', reason: LATER },
        { kind: 'held', reason: LATER },
        { kind: 'rejected', reason: LATER },
        { kind: 'pending', reason: LATER, mayExist: false },
      ] as const)
        await ledger.recordSends([answer(invoiceId, outcome)]);

      expect(await batch.line('first-reason')).toMatchObject({ state: 'unknown', reason: REASON, attempts: 5 });
    });

    it("with another invoice's id says so of an unknown one: it is the newest that is known", async () => {
      const batch = await scenario.run([{ ref: 'owner-of-id' }, { ref: 'unknown-taken' }]);
      const serviceId = serviceIdOf(scenario, 'owner-of-id');
      await batch.send('owner-of-id', accepted(serviceId));
      const { invoiceId } = await batch.freeze('unknown-taken');
      await ledger.recordSends([answer(invoiceId, unknown)]);

      await ledger.recordSends([answer(invoiceId, accepted(serviceId))]);

      expect(await batch.line('unknown-taken')).toMatchObject({
        state: 'unknown',
        serviceId: null,
        reason: { code: 'service-id-taken' },
      });
    });

    it('that comes again after its event is the same answer, and no id of another invoice', async () => {
      const batch = await scenario.run([{ ref: 'answer-again' }]);
      const serviceId = serviceIdOf(scenario, 'answer-again');
      const { invoiceId } = await batch.freeze('answer-again');
      await ledger.recordSends([answer(invoiceId, unknown)]);
      await ledger.recordSends([answer(invoiceId, accepted(serviceId))]);
      await ledger.recordDeliveries([delivery(serviceId, 'issued')]);

      await ledger.recordSends([answer(invoiceId, accepted(serviceId))]);

      expect(await batch.line('answer-again')).toMatchObject({ state: 'issued', serviceId, flags: [], reason: null });
    });

    it('that proves a try not to have arrived lets the invoice be held, until an answer was lost', async () => {
      const batch = await scenario.run([{ ref: 'proof-1' }, { ref: 'proof-2' }]);
      const [one, two] = await batch.sendable();
      if (one === undefined || two === undefined) throw new Error('two invoices were expected');
      await ledger.freeze(
        batch.batchId,
        [one, two].map(({ invoiceId }) => ({ invoiceId, generation: 1, body: 'b' })),
        NOW,
      );
      await ledger.recordSends([answer(one.invoiceId, { kind: 'held', reason: LATER })]);
      await ledger.recordSends([answer(two.invoiceId, { kind: 'pending', reason: LATER, mayExist: true })]);
      await ledger.recordSends([answer(two.invoiceId, { kind: 'held', reason: LATER })]);

      expect((await batch.lines()).map(({ state }) => state)).toEqual(['held', 'unknown']);
      expect(await ledger.releaseHeld(batch.batchId, NOW)).toBe(1);
      await ledger.freeze(batch.batchId, [{ invoiceId: one.invoiceId, generation: 1, body: 'b' }], NOW);
      await ledger.recordSends([answer(one.invoiceId, rejected)]);
      expect((await batch.line('proof-1')).state).toBe('rejected');
    });
  });

  describe('held invoices', () => {
    it.each(['cancelled', 'finished'] as const)('of a %s batch come over to the batch that runs', async (state) => {
      const ref = `over-${state}`;
      const owner = await scenario.run([{ ref }]);
      const other = await scenario.run([{ ref }]);
      await ledger.setBatchState(owner.batchId, state, NOW);

      expect(await ledger.releaseHeld(other.batchId, NOW)).toBe(1);
      expect(await other.sendable()).toHaveLength(1);
    });
  });

  describe('an operator', () => {
    it('means an invoice by any one of its rows', async () => {
      const batch = await scenario.run([{ ref: 'row-a' }, { ref: 'row-b' }]);
      await ledger.holdUnsent(batch.batchId, { reason: REASON, now: NOW });

      expect((await retry(batch, { rows: [3, 99] })).moved.release).toBe(1);
      expect((await batch.lines()).map(({ state }) => state)).toEqual(['held', 'staged']);
    });

    it('takes held and unknown invoices over from a batch that was cancelled, with the reason gone', async () => {
      const owner = await scenario.run([{ ref: 'taken-held' }, { ref: 'taken-unknown' }]);
      const other = await scenario.run([{ ref: 'taken-held' }, { ref: 'taken-unknown' }]);
      await owner.send('taken-unknown', unknown);
      await ledger.holdUnsent(owner.batchId, { reason: REASON, now: NOW });
      await ledger.setBatchState(owner.batchId, 'cancelled', NOW);

      const { moved } = await retry(other, { rows: [2, 3] });

      expect(moved).toMatchObject({ release: 1, repeat: 1 });
      expect((await other.sendable()).map(({ state }) => state)).toEqual(['staged', 'sending']);
      expect(await other.line('taken-held')).toMatchObject({ state: 'staged', reason: null });
      expect(await owner.sendable()).toEqual([]);
    });

    it('never makes a refusal after a repeat look final: the first POST may have arrived', async () => {
      const batch = await scenario.run([{ ref: 'open-then-repeat' }]);
      const { invoiceId } = await batch.freeze('open-then-repeat');
      await ledger.closePage(batch.batchId, 1, { acceptedBefore: NOW, reason: REASON, now: NOW });
      expect((await batch.line('open-then-repeat')).state).toBe('unknown');
      await retry(batch, { rows: [2] });

      await ledger.recordSends([answer(invoiceId, rejected)]);

      expect((await batch.line('open-then-repeat')).state).toBe('unknown');
    });

    it('who gives an unknown one a new key starts a life in which a refusal is final again', async () => {
      const batch = await scenario.run([{ ref: 'abandoned' }]);
      await batch.send('abandoned', { kind: 'unknown', reason: { code: 'stored-error', message: 'HTTP 500' } });
      await retry(batch, { rows: [2] }, { policy: { acceptDuplicateRisk: true } });
      const staged = await batch.line('abandoned');

      await batch.send('abandoned', rejected, { sentAt: NOW + HOUR });

      expect(staged).toMatchObject({ state: 'staged', sentAt: null, settledAt: null, reason: null, serviceId: null });
      expect(await batch.line('abandoned')).toMatchObject({ state: 'rejected', generation: 2, sentAt: NOW + HOUR });
    });

    it('finds the same content in the third life as in the first', async () => {
      const batch = await scenario.run([{ ref: 'third-life' }]);
      const { invoice } = await batch.one('third-life');
      for (const generation of [2, 3]) {
        await batch.send('third-life', rejected);
        await retry(batch);
        expect(await batch.one('third-life')).toMatchObject({ generation, invoice, firstSentAt: null });
      }
      const details = await ledger.invoiceDetails(batch.batchId, 1);

      expect(details?.generations.map(({ generation, state }) => [generation, state])).toEqual([
        [3, 'staged'],
        [2, 'rejected'],
        [1, 'rejected'],
      ]);
      expect(new Set(details?.generations.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(3);
    });

    it('who retries more than a portion holds has one line in the audit, with the first rows as examples', async () => {
      const count = 1_001;
      const texts = Array.from({ length: count }, (_, index) => ({ ref: `portion-${index}` }));
      const batch = await scenario.run(texts, count);
      const attached = await scenario.run(texts, count);
      await ledger.holdUnsent(batch.batchId, { reason: REASON, now: NOW });

      const refused = await retry(attached);
      const { moved } = await retry(batch, {}, { action: { why: 'all of them' } });
      await retry(batch, { rows: [2] }, { action: { why: 'nothing to do' } });
      await ledger.holdUnsent(batch.batchId, { reason: REASON, now: NOW });
      await retry(batch, { rows: [3] }, { action: { why: 'one more', who: null } });

      expect(refused).toMatchObject({ moved: { release: 0 }, refused: { 'owned-by-running-batch': count } });
      expect(moved.release).toBe(count);
      const audit = await ledger.auditOf(batch.batchId);
      expect(audit.map(({ why, who, invoices }) => [why, who, invoices])).toEqual([
        ['all of them', 'ana', count],
        ['nothing to do', 'ana', 0],
        ['one more', null, 1],
      ]);
      expect(audit[0]?.examples.map(({ rows }) => rows)).toEqual(Array.from({ length: 20 }, (_, index) => [index + 2]));
      expect(audit[2]?.examples).toMatchObject([{ ref: 'portion-1', from: 'held', move: 'release', generation: 1 }]);
    });

    it('sees in the audit of a batch only what was done to that batch', async () => {
      const one = await scenario.run([{ ref: 'audit-1' }]);
      const two = await scenario.run([{ ref: 'audit-2' }, { ref: 'audit-3' }]);
      for (const batch of [one, two]) {
        await ledger.holdUnsent(batch.batchId, { reason: REASON, now: NOW });
        await retry(batch);
      }

      expect((await ledger.auditOf(one.batchId)).map(({ examples }) => examples.map(({ ref }) => ref))).toEqual([
        ['audit-1'],
      ]);
      expect((await ledger.auditOf(two.batchId)).map(({ invoices }) => invoices)).toEqual([2]);
    });

    it('finds the rows of a reference in the batch that is meant, and not in another', async () => {
      await scenario.run([{ ref: 'same-ref' }, { ref: 'other-ref' }]);
      const batch = await scenario.run([{ ref: 'other-ref' }, { ref: 'same-ref' }]);

      expect(await ledger.rowsOfRefs(batch.batchId, ['same-ref'])).toEqual([{ ref: 'same-ref', rows: [3] }]);
    });
  });

  describe('a report that stands', () => {
    async function report(batch: TestBatch): Promise<void> {
      const { flags, revision } = await ledger.sinceReport(batch.batchId);
      await ledger.noteReported(batch.batchId, {
        revision: revision + 1,
        writtenAt: NOW,
        flags,
        open: await batch.lines(),
      });
    }

    it('is out of date when an invoice failed again under a new key, though its state is the same', async () => {
      const batch = await scenario.run([{ ref: 'again-rejected' }]);
      await batch.send('again-rejected', rejected);
      await report(batch);
      await retry(batch);
      await batch.send('again-rejected', rejected);
      await batch.finish();

      expect(await ledger.outdatedReports(scenario.application)).toContain(batch.batchId);
      expect((await ledger.sinceReport(batch.batchId)).changes).toEqual([
        { from: 'rejected', to: 'rejected', invoices: 1, examples: ['again-rejected'] },
      ]);
    });

    it('of a cancelled batch is out of date too, and up to date again once a contradiction stands in it', async () => {
      const batch = await scenario.run([{ ref: 'cancelled-report' }]);
      const serviceId = serviceIdOf(scenario, 'cancelled-report');
      await batch.send('cancelled-report', accepted(serviceId));
      await ledger.setBatchState(batch.batchId, 'cancelled', NOW);
      await report(batch);
      expect(await ledger.outdatedReports(scenario.application)).not.toContain(batch.batchId);

      await ledger.recordDeliveries([delivery(serviceId, 'issued'), delivery(serviceId, 'failed')]);
      const after = await ledger.outdatedReports(scenario.application);
      await report(batch);

      expect(after).toContain(batch.batchId);
      expect(await ledger.outdatedReports(scenario.application)).not.toContain(batch.batchId);
      expect(await ledger.sinceReport(batch.batchId)).toMatchObject({ revision: 2, flags: 1, changes: [] });
    });

    it('names the first references of each change, in the order of the file', async () => {
      const refs = Array.from({ length: 7 }, (_, index) => `change-${index}`);
      const batch = await scenario.run(
        refs.map((ref) => ({ ref })),
        10,
      );
      await report(batch);
      await ledger.holdUnsent(batch.batchId, { reason: REASON, now: NOW });

      expect((await ledger.sinceReport(batch.batchId)).changes).toEqual([
        { from: 'staged', to: 'held', invoices: 7, examples: refs.slice(0, 5) },
      ]);
    });

    it('knows nothing of the reports of other batches', async () => {
      const one = await scenario.run([{ ref: 'marks-1' }]);
      const two = await scenario.run([{ ref: 'marks-2' }]);
      await report(one);
      await report(one);
      await report(two);
      await two.send('marks-2', rejected);

      expect(await ledger.sinceReport(one.batchId)).toEqual({
        revision: 2,
        flags: 0,
        mark: 0,
        isFlagged: false,
        contradicted: 0,
        changes: [],
      });
      expect(await ledger.sinceReport(two.batchId)).toMatchObject({ revision: 1, changes: [{ to: 'rejected' }] });
    });
  });

  describe('the use of a service', () => {
    const lease = { max: 9, ttlMs: 60_000 };

    it('is counted by base address: another service has slots, pace and trouble of its own', async () => {
      const [one, two] = [`https://${randomUUID()}.example`, `https://${randomUUID()}.example`];
      await ledger.leaseSlots(one, { holder: 'a', ...lease });
      await ledger.leaseRate(one, { requests: 1, requestsPerSecond: 10 });
      await ledger.leaseRate(two, { requests: 1, requestsPerSecond: 10 });

      const tooMany = { taken: 5, share: 0.5, answers: 20 };
      await ledger.slowDown(one, { requestsPerSecond: 10, tooMany });
      await ledger.holdRequests(one, 60_000);

      expect(await ledger.leaseSlots(two, { holder: 'b', ...lease })).toBe(9);
      expect((await ledger.leaseRate(two, { requests: 1, requestsPerSecond: 10 })).gapMs).toBe(100);
      expect((await ledger.leaseRate(one, { requests: 1, requestsPerSecond: 10 })).gapMs).toBeGreaterThan(150);
      expect((await ledger.currentRate(two, 10)).heldMs).toBe(0);
      await ledger.releaseSlots(two, 'a');
      expect(await ledger.leaseSlots(one, { holder: 'b', ...lease }), 'a holds all nine still').toBe(0);
    });

    it('leaves no slot of an odd number unused, and counts an own one once', async () => {
      const baseUrl = `https://${randomUUID()}.example`;
      await ledger.leaseSlots(baseUrl, { holder: 'a', ...lease });
      await ledger.leaseSlots(baseUrl, { holder: 'b', ...lease });

      const shares = [
        await ledger.leaseSlots(baseUrl, { holder: 'a', ...lease }),
        await ledger.leaseSlots(baseUrl, { holder: 'b', ...lease }),
      ];

      expect(shares).toEqual([5, 4]);
      expect(await ledger.leaseSlots(baseUrl, { holder: 'a', ...lease })).toBe(5);
    });

    it('keeps a share that is renewed in time, and gives one up that expired meanwhile', async () => {
      const baseUrl = `https://${randomUUID()}.example`;
      await ledger.leaseSlots(baseUrl, { holder: 'a', max: 9, ttlMs: -1 });
      await ledger.leaseSlots(baseUrl, { holder: 'a', ...lease });
      expect(await ledger.leaseSlots(baseUrl, { holder: 'b', ...lease })).toBe(0);

      await ledger.leaseSlots(baseUrl, { holder: 'a', max: 9, ttlMs: -1 });

      expect(await ledger.leaseSlots(baseUrl, { holder: 'b', ...lease })).toBe(9);
    });

    it('forgets the merchants of the application whose account changed, and of no other', async () => {
      const other = createScenario(ledger);
      const account = { baseUrl: 'https://a.example', keyFingerprint: 'one' };
      for (const { application } of [scenario, other]) {
        await ledger.rememberAccount({ application, ...account }, NOW);
        await ledger.saveMerchants(application, [{ nif: '501964843', merchantId: 'mrc_1' }]);
      }

      await ledger.confirmAccount({ application: scenario.application, ...account, keyFingerprint: 'two' }, NOW);

      const mine = await scenario.run([{ ref: 'after-change' }]);
      const theirs = await other.run([{ ref: 'after-change' }]);
      expect(await ledger.merchantsNeeded(mine.batchId)).toHaveLength(1);
      expect(await ledger.merchantsNeeded(theirs.batchId)).toEqual([]);
      expect(
        (await ledger.rememberAccount({ application: scenario.application, ...account }, NOW)).keyFingerprint,
      ).toBe('two');
    });

    it('learns the new id of a merchant that the service lists anew', async () => {
      const fresh = createScenario(ledger);
      const batch = await fresh.run([{ ref: 'relisted' }]);
      await ledger.saveMerchants(fresh.application, [{ nif: '501964843', merchantId: 'mrc_old' }]);
      await ledger.saveMerchants(fresh.application, [{ nif: '501964843', merchantId: 'mrc_new' }]);

      expect((await batch.sendable())[0]?.merchantId).toBe('mrc_new');
    });
  });
}
