import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  accepted,
  type AcceptedOne,
  acceptedOne,
  answered,
  createScenario,
  NEXT_KEY,
  NOW,
  REASON,
  REJECTED,
  type TestBatch,
} from '../scenario.ts';
import type { Ledger } from '../../../../src/ledger/ledger.ts';

/** Answers and news that come late, twice, in any order, and about documents that a correction has replaced. */
export function lateNewsContract(ledger: Ledger): void {
  const scenario = createScenario(ledger);

  /** An issued event with bytes of its own: the same news can come more than once. */
  const issued = (serviceId: string, receivedAt = NOW + 90) =>
    scenario.hear(serviceId, 'issued', { receivedAt, bytes: `${serviceId} ${randomUUID()}` });

  const correct = (ref: string) => scenario.run([{ ref, unitPrice: '99' }]);

  describe('news about a document that a correction has replaced', () => {
    it('change the line of the batch that holds it once, however often they come', async () => {
      const batch = await scenario.run(['a', 'b', 'page-two']);
      const { serviceId } = await batch.fail('page-two');
      const second = await correct('page-two');

      await issued(serviceId);

      const before = [await batch.line('page-two'), await second.line('page-two')];
      expect(before[0]?.flags).toEqual(['issued-after-failed', 'corrected-by-later-batch']);
      await issued(serviceId, NOW + 99);
      expect([await batch.line('page-two'), await second.line('page-two')]).toEqual(before);
    });

    it('are of the first of the batches that held it, whichever owns the correction', async () => {
      const first = await acceptedOne(scenario, 'twice-held');
      const attached = await scenario.run(['twice-held']);
      await scenario.ask(first, 'failed', { reason: REASON });
      const correction = await correct('twice-held');

      await issued(first.serviceId);

      const lines = await Promise.all([first.batch, attached, correction].map((batch) => batch.line('twice-held')));
      expect(lines.map(({ state, issuedElsewhere = false }) => [state, issuedElsewhere].join(' '))).toEqual([
        ...['issued false', 'issued true', 'held false'],
      ]);
    });

    it('find each batch with the content, the document and the times that were its own', async () => {
      const batches = [await scenario.run(['three-lives'])];
      const documents: AcceptedOne[] = [await (batches[0] as TestBatch).fail('three-lives', { sentAt: NOW + 7 })];
      for (const [unitPrice, sentAt] of [
        ['99', NOW + 200],
        ['100', NOW + 300],
      ] as const) {
        const batch = await scenario.run([{ ref: 'three-lives', unitPrice }]);
        await batch.send('three-lives', NEXT_KEY);
        const how = unitPrice === '99' ? 'fail' : 'accept';
        documents.push(await batch[how]('three-lives', { sentAt }));
        batches.push(batch);
      }

      const lines = (await Promise.all(batches.map((batch) => batch.lines()))).flat();

      expect(lines.map((line) => [line.generation, line.serviceId, line.sentAt, line.attempts])).toEqual([
        [1, documents[0]?.serviceId, NOW + 7, 1],
        [2, documents[1]?.serviceId, NOW + 200, 3],
        [3, documents[2]?.serviceId, NOW + 300, 5],
      ]);
      expect(new Set(lines.map((line) => line.idempotencyKey)).size).toBe(3);
    });
  });

  describe('an answer that accepts an earlier generation', () => {
    const STORED = { code: 'stored-error', message: 'HTTP 500' };
    const AT_RISK = { selection: { rows: [2] }, policy: { acceptDuplicateRisk: true } };

    interface Abandoned {
      readonly batch: TestBatch;
      /** Records the answer to the POST of the first generation, which was still on the wire. */
      readonly answer: () => Promise<string>;
    }

    async function abandoned(ref: string): Promise<Abandoned> {
      const batch = await scenario.run([ref]);
      const { invoiceId } = await batch.freeze(ref);
      await scenario.answer(invoiceId, { kind: 'unknown', reason: STORED });
      await batch.retry(AT_RISK);
      const serviceId = scenario.serviceId(`late-${ref}`);
      return { batch, answer: async () => (await scenario.answer(invoiceId, accepted(serviceId)), serviceId) };
    }

    it('keeps the next one from being sent, until an operator accepts the risk once more', async () => {
      const { batch, answer } = await abandoned('kept-from-sending');

      await answer();

      const held = await batch.line('kept-from-sending');
      const reason = { code: 'accepted-in-earlier-generation' };
      expect(held).toMatchObject({ state: 'held', generation: 2, reason, flags: ['second-service-id'] });
      await answer();
      expect(await batch.line('kept-from-sending'), 'recorded again').toEqual(held);
      await ledger.releaseHeld(batch.batchId, NOW, batch.fencingToken);
      expect(await batch.sendable(), 'no run of the file sends it by itself').toEqual([]);
      await batch.retry(AT_RISK);
      expect(await batch.sendable()).toMatchObject([{ generation: 2, state: 'staged' }]);
    });

    it('is a second document beside one of the next that was accepted, and is asked for', async () => {
      const { batch, answer } = await abandoned('both-live');
      const second = await batch.accept('both-live');

      const serviceId = await answer();
      await batch.finish();

      const flags = ['second-service-id'];
      expect(await batch.line('both-live')).toMatchObject({ serviceId: second.serviceId, flags });
      expect((await scenario.openDocuments()).map((one) => one.serviceId)).toContain(serviceId);
    });

    it('changes nothing where another invoice has its id', async () => {
      const { batch, answer } = await abandoned('stolen');
      const thief = await scenario.run(['thief']);
      await thief.accept('thief', { serviceId: scenario.serviceId('late-stolen') });

      await answer();

      expect(await batch.line('stolen')).toMatchObject({ state: 'staged', flags: [] });
    });
  });

  describe('an event that was stored and not applied yet', () => {
    it('is applied when a page is read, also to the earlier document of one of its invoices', async () => {
      const batch = await scenario.run(['retried']);
      const { serviceId } = await batch.fail('retried');
      await batch.finish();
      await batch.retry();
      await scenario.store(serviceId, 'issued');

      await ledger.pageProgress(batch.batchId, 1);

      const line = { state: 'issued', serviceId, flags: ['issued-after-failed'] };
      expect(await batch.line('retried')).toMatchObject(line);
      expect(await batch.sendable()).toEqual([]);
    });

    it('keeps the correction of a failed invoice from going out', async () => {
      const batch = await scenario.run(['kept-back']);
      const { serviceId } = await batch.fail('kept-back');
      await batch.finish();
      await scenario.store(serviceId, 'issued');
      const correction = await correct('kept-back');

      const { invoiceId, idempotencyKey } = await correction.freeze('kept-back');
      expect(await ledger.isBeingSent(invoiceId, 2, idempotencyKey)).toBe(false);
      await ledger.pageProgress(correction.batchId, 1);
      expect(await batch.line('kept-back')).toMatchObject({ state: 'issued', serviceId });
      expect(await correction.outcomes()).toEqual(['held issued-in-earlier-generation']);
    });
  });

  describe('a key that is asked once more', () => {
    async function askedAgain(ref: string): Promise<TestBatch> {
      const batch = await scenario.run([ref]);
      await batch.reject(ref);
      await batch.retry();
      return batch;
    }

    it('goes with its bytes and its age, and a restored or stopped process asks with it again', async () => {
      const batch = await scenario.run(['asked']);
      const { invoiceId, idempotencyKey } = await batch.freeze('asked', '{"first":true}');
      await scenario.answer(invoiceId, REJECTED);
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
      const nextKey = () => ledger.recordSends([answered(invoiceId, NEXT_KEY, { generation: 2 })]);

      await nextKey();
      const next = await batch.one('next-key');
      await nextKey();

      const staged = { state: 'staged', generation: 2, body: null, mayExistSince: null, earlier: null };
      expect(next).toMatchObject(staged);
      expect(next.idempotencyKey).not.toBe(idempotencyKey);
      expect(await batch.one('next-key')).toEqual(next);
      expect(await ledger.isBeingSent(invoiceId, 2, idempotencyKey)).toBe(false);
    });

    it('brings its document to the invoice', async () => {
      const batch = await askedAgain('brought');
      const serviceId = scenario.serviceId('brought');
      await scenario.hear(serviceId, 'issued');

      await batch.accept('brought', { serviceId });

      expect(await batch.line('brought')).toMatchObject({ state: 'issued', serviceId, flags: [] });
    });

    it('holds a corrected content where the earlier one has a document, until an operator accepts the risk of a second', async () => {
      const first = await scenario.run(['hidden']);
      await first.reject('hidden');
      const second = await correct('hidden');
      const { invoiceId, idempotencyKey } = await second.freeze('hidden');
      const serviceId = scenario.serviceId('hidden');
      await scenario.hear(serviceId, 'issued');

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
      const held = { kind: 'held', reason: REASON } as const;
      const first = await askedAgain('held-ask');
      const { idempotencyKey } = await first.one('held-ask');
      await first.send('held-ask', held);
      await first.retry();
      expect(await first.one('held-ask')).toMatchObject({ idempotencyKey, earlier: { generation: 1 } });
      await first.send('held-ask', held);
      await first.finish();

      const second = await correct('held-ask');

      const earlier = { generation: 1, state: 'rejected', isSameContent: false };
      expect(await second.one('held-ask')).toMatchObject({ idempotencyKey, generation: 3, earlier });
    });
  });
}
