import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  accepted,
  createScenario,
  delivery,
  HOUR,
  LATER,
  NEXT_KEY,
  NOW,
  REASON,
  RETRY_POLICY,
  type TestBatch,
  recordDeliveries,
} from '../scenario.ts';
import type { Ledger } from '../../../../src/ledger/ledger.ts';
import type { SendOutcome } from '../../../../src/ledger/sending/record-answers.ts';

/** Answers that come late, twice or about another life of an invoice; and what operators may still do then. */
export function answersContract(ledger: Ledger): void {
  const scenario = createScenario(ledger);

  const unknown = { kind: 'unknown', reason: REASON, RETRY_POLICY } as const;
  const rejected = { kind: 'rejected', reason: REASON } as const;

  describe('a key that is asked once more', () => {
    async function askedAgain(ref: string, outcome: SendOutcome = rejected): Promise<TestBatch> {
      const batch = await scenario.run([ref]);
      await batch.send(ref, outcome);
      await batch.retry();
      return batch;
    }

    it('goes with its bytes and its age, and a restored or stopped process asks with it again', async () => {
      const batch = await scenario.run(['asked']);
      const { invoiceId, idempotencyKey } = await batch.freeze('asked', '{"first":true}');
      await scenario.answer(invoiceId, rejected);
      await batch.retry();

      const earlier = { generation: 1, state: 'rejected', serviceId: null, reason: REASON, isSameContent: true };
      const asked = { idempotencyKey, body: '{"first":true}', mayExistSince: NOW, mayExist: false, earlier };
      expect(await batch.one('asked')).toMatchObject({ ...asked, generation: 2, state: 'staged' });
      await batch.freeze('asked');
      expect(await batch.one('asked')).toMatchObject({ ...asked, mayExist: true, state: 'sending' });
    });

    it('gives the next key once it has brought the same, and no earlier', async () => {
      const batch = await askedAgain('next-key');
      const { invoiceId, idempotencyKey } = await batch.freeze('next-key');

      await scenario.answer(invoiceId, NEXT_KEY, { generation: 2 });
      const next = await batch.one('next-key');
      await scenario.answer(invoiceId, NEXT_KEY, { generation: 2 });

      expect(next).toMatchObject({ state: 'staged', generation: 2, body: null, mayExistSince: null });
      expect(next.earlier).toBeUndefined();
      expect(next.idempotencyKey).not.toBe(idempotencyKey);
      expect(await batch.one('next-key')).toEqual(next);
      expect(await ledger.isBeingSent(invoiceId, 2, idempotencyKey)).toBe(false);
    });

    it('hears nothing of a POST under the next key from a worker that stood still with the earlier one', async () => {
      const batch = await askedAgain('stood-still');
      const { batchId } = batch;
      const { invoiceId, idempotencyKey } = await batch.freeze('stood-still');
      await batch.sendable();
      await scenario.answer(invoiceId, { kind: 'next-key', reason: REASON, proven: true }, { generation: 2 });
      await batch.freeze('stood-still');
      const stale = { invoiceId, generation: 2, idempotencyKey };

      const idle = { kind: 'pending', reason: REASON, mayExist: false } as const;
      await ledger.recordSends([{ ...stale, attempts: 0, sentAt: NOW, outcome: idle }]);
      expect(await ledger.unfreeze(batchId, [stale], { reason: REASON, now: NOW })).toBe(0);
      await ledger.closePage(batchId, 1, { acceptedBefore: NOW, reason: REASON, now: NOW });

      expect((await batch.line('stood-still')).state, 'it may have been sent').toBe('unknown');
    });

    it('keeps the key where a refusal comes after an answer that may be lost', async () => {
      const batch = await askedAgain('lost-ask');
      const { invoiceId, idempotencyKey } = await batch.freeze('lost-ask');
      await batch.sendable();

      await scenario.answer(invoiceId, NEXT_KEY, { generation: 2 });

      expect(await batch.one('lost-ask')).toMatchObject({ state: 'sending', idempotencyKey, mayExist: true });
    });

    it('brings its document to the invoice', async () => {
      const batch = await askedAgain('brought');
      const serviceId = scenario.serviceId('brought');
      await recordDeliveries(ledger, [delivery(serviceId, 'issued')]);

      await batch.send('brought', accepted(serviceId));

      expect(await batch.line('brought')).toMatchObject({ state: 'issued', serviceId, flags: [] });
    });

    it('holds a corrected content where the earlier one has a document, until an operator accepts the risk of a second', async () => {
      const first = await scenario.run(['hidden']);
      await first.send('hidden', rejected);
      const second = await scenario.run([{ ref: 'hidden', unitPrice: '99' }]);
      const { invoiceId, idempotencyKey } = await second.freeze('hidden');
      const serviceId = scenario.serviceId('hidden');
      await recordDeliveries(ledger, [delivery(serviceId, 'issued')]);

      await scenario.answer(invoiceId, accepted(serviceId));

      expect(await second.line('hidden')).toMatchObject({ state: 'held', serviceId: null });
      expect(await first.line('hidden')).toMatchObject({ state: 'issued' });
      await second.retry();
      expect((await second.line('hidden')).state).toBe('held');
      await second.retry({ policy: { acceptDuplicateRisk: true } });
      const released = await second.one('hidden');
      expect(released).toMatchObject({ state: 'staged', body: null });
      expect(released.idempotencyKey).not.toBe(idempotencyKey);
    });

    it('stays the one to ask when its invoice is held, and when another content takes its place', async () => {
      const first = await askedAgain('held-ask');
      const { idempotencyKey, invoiceId } = await first.freeze('held-ask', undefined);
      await scenario.answer(invoiceId, { kind: 'held', reason: REASON }, { generation: 2 });
      await first.retry();
      expect(await first.one('held-ask')).toMatchObject({ idempotencyKey, earlier: { generation: 1 } });
      await first.send('held-ask', { kind: 'held', reason: REASON });
      await first.finish();

      const second = await scenario.run([{ ref: 'held-ask', unitPrice: '99' }]);

      const earlier = { generation: 1, state: 'rejected', isSameContent: false };
      expect(await second.one('held-ask')).toMatchObject({ idempotencyKey, generation: 3, earlier });
    });

    it('needs an operator once the service may have forgotten it', async () => {
      const batch = await scenario.run(['forgotten']);
      await batch.send('forgotten', rejected);
      const late = { now: NOW + RETRY_POLICY.retentionMs };

      const refused = await batch.retry({ policy: late });
      const moved = await batch.retry({ policy: { ...late, acceptDuplicateRisk: true } });

      expect([refused.refused, moved.moved.regenerate]).toEqual([{ 'needs-accept-duplicate-risk': 1 }, 1]);
      expect((await batch.one('forgotten')).earlier).toBeUndefined();
    });
  });

  describe('an answer', () => {
    it('of an earlier life that comes when the next one is on the wire moves nothing of it, but an acceptance stops it', async () => {
      const batch = await scenario.run(['late-life']);
      await batch.send('late-life', rejected);
      await batch.retry();
      await batch.send('late-life', NEXT_KEY);
      const { invoiceId } = await batch.freeze('late-life');
      const ofNext = { serviceId: null, generation: 2, attempts: 2 };

      await scenario.answer(invoiceId, rejected);
      expect(await batch.line('late-life')).toMatchObject({ state: 'sending', flags: [], ...ofNext });
      await scenario.answer(invoiceId, accepted(scenario.serviceId('late-life')));
      expect(await batch.line('late-life')).toMatchObject({
        ...{ state: 'unknown', reason: { code: 'accepted-in-earlier-generation' }, flags: ['second-service-id'] },
        ...ofNext,
      });
    });

    it.each(['rejected', 'held'] as const)(
      'that accepts what is %s already is not lost: its document is asked for, and issues it',
      async (kind) => {
        const ref = `late-${kind}`;
        const batch = await scenario.run([ref]);
        const { invoiceId } = await batch.freeze(ref);
        await scenario.answer(invoiceId, { kind, reason: REASON });
        const serviceId = scenario.serviceId(ref);

        await scenario.answer(invoiceId, accepted(serviceId));
        expect(await batch.line(ref)).toMatchObject({ state: kind, flags: ['second-service-id'] });
        await scenario.ask({ invoiceId, serviceId }, 'issued', { now: NOW + 5 });

        expect(await batch.line(ref)).toMatchObject({ state: 'issued', serviceId });
      },
    );

    it('that another id was given for the key counts no try and moves no time of the first one', async () => {
      const batch = await scenario.run(['second-id']);
      const { invoiceId } = await batch.freeze('second-id');
      const first = scenario.serviceId('second-id');
      await scenario.answer(invoiceId, accepted(first));

      await scenario.answer(invoiceId, accepted(scenario.serviceId('second-id-b')), {
        attempts: 3,
        sentAt: NOW + HOUR,
      });

      expect(await batch.line('second-id')).toMatchObject({ serviceId: first, attempts: 1, sentAt: NOW });
      expect(await ledger.pendingInvoices(batch.batchId, 1, NOW + 1, 9)).toMatchObject([{ acceptedAt: NOW }]);
    });

    it('that needed no POST of its own is no first one', async () => {
      const batch = await scenario.run(['no-post']);
      const { invoiceId } = await batch.freeze('no-post');

      await scenario.answer(
        invoiceId,
        { kind: 'pending', reason: LATER, mayExist: false },
        { attempts: 0, sentAt: NOW + 1 },
      );
      const before = (await batch.line('no-post')).sentAt;
      await scenario.answer(invoiceId, { kind: 'pending', reason: LATER, mayExist: false }, { sentAt: NOW + 2 });

      expect([before, (await batch.line('no-post')).sentAt]).toEqual([null, NOW + 2]);
    });

    it('that says unknown, held or pending of what is unknown already leaves the first reason', async () => {
      const batch = await scenario.run(['first-reason']);
      const { invoiceId } = await batch.freeze('first-reason');
      await scenario.answer(invoiceId, unknown);

      for (const outcome of [
        { kind: 'unknown', reason: LATER },
        { kind: 'held', reason: LATER },
        { kind: 'rejected', reason: LATER },
        { kind: 'pending', reason: LATER, mayExist: false },
      ] as const)
        await scenario.answer(invoiceId, outcome);

      expect(await batch.line('first-reason')).toMatchObject({ state: 'unknown', reason: REASON, attempts: 5 });
    });

    it("with another invoice's id says so of an unknown one: it is the newest that is known", async () => {
      const batch = await scenario.run(['owner-of-id', 'unknown-taken']);
      const serviceId = scenario.serviceId('owner-of-id');
      await batch.send('owner-of-id', accepted(serviceId));
      const { invoiceId } = await batch.freeze('unknown-taken');
      await scenario.answer(invoiceId, unknown);

      await scenario.answer(invoiceId, accepted(serviceId));

      expect(await batch.line('unknown-taken')).toMatchObject({
        state: 'unknown',
        serviceId: null,
        reason: { code: 'service-id-taken' },
      });
    });

    it('that comes again after its event is the same answer, and no id of another invoice', async () => {
      const batch = await scenario.run(['answer-again']);
      const serviceId = scenario.serviceId('answer-again');
      const { invoiceId } = await batch.freeze('answer-again');
      await scenario.answer(invoiceId, unknown);
      await scenario.answer(invoiceId, accepted(serviceId));
      await recordDeliveries(ledger, [delivery(serviceId, 'issued')]);

      await scenario.answer(invoiceId, accepted(serviceId));

      expect(await batch.line('answer-again')).toMatchObject({ state: 'issued', serviceId, flags: [], reason: null });
    });

    it('that proves a try not to have arrived lets the invoice be held, until an answer was lost', async () => {
      const batch = await scenario.run(['proof-1', 'proof-2']);
      const [one, two] = await batch.sendable();
      if (one === undefined || two === undefined) throw new Error('two invoices were expected');
      await ledger.freeze(
        batch.batchId,
        [one, two].map(({ invoiceId }) => ({ invoiceId, generation: 1, body: 'b' })),
        NOW,
      );
      await scenario.answer(one.invoiceId, { kind: 'held', reason: LATER });
      await scenario.answer(two.invoiceId, { kind: 'pending', reason: LATER, mayExist: true });
      await scenario.answer(two.invoiceId, { kind: 'held', reason: LATER });

      expect(await batch.states()).toEqual(['held', 'unknown']);
      expect(await ledger.releaseHeld(batch.batchId, NOW)).toBe(1);
      await ledger.freeze(batch.batchId, [{ invoiceId: one.invoiceId, generation: 1, body: 'b' }], NOW);
      await scenario.answer(one.invoiceId, rejected);
      expect((await batch.line('proof-1')).state).toBe('rejected');
    });
  });

  describe('an operator', () => {
    it('means an invoice by any one of its rows', async () => {
      const batch = await scenario.run(['row-a', 'row-b']);
      await batch.hold();

      expect((await batch.retry({ selection: { rows: [3, 99] } })).moved.release).toBe(1);
      expect(await batch.states()).toEqual(['held', 'staged']);
    });

    it('takes held and unknown invoices over from a batch that was cancelled, with the reason gone', async () => {
      const owner = await scenario.run(['taken-held', 'taken-unknown']);
      const other = await scenario.run(['taken-held', 'taken-unknown']);
      await owner.send('taken-unknown', unknown);
      await owner.hold();
      await ledger.setBatchState(owner.batchId, 'cancelled', NOW);

      const { moved } = await other.retry({ selection: { rows: [2, 3] } });

      expect(moved).toMatchObject({ release: 1, repeat: 1 });
      expect((await other.sendable()).map(({ state }) => state)).toEqual(['staged', 'sending']);
      expect(await other.line('taken-held')).toMatchObject({ state: 'staged', reason: null });
      expect(await owner.sendable()).toEqual([]);
    });

    it('never makes a refusal after a repeat look final: the first POST may have arrived', async () => {
      const batch = await scenario.run(['open-then-repeat']);
      const { invoiceId } = await batch.freeze('open-then-repeat');
      await ledger.closePage(batch.batchId, 1, { acceptedBefore: NOW, reason: REASON, now: NOW });
      expect((await batch.line('open-then-repeat')).state).toBe('unknown');
      await batch.retry({ selection: { rows: [2] } });

      await scenario.answer(invoiceId, rejected);

      expect((await batch.line('open-then-repeat')).state).toBe('unknown');
    });

    it('who gives an unknown one a new key starts a life in which a refusal is final again', async () => {
      const batch = await scenario.run(['abandoned']);
      await batch.send('abandoned', { kind: 'unknown', reason: { code: 'stored-error', message: 'HTTP 500' } });
      await batch.retry({ selection: { rows: [2] }, policy: { acceptDuplicateRisk: true } });
      const staged = await batch.line('abandoned');

      await batch.send('abandoned', rejected, { sentAt: NOW + HOUR });

      expect(staged).toMatchObject({ state: 'staged', sentAt: null, settledAt: null, reason: null, serviceId: null });
      expect(await batch.line('abandoned')).toMatchObject({ state: 'rejected', generation: 2, sentAt: NOW + HOUR });
    });

    it('finds the same content in the third life as in the first', async () => {
      const batch = await scenario.run(['third-life']);
      const { invoice } = await batch.one('third-life');
      for (const generation of [2, 3]) {
        await batch.send('third-life', rejected);
        await batch.retry();
        await batch.send('third-life', NEXT_KEY);
        expect(await batch.one('third-life')).toMatchObject({ generation, invoice, firstSentAt: null });
      }
      const details = await ledger.invoiceDetails(batch.batchId, 1);

      expect(details?.generations.map(({ generation, state }) => [generation, state].join(' '))).toEqual([
        '3 staged',
        '2 rejected',
        '1 rejected',
      ]);
      expect(new Set(details?.generations.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(3);
    });

    it('who retries more than a portion holds has one line in the audit, with the first rows as examples', async () => {
      const count = 1_001;
      const texts = Array.from({ length: count }, (_, index) => ({ ref: `portion-${index}` }));
      const batch = await scenario.run(texts, count);
      const attached = await scenario.run(texts, count);
      await batch.hold();

      const refused = await attached.retry();
      const { moved } = await batch.retry({ action: { why: 'all of them' } });
      await batch.retry({ selection: { rows: [2] }, action: { why: 'nothing to do' } });
      await batch.hold();
      await batch.retry({ selection: { rows: [3] }, action: { why: 'one more', who: null } });

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
      const one = await scenario.run(['audit-1']);
      const two = await scenario.run(['audit-2', 'audit-3']);
      for (const batch of [one, two]) {
        await batch.hold();
        await batch.retry();
      }

      expect((await ledger.auditOf(one.batchId)).map(({ examples }) => examples.map(({ ref }) => ref))).toEqual([
        ['audit-1'],
      ]);
      expect((await ledger.auditOf(two.batchId)).map(({ invoices }) => invoices)).toEqual([2]);
    });

    it('finds the rows of a reference in the batch that is meant, and not in another', async () => {
      await scenario.run(['same-ref', 'other-ref']);
      const batch = await scenario.run(['other-ref', 'same-ref']);

      expect(await ledger.rowsOfRefs(batch.batchId, ['same-ref'])).toEqual([{ ref: 'same-ref', rows: [3] }]);
    });
  });

  describe('a report that stands', () => {
    it('is out of date when an invoice failed again under a new key, though its state is the same', async () => {
      const batch = await scenario.run(['again-rejected']);
      await batch.send('again-rejected', rejected);
      await batch.report();
      await batch.retry();
      await batch.send('again-rejected', rejected);
      await batch.finish();

      expect(await ledger.outdatedReports(scenario.application)).toContain(batch.batchId);
      expect((await ledger.sinceReport(batch.batchId)).changes).toEqual([
        { from: 'rejected', to: 'rejected', invoices: 1, examples: ['again-rejected'] },
      ]);
    });

    it('of a cancelled batch is out of date too, and up to date again once a contradiction stands in it', async () => {
      const batch = await scenario.run(['cancelled-report']);
      const serviceId = scenario.serviceId('cancelled-report');
      await batch.send('cancelled-report', accepted(serviceId));
      await ledger.setBatchState(batch.batchId, 'cancelled', NOW);
      await batch.report();
      expect(await ledger.outdatedReports(scenario.application)).not.toContain(batch.batchId);

      await recordDeliveries(ledger, [delivery(serviceId, 'issued'), delivery(serviceId, 'failed')]);
      const after = await ledger.outdatedReports(scenario.application);
      await batch.report();

      expect(after).toContain(batch.batchId);
      expect(await ledger.outdatedReports(scenario.application)).not.toContain(batch.batchId);
      expect(await ledger.sinceReport(batch.batchId)).toMatchObject({ revision: 2, isFlagged: false, changes: [] });
    });

    it('names the first references of each change, in the order of the file', async () => {
      const refs = Array.from({ length: 7 }, (_, index) => `change-${index}`);
      const batch = await scenario.run(refs, 10);
      await batch.report();
      await batch.hold();

      expect((await ledger.sinceReport(batch.batchId)).changes).toEqual([
        { from: 'staged', to: 'held', invoices: 7, examples: refs.slice(0, 5) },
      ]);
    });

    it('knows nothing of the reports of other batches', async () => {
      const one = await scenario.run(['marks-1']);
      const two = await scenario.run(['marks-2']);
      await one.report();
      await one.report();
      await two.report();
      await two.send('marks-2', rejected);

      expect(await ledger.sinceReport(one.batchId)).toEqual({
        revision: 2,
        mark: '0 0 0',
        isFlagged: false,
        contradicted: 0,
        changes: [],
      });
      expect(await ledger.sinceReport(two.batchId)).toMatchObject({ revision: 1, changes: [{ to: 'rejected' }] });
    });
  });

  describe('the use of a service', () => {
    const rateOf = () => ledger.sharedRate(`https://${randomUUID()}.example`, 10);

    it('is counted by base address: another service has a rate and a hold of its own', async () => {
      const [one, two] = [rateOf(), rateOf()];
      await one.lease(1);
      await two.lease(1);

      await one.slowDown(5);
      await one.hold(60_000);

      expect((await two.lease(1)).gapMs).toBe(100);
      expect((await one.lease(1)).gapMs).toBeGreaterThan(150);
      expect((await two.current()).heldMs).toBe(0);
    });

    it('forgets the merchants of the application whose account changed, and of no other', async () => {
      const other = createScenario(ledger);
      const account = { baseUrl: 'https://a.example', keyFingerprint: 'one' };
      for (const { application } of [scenario, other]) {
        await ledger.rememberAccount({ application, ...account }, NOW);
        await ledger.saveMerchants(application, [{ nif: '501964843', merchantId: 'mrc_1' }]);
      }

      await ledger.confirmAccount({ application: scenario.application, ...account, keyFingerprint: 'two' }, NOW);

      const mine = await scenario.run(['after-change']);
      const theirs = await other.run(['after-change']);
      expect((await mine.sendable())[0]?.merchantId).toBeNull();
      expect((await theirs.sendable())[0]?.merchantId).toBe('mrc_1');
      expect(
        (await ledger.rememberAccount({ application: scenario.application, ...account }, NOW)).keyFingerprint,
      ).toBe('two');
    });
  });
}
