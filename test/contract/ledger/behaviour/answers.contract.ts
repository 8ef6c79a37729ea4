import { describe, expect, it } from 'vitest';
import {
  accepted,
  createScenario,
  delivery,
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
      expect(next.earlier).toBeNull();
      expect(next.idempotencyKey).not.toBe(idempotencyKey);
      expect(await batch.one('next-key')).toEqual(next);
      expect(await ledger.isBeingSent(invoiceId, 2, idempotencyKey)).toBe(false);
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
  });

  describe('an operator', () => {
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
}
