import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Reason } from '../../../../src/domain/invoice.ts';
import type { InvoiceState } from '../../../../src/domain/invoice-state.ts';
import type { SettledInvoice } from '../../../../src/ledger/settling/settled.ts';
import type { StatusUpdate } from '../../../../src/ledger/settling/settling.ts';
import {
  accepted,
  type AcceptedOne,
  answered,
  createScenario,
  delivery,
  LATER,
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

  describe('an invoice that the service has accepted', () => {
    const event = (verdict: 'issued' | 'failed' | null, at: number, reason: Reason | null = null) => {
      return { by: 'event', verdict, at, reason } as const;
    };
    const get = (status: StatusUpdate['status'], at = 50, reason: Reason | null = null) => {
      return { by: 'get', status, at, reason } as const;
    };
    /** The answer to its POST comes before all news, unless it stands among them. */
    type News = ReturnType<typeof event> | ReturnType<typeof get> | 'answer' | 'end of page';

    const OWN_REASON: Reason = { code: 'of-the-event', message: 'E' };
    const NO_REASON: Reason = { code: 'failed', message: 'The service gave no reason' };
    const BOTH_FLAGS = ['issued-after-failed', 'failed-after-issued'];

    /** Times are milliseconds after `NOW`. */
    type Outcome = readonly [state: InvoiceState, settledAt: number | null, reason: Reason | null, ...flags: string[]];

    it.each<readonly [what: string, news: readonly News[], becomes: Outcome]>([
      ['an issued event', [event('issued', 77)], ['issued', 77, null]],
      ['a GET that says issued', [get('issued')], ['issued', 50, null]],
      ['a GET that says failed', [get('failed', 50, REASON)], ['failed', 50, REASON]],
      ['a GET that says failed and not why', [get('failed')], ['failed', 50, NO_REASON]],
      ['issued after an event without a final word', [event(null, 1), event('issued', 5)], ['issued', 5, null]],
      ['several issued events', [event('issued', 5), event('issued', 9)], ['issued', 5, null]],
      [
        'failed, then issued',
        [event('failed', 1, REASON), event('issued', 2)],
        ['issued', 2, null, 'issued-after-failed'],
      ],
      [
        'issued, then failed twice',
        [event('issued', 1), event('failed', 2), event('failed', 3)],
        ['issued', 1, null, 'failed-after-issued'],
      ],
      [
        'events that contradict each other in turn',
        [event('failed', 1), event('issued', 2), event('failed', 3), event('issued', 4)],
        ['issued', 2, null, ...BOTH_FLAGS],
      ],
      [
        'an issued event after a GET that said failed',
        [get('failed', 50, REASON), event('issued', 90)],
        ['issued', 90, null, 'issued-after-failed'],
      ],
      [
        'an issued event after a failed one that a GET confirmed',
        [event('failed', 1), get('failed', 50, REASON), event('issued', 90)],
        ['issued', 90, null, 'issued-after-failed'],
      ],
      [
        'a failed event after a GET that said issued',
        [get('issued'), event('failed', 90)],
        ['issued', 50, null, 'failed-after-issued'],
      ],
      [
        'the failed event again that a GET has contradicted',
        [event('failed', 1), get('issued'), event('failed', 90)],
        ['issued', 50, null, 'issued-after-failed'],
      ],
      [
        'GETs that contradict each other',
        [get('failed', 50, REASON), get('issued', 60), get('failed', 70), get('failed', 80)],
        ['issued', 60, null, ...BOTH_FLAGS],
      ],
      [
        'a GET that says failed again, and another reason',
        [get('failed', 50, REASON), get('failed', 900, OWN_REASON)],
        ['failed', 50, REASON],
      ],
      [
        'a failed event that a GET confirms with its own reason',
        [event('failed', 1, OWN_REASON), get('failed', 50, REASON)],
        ['failed', 50, REASON],
      ],
      [
        'a failed event that a GET confirms without one',
        [event('failed', 1, REASON), get('failed')],
        ['failed', 50, REASON],
      ],
      [
        'a failed event and a GET that cannot be read',
        [event('failed', 1, REASON), get('unreadable')],
        ['failed', 50, REASON, 'failure-unconfirmed'],
      ],
      ['a failed event that a GET does not confirm', [event('failed', 1), get('processing')], ['accepted', null, null]],
      ['a GET that cannot be read', [get('unreadable')], ['accepted', null, null]],
      ['an event without a final word before it', [event(null, 1), get('unreadable')], ['accepted', null, null]],
      [
        'events before the answer, the last one again',
        [event('failed', 1), event('issued', 5), event('issued', 9), 'answer'],
        ['issued', 5, null, 'issued-after-failed'],
      ],
      [
        'events before the answer, failed the last one',
        [event('issued', 1), event('failed', 2), 'answer'],
        ['issued', 1, null, 'failed-after-issued'],
      ],
      ['a GET that says issued after the end of its page', ['end of page', get('issued')], ['issued', 50, null]],
      ['a GET that says failed after it', ['end of page', get('failed')], ['failed', 50, NO_REASON]],
    ])('hears %s', async (_what, news, [state, at, reason, ...flags]) => {
      const ref = randomUUID();
      const batch = await scenario.run([ref]);
      const known = { invoiceId: (await batch.freeze(ref)).invoiceId, serviceId: scenario.serviceId(ref) };
      const answer = () => scenario.answer(known.invoiceId, accepted(known.serviceId));
      const tell = async (said: News): Promise<readonly SettledInvoice[]> => {
        if (said === 'answer') return (await answer()).settled;
        if (said === 'end of page') {
          await ledger.closePage(batch.batchId, 1, { acceptedBefore: NOW + 1, reason: LATER, now: NOW });
          return [];
        }
        const now = NOW + said.at;
        if (said.by === 'get') return scenario.ask(known, said.status, { reason: said.reason, now });
        return (await recordDeliveries(ledger, [eventOf(known.serviceId, said.verdict, now, said.reason)])).settled;
      };
      if (!news.includes('answer')) await answer();
      let told: readonly SettledInvoice[] = [];
      for (const said of news) told = await tell(said);

      const settledAt = at === null ? null : NOW + at;
      expect(await batch.line(ref)).toMatchObject({ state, settledAt, reason, flags });
      const page = { batchId: batch.batchId, workflowId: `workflow-of-${batch.batchId}`, page: 1, ordinal: 1 };
      expect(told).toEqual(state === 'accepted' ? [] : [{ ...page, state }]);
    });

    it('is flagged twice when failed came before and after issued, and all of it is applied at once', async () => {
      const known = await acceptedOne('three-words');

      await ledger.storeDeliveries([eventOf(known.serviceId, 'failed', NOW + 1)]);
      await ledger.storeDeliveries([eventOf(known.serviceId, 'issued', NOW + 2)]);
      await ledger.storeDeliveries([eventOf(known.serviceId, 'failed', NOW + 3)]);
      await ledger.applyDeliveries([known.serviceId]);

      expect(await known.batch.line('three-words')).toMatchObject({
        state: 'issued',
        flags: ['issued-after-failed', 'failed-after-issued'],
      });
    });

    it('counts as many asks as have come due, and never fewer than before', async () => {
      const known = await acceptedOne('asked');
      const asks: (number | undefined)[] = [];

      for (const due of [{ asks: 4 }, { asks: 2 }, {}]) {
        await scenario.ask(known, 'processing', due);
        asks.push((await ledger.pendingInvoices(known.batch.batchId, 1, NOW + 1, 1))[0]?.asks);
      }

      expect(asks).toEqual([4, 4, 5]);
    });
  });

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

    it('that says failed again moves nothing: only issued does', async () => {
      const { first, second } = await corrected('again-failed');

      const { settled } = await recordDeliveries(ledger, [eventOf(first.serviceId, 'failed', NOW + 90)]);

      expect(settled).toEqual([]);
      expect((await first.batch.line('again-failed')).state).toBe('failed');
      expect(await second.line('again-failed')).toMatchObject({ state: 'staged', flags: [] });
    });

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

    it('stops the corrected one that is on the wire: one more try could make a second document', async () => {
      const { first, second } = await corrected('on-the-wire');
      await second.send('on-the-wire', NEXT_KEY);
      await second.freeze('on-the-wire');

      await recordDeliveries(ledger, [eventOf(first.serviceId, 'issued', NOW + 90)]);

      expect(await second.line('on-the-wire')).toMatchObject({
        state: 'unknown',
        flags: ['issued-in-earlier-generation'],
        reason: { code: 'issued-in-earlier-generation' },
      });
    });

    it('leaves the corrected one that was accepted or issued what it is: two documents are then a fact', async () => {
      const { first, second } = await corrected('both-alive');
      const { serviceId } = await second.accept('both-alive');
      await recordDeliveries(ledger, [eventOf(serviceId, 'issued', NOW + 80)]);

      await recordDeliveries(ledger, [eventOf(first.serviceId, 'issued', NOW + 90)]);

      expect(await second.line('both-alive')).toMatchObject({
        state: 'issued',
        serviceId,
        settledAt: NOW + 80,
        reason: null,
        flags: ['issued-in-earlier-generation'],
      });
    });

    it('says why to whoever was held for another reason before', async () => {
      const { first, second } = await corrected('held-before');
      await second.hold();

      await recordDeliveries(ledger, [eventOf(first.serviceId, 'issued', NOW + 90)]);

      expect(await second.line('held-before')).toMatchObject({
        state: 'held',
        reason: { code: 'issued-in-earlier-generation' },
      });
    });

    it('is flagged once when two earlier documents turn out to be issued', async () => {
      const { first, second } = await corrected('two-risen');
      const again = await second.fail('two-risen');
      const third = await scenario.run([{ ref: 'two-risen', unitPrice: '100' }]);

      await recordDeliveries(ledger, [eventOf(first.serviceId, 'issued', NOW + 90)]);
      await recordDeliveries(ledger, [eventOf(again.serviceId, 'issued', NOW + 91)]);

      expect((await third.line('two-risen')).flags).toEqual(['issued-in-earlier-generation']);
      expect((await first.batch.line('two-risen')).state).toBe('issued');
      expect((await second.line('two-risen')).state).toBe('issued');
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

    it('stops the next one before its POST leaves', async () => {
      const { batch, answer } = await abandoned('stopped');
      const { invoiceId, idempotencyKey } = await batch.freeze('stopped');

      await answer();

      expect(await ledger.isBeingSent(invoiceId, 2, idempotencyKey)).toBe(false);
      expect(await batch.line('stopped')).toMatchObject({
        ...{ state: 'unknown', reason: { code: 'accepted-in-earlier-generation' }, flags: ['second-service-id'] },
      });
      expect(await ledger.repeatUnknown(batch.batchId, NOW - 1, batch.fencingToken)).toBe(0);
    });

    it('names the document that issues the invoice, whether its event came before or after', async () => {
      for (const when of ['before', 'after']) {
        const { batch, answer } = await abandoned(`issued-${when}`);
        const news1 = eventOf(scenario.serviceId(`late-issued-${when}`), 'issued', NOW + 90);
        if (when === 'before') await recordDeliveries(ledger, [news1]);
        const serviceId = await answer();
        if (when === 'after') await recordDeliveries(ledger, [news1]);

        expect(await batch.line(`issued-${when}`)).toMatchObject({ state: 'issued', serviceId, settledAt: NOW + 90 });
      }
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

    it.each([
      ['a GET', false],
      ['a failed event that no GET can read', true],
    ])('issues the invoice when the document of the next one fails later, by %s', async (_, byEvent) => {
      const ref = `outlived-${byEvent}`;
      const { batch, answer } = await abandoned(ref);
      const second = await batch.accept(ref);
      const serviceId = await answer();
      const { settled: flagged } = await recordDeliveries(ledger, [eventOf(serviceId, 'issued', NOW + 90)]);
      expect(flagged, 'the document of the next one may be issued, too').toEqual([]);
      const unconfirmed = byEvent ? ['failure-unconfirmed'] : [];
      if (byEvent) await recordDeliveries(ledger, [eventOf(second.serviceId, 'failed', NOW + 95)]);

      const settled = await scenario.ask(second, byEvent ? 'unreadable' : 'failed', { now: NOW + 99 });

      expect(settled).toMatchObject([{ batchId: batch.batchId, state: 'issued' }]);
      expect(await batch.line(ref)).toMatchObject({
        ...{ state: 'issued', serviceId, settledAt: NOW + 90, reason: null },
        flags: ['second-service-id', 'issued-in-earlier-generation', ...unconfirmed, 'issued-after-failed'],
      });
      expect((await batch.line(ref)).contradictions, 'there is one document').toBeUndefined();
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

    it('is applied when a page is read, also to what a GET has called failed', async () => {
      const { batch, serviceId } = await failedOne('called-failed');
      await ledger.storeDeliveries([eventOf(serviceId, 'issued', NOW + 90)]);

      await ledger.pageProgress(batch.batchId, 1);

      expect(await batch.line('called-failed')).toMatchObject({ state: 'issued', flags: ['issued-after-failed'] });
    });

    it('keeps a failed invoice from going out under a new key', async () => {
      const { batch, serviceId } = await failedOne('new-key');
      await ledger.storeDeliveries([eventOf(serviceId, 'issued', NOW + 90)]);
      await batch.retry();
      const { invoiceId, idempotencyKey } = await batch.freeze('new-key');

      expect(await ledger.isBeingSent(invoiceId, 2, idempotencyKey)).toBe(false);
      await ledger.pageProgress(batch.batchId, 1);
      expect(await batch.line('new-key')).toMatchObject({ state: 'issued', serviceId, flags: ['issued-after-failed'] });
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
