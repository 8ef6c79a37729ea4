import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Reason } from '../../../../src/domain/invoice.ts';
import {
  accepted,
  type AcceptedOne,
  answered,
  createScenario,
  delivery,
  NEXT_KEY,
  NOW,
  REASON,
  type TestBatch,
  recordDeliveries,
} from '../scenario.ts';
import type { Ledger } from '../../../../src/ledger/ledger.ts';

/** News that come late, twice, in any order, and about documents that a correction has replaced. */
export function lateNewsContract(ledger: Ledger): void {
  const scenario = createScenario(ledger);

  const acceptedOne = async (ref: string) => (await scenario.run([ref])).accept(ref);
  const failedOne = async (ref: string) => (await scenario.run([ref])).fail(ref);

  /** A delivery with bytes of its own: the same news can come more than once. */
  function eventOf(
    serviceId: string,
    verdict: 'issued' | 'failed' | null,
    receivedAt: number,
    reason: Reason | null = null,
  ) {
    const bytes = `${serviceId} ${verdict} ${receivedAt} ${randomUUID()}`;
    return delivery(serviceId, verdict, { receivedAt, bytes, ...(reason === null ? {} : { reason }) });
  }

  describe('news about a document that a correction has replaced', () => {
    interface Corrected {
      readonly first: AcceptedOne;
      readonly second: TestBatch;
    }

    /** Failed on the second page of its batch, corrected by another batch. */
    async function corrected(ref: string): Promise<Corrected> {
      const batch = await scenario.run([`${ref}-a`, `${ref}-b`, ref]);
      const first = await batch.fail(ref, { sentAt: NOW + 7 });
      return { first, second: await scenario.run([{ ref, unitPrice: '99' }]) };
    }

    it('reaches the page of the batch that holds it', async () => {
      const { first } = await corrected('page-two');

      const { settled } = await recordDeliveries(ledger, [eventOf(first.serviceId, 'issued', NOW + 90)]);

      expect(settled).toMatchObject([{ batchId: first.batch.batchId, page: 2, ordinal: 3, state: 'issued' }]);
      expect((await first.batch.line('page-two')).flags).toEqual(['issued-after-failed', 'corrected-by-later-batch']);
    });

    it('is told once, however often it comes', async () => {
      const { first, second } = await corrected('told-once');
      await recordDeliveries(ledger, [eventOf(first.serviceId, 'issued', NOW + 90)]);
      const before = [await first.batch.line('told-once'), await second.line('told-once')];

      const { settled } = await recordDeliveries(ledger, [eventOf(first.serviceId, 'issued', NOW + 99)]);

      expect(settled).toEqual([]);
      expect([await first.batch.line('told-once'), await second.line('told-once')]).toEqual(before);
    });

    it('is of the first of the batches that held it, whoever owns the correction', async () => {
      const ref = 'twice-held';
      const first = await acceptedOne(ref);
      const attached = await scenario.run([ref]);
      await scenario.ask(first, 'failed', { reason: REASON });
      const correction = await scenario.run([{ ref, unitPrice: '99' }]);

      await recordDeliveries(ledger, [eventOf(first.serviceId, 'issued', NOW + 90)]);

      const lines = await Promise.all([first.batch, attached, correction].map((batch) => batch.line(ref)));
      expect(lines.map(({ state, issuedElsewhere = false }) => [state, issuedElsewhere].join(' '))).toEqual([
        'issued false',
        'issued true',
        'held false',
      ]);
    });

    it('finds each batch with the content, the document and the times that were its own', async () => {
      const { first, second } = await corrected('three-lives');
      await second.send('three-lives', NEXT_KEY);
      const two = await second.fail('three-lives', { sentAt: NOW + 200 });
      const third = await scenario.run([{ ref: 'three-lives', unitPrice: '100' }]);
      await third.send('three-lives', NEXT_KEY);
      const three = await third.accept('three-lives', { sentAt: NOW + 300 });

      const lines = await Promise.all([first.batch, second, third].map((batch) => batch.line('three-lives')));

      expect(
        lines.map(({ generation, serviceId, sentAt, attempts }) => [generation, serviceId, sentAt, attempts]),
      ).toEqual([
        [1, first.serviceId, NOW + 7, 1],
        [2, two.serviceId, NOW + 200, 3],
        [3, three.serviceId, NOW + 300, 5],
      ]);
      expect((await second.lines()).length).toBe(1);
      expect(new Set(lines.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(3);
    });
  });

  describe('an answer that accepts an earlier generation', () => {
    const STORED = { kind: 'unknown', reason: { code: 'stored-error', message: 'HTTP 500' } } as const;

    interface Abandoned {
      readonly batch: TestBatch;
      /** Records the answer to the POST of the first generation, which was still on the wire. */
      readonly answer: () => Promise<string>;
    }

    async function abandoned(ref: string): Promise<Abandoned> {
      const batch = await scenario.run([ref]);
      const { invoiceId } = await batch.freeze(ref);
      await scenario.answer(invoiceId, STORED);
      await batch.retry({ selection: { rows: [2] }, policy: { acceptDuplicateRisk: true } });
      const serviceId = scenario.serviceId(`late-${ref}`);
      const send = answered(invoiceId, accepted(serviceId));
      return { batch, answer: async () => (await ledger.recordSends([send]), serviceId) };
    }

    it('keeps the next one from being sent, until an operator accepts the risk once more', async () => {
      const { batch, answer } = await abandoned('kept-from-sending');

      await answer();

      const held = await batch.line('kept-from-sending');
      expect(held).toMatchObject({
        ...{ state: 'held', generation: 2, reason: { code: 'accepted-in-earlier-generation' } },
        flags: ['second-service-id'],
      });
      await ledger.releaseHeld(batch.batchId, NOW, batch.fencingToken);
      expect(await batch.sendable(), 'no run of the file sends it by itself').toEqual([]);
      await batch.retry({ selection: { rows: [2] }, policy: { acceptDuplicateRisk: true } });
      expect(await batch.sendable()).toMatchObject([{ generation: 2, state: 'staged' }]);
    });

    it('is a second document beside one of the next that was accepted, and is asked for', async () => {
      const { batch, answer } = await abandoned('both-live');
      const second = await batch.accept('both-live');

      const serviceId = await answer();
      await batch.finish();

      expect(await batch.line('both-live')).toMatchObject({
        serviceId: second.serviceId,
        flags: ['second-service-id'],
      });
      const open = await scenario.openDocuments();
      expect(open.map((one) => one.serviceId)).toContain(serviceId);
    });

    it('changes nothing when it is recorded again, nor where another invoice has its id', async () => {
      const { batch, answer } = await abandoned('once');
      await answer();
      const before = await batch.line('once');
      await answer();
      expect(await batch.line('once')).toEqual(before);

      const other = await abandoned('stolen');
      await (await scenario.run(['thief'])).accept('thief');
      const thief = await scenario.run(['thief-2']);
      await thief.send('thief-2', accepted(scenario.serviceId('late-stolen')));
      await other.answer();
      expect(await other.batch.line('stolen')).toMatchObject({ state: 'staged', flags: [] });
    });
  });

  describe('an event that was stored and not applied yet', () => {
    it('is applied when a page is read, also to the earlier document of one of its invoices', async () => {
      const batch = await scenario.run(['retried']);
      const known = await batch.fail('retried');
      await batch.finish();
      await batch.retry();
      await ledger.storeDeliveries([eventOf(known.serviceId, 'issued', NOW + 90)]);

      await ledger.pageProgress(batch.batchId, 1);

      expect(await batch.line('retried')).toMatchObject({
        ...{ state: 'issued', serviceId: known.serviceId, flags: ['issued-after-failed'] },
      });
      expect(await batch.sendable()).toEqual([]);
    });

    it('keeps the correction of a failed invoice from going out', async () => {
      const { batch, serviceId } = await failedOne('kept-back');
      await batch.finish();
      await ledger.storeDeliveries([eventOf(serviceId, 'issued', NOW + 90)]);
      const correction = await scenario.run([{ ref: 'kept-back', unitPrice: '99' }]);

      const { invoiceId, idempotencyKey } = await correction.freeze('kept-back');
      expect(await ledger.isBeingSent(invoiceId, 2, idempotencyKey)).toBe(false);
      await ledger.pageProgress(correction.batchId, 1);
      expect(await batch.line('kept-back')).toMatchObject({ state: 'issued', serviceId });
      expect(await correction.line('kept-back')).toMatchObject({
        ...{ state: 'held', reason: { code: 'issued-in-earlier-generation' } },
      });
    });
  });
}
