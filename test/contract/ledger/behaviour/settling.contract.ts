import { beforeAll, describe, expect, it } from 'vitest';
import { OUTCOMES, type Outcome } from '../../../../src/domain/invoice-state.ts';
import {
  accepted,
  createScenario,
  delivery,
  invalidInvoice,
  invoiceOf,
  LATER,
  NOW,
  REASON,
  type Scenario,
  validInvoice,
  recordDeliveries,
} from '../scenario.ts';
import type { Ledger } from '../../../../src/ledger/ledger.ts';
import type { InvoicesWith } from '../../../../src/ledger/batches/lines.ts';
import type { StatusUpdate } from '../../../../src/ledger/settling/settling.ts';

export function settlingContract(ledger: Ledger): void {
  let scenario: Scenario;
  const openScenario = (): void => void (scenario = createScenario(ledger));

  interface Asked {
    readonly invoiceId: number;
    readonly serviceId: string;
  }

  function news(asked: Asked, status: StatusUpdate['status'], over: Partial<StatusUpdate> = {}): StatusUpdate {
    const { invoiceId, serviceId } = asked;
    return { invoiceId, serviceId, status, reason: null, now: NOW + 50, ...over };
  }

  describe('a page that waits', () => {
    beforeAll(openScenario);

    it('tells what is not at rest', async () => {
      const owner = await scenario.run(['shared-1', 'shared-2'], 2);
      const batch = await scenario.begin();
      const refs = ['w1', 'w2', 'w3', 'w4', 'shared-1', 'shared-2'];
      const staged = refs.map((ref, index) => scenario.valid(ref, index + 1));
      await ledger.stageInvoices(batch, [...staged, invalidInvoice(7)], NOW);
      await batch.finishStaging(7, 10);
      await batch.freeze('w2');
      await batch.send('w3', accepted(scenario.serviceId('w3')), { sentAt: NOW + 3 });
      await batch.send('w4', { kind: 'rejected', reason: REASON });
      await owner.send('shared-2', accepted(scenario.serviceId('shared-2')), { sentAt: NOW + 8 });

      expect(await ledger.pageProgress(batch.batchId, 1)).toEqual({
        unsent: 2,
        accepted: 2,
        attached: 1,
        reportedFailed: 0,
        oldestAcceptedAt: NOW + 3,
        newestAcceptedAt: NOW + 8,
      });
      expect(await ledger.isPageOpen(batch.batchId, 1)).toBe(true);
      expect(await ledger.isPageOpen(batch.batchId, 2)).toBe(false);
      expect(await ledger.pageProgress(batch.batchId, 2)).toMatchObject({
        unsent: 0,
        accepted: 0,
        attached: 0,
        oldestAcceptedAt: null,
      });
    });

    it('opens the pages with unsent invoices of a batch that is not closed, or with any accepted invoice', async () => {
      const owner = await scenario.run(['o1', 'o2'], 1);
      const batch = await scenario.run(['a1', 'a2', 'a3', 'o1', 'o2'], 1);
      await batch.send('a2', { kind: 'rejected', reason: REASON });
      await batch.freeze('a3');
      await owner.send('o2', accepted(scenario.serviceId('o2')));

      expect(await ledger.openPages(batch.batchId)).toEqual([1, 3, 4, 5]);
      expect(await ledger.openPages(owner.batchId)).toEqual([1, 2]);
      await owner.finish();
      expect(await ledger.openPages(batch.batchId)).toEqual([1, 3, 5]);
    });

    it('finds the silent, fewest asks first, accepted before the given time, at most as many as asked', async () => {
      const batch = await scenario.run(['q1', 'q2', 'q3', 'q4'], 3);
      for (const [index, ref] of ['q1', 'q2', 'q3', 'q4'].entries())
        await batch.send(ref, accepted(scenario.serviceId(ref)), { sentAt: NOW + index });
      const [first] = await ledger.pendingInvoices(batch.batchId, 1, NOW + 10, 1);
      await ledger.recordStatus([
        news({ invoiceId: first?.invoiceId ?? 0, serviceId: first?.serviceId ?? '' }, 'processing'),
      ]);

      expect(
        (await ledger.pendingInvoices(batch.batchId, 1, NOW + 10, 10)).map((one) => [one.ordinal, one.asks].join(' ')),
      ).toEqual(['2 0', '3 0', '1 1']);
      expect((await ledger.pendingInvoices(batch.batchId, 1, NOW + 2, 10)).map((one) => one.ordinal)).toEqual([2, 1]);
      expect((await ledger.pendingInvoices(batch.batchId, 1, NOW + 10, 2)).map((one) => one.ordinal)).toEqual([2, 3]);
      expect((await ledger.pendingInvoices(batch.batchId, 2, NOW + 10, 10)).map((one) => one.serviceId)).toEqual([
        scenario.serviceId('q4'),
      ]);
    });
  });

  describe('closePage', () => {
    beforeAll(openScenario);

    it('leaves nothing of the page open, and says unknown wherever the service may have the invoice', async () => {
      const refs = ['staged', 'open', 'lost', 'none', 'accepted', 'fresh', 'rejected'];
      const batch = await scenario.run(
        [...refs, 'next-page'].map((ref) => `c-${ref}`),
        refs.length,
      );
      await batch.send('c-lost', { kind: 'pending', reason: LATER, mayExist: true });
      await batch.send('c-accepted', accepted(scenario.serviceId('c-accepted')));
      await batch.send('c-fresh', accepted(scenario.serviceId('c-fresh')), { sentAt: NOW + 100 });
      await batch.send('c-rejected', { kind: 'rejected', reason: LATER });
      // The last two are frozen last: to ask what is sendable counts an unanswered send as lost.
      const open = await batch.one('c-open');
      const none = await batch.one('c-none');
      await ledger.freeze(
        batch.batchId,
        [open, none].map(({ invoiceId }) => ({ invoiceId, generation: 1, body: 'b' })),
        NOW,
      );
      await scenario.answer(none.invoiceId, { kind: 'pending', reason: LATER, mayExist: false });

      await ledger.closePage(batch.batchId, 1, { acceptedBefore: NOW + 1, reason: REASON, now: NOW });

      expect((await batch.lines()).map((line) => [line.ref, line.state, line.reason?.code ?? null])).toEqual([
        ['c-staged', 'held', 'because'],
        ['c-open', 'unknown', 'because'],
        ['c-lost', 'unknown', 'later'],
        ['c-none', 'held', 'later'],
        ['c-accepted', 'unsettled', 'because'],
        ['c-fresh', 'accepted', null],
        ['c-rejected', 'rejected', 'later'],
        ['c-next-page', 'staged', null],
      ]);
    });

    it('does not touch what another batch owns, but for accepted invoices whose time is over', async () => {
      const owner = await scenario.run(['x1', 'x2', 'x3'], 3);
      const attached = await scenario.run(['x1', 'x2', 'x3'], 3);
      await owner.send('x3', accepted(scenario.serviceId('x3')));
      await owner.freeze('x2');

      await ledger.closePage(attached.batchId, 1, { acceptedBefore: NOW + 1, reason: REASON, now: NOW });

      expect(await owner.states()).toEqual(['staged', 'sending', 'unsettled']);
    });
  });

  describe('closeBatch', () => {
    beforeAll(openScenario);

    it('leaves nothing open that the batch owns, and says unknown wherever the service may have it', async () => {
      const refs = ['staged', 'open', 'accepted', 'rejected', 'issued'];
      const batch = await scenario.run(
        refs.map((ref) => `b-${ref}`),
        2,
      );
      await batch.freeze('b-open');
      await batch.send('b-accepted', accepted(scenario.serviceId('b-accepted')));
      await batch.send('b-rejected', { kind: 'rejected', reason: LATER });
      await batch.send('b-issued', accepted(scenario.serviceId('b-issued')));
      await recordDeliveries(ledger, [delivery(scenario.serviceId('b-issued'), 'issued')]);

      expect(await ledger.closeBatch(batch.batchId, { reason: REASON, now: NOW })).toBe(3);
      expect(await ledger.closeBatch(batch.batchId, { reason: REASON, now: NOW })).toBe(0);

      expect(await batch.states()).toEqual(['held', 'unknown', 'unsettled', 'rejected', 'issued']);
    });
  });

  describe('the balance of a batch', () => {
    beforeAll(openScenario);

    it('sums exactly, by outcome and currency, and counts what has no amount', async () => {
      const batch = await scenario.begin();
      const prices = ['0.1', '0.2', '1000000000000000000000000000000.05'];
      const staged = prices.map((unitPrice, index) => scenario.valid({ ref: `sum-${index}`, unitPrice }, index + 1));
      const dollar = validInvoice(
        scenario.application,
        { ...invoiceOf({ ref: 'usd', unitPrice: '-5' }), currency: 'USD' },
        4,
      );
      await ledger.stageInvoices(
        batch,
        [...staged, dollar, invalidInvoice(5), invalidInvoice(6, { net: '2.50' })],
        NOW,
      );
      await batch.finishStaging(6, 10);

      expect(await ledger.countOutcomes(batch.batchId)).toEqual([
        { outcome: 'invalid', currency: 'EUR', invoices: 1, net: '2.5', withoutAmount: 0 },
        { outcome: 'invalid', currency: null, invoices: 1, net: '0', withoutAmount: 1 },
        { outcome: 'staged', currency: 'EUR', invoices: 3, net: '2000000000000000000000000000000.7', withoutAmount: 0 },
        { outcome: 'staged', currency: 'USD', invoices: 1, net: '-10', withoutAmount: 0 },
      ]);
    });

    it('tells what had been issued before a time, or belongs to another batch', async () => {
      const owner = await scenario.run(['before-other']);
      const batch = await scenario.run(['before-1', 'before-2', 'before-3', 'before-other'].map((ref) => ({ ref })));
      for (const [ref, from] of [
        ['before-1', batch],
        ['before-2', batch],
        ['before-other', owner],
      ] as const)
        await from.send(ref, accepted(scenario.serviceId(ref)));
      await recordDeliveries(ledger, [
        delivery(scenario.serviceId('before-1'), 'issued', { receivedAt: NOW + 10 }),
        delivery(scenario.serviceId('before-2'), 'issued', { receivedAt: NOW + 20 }),
        delivery(scenario.serviceId('before-other'), 'issued', { receivedAt: NOW + 30 }),
      ]);
      const later = await scenario.run(['before-1']);

      const before = (at: number) => ledger.issuedBefore(batch.batchId, at);
      expect([await before(NOW + 10), await before(NOW + 11), await before(NOW + 21)]).toEqual([1, 2, 3]);
      expect(await ledger.issuedBefore(later.batchId, NOW)).toBe(1);
      expect(await ledger.issuedBefore('no-batch', NOW)).toBe(0);
    });

    it('hands out a part of the invoices with some outcomes, in the order of the file', async () => {
      const batch = await scenario.run([1, 2, 3, 4, 5, 6].map((n) => `part-${n}`));
      for (const n of [2, 3, 5]) await batch.send(`part-${n}`, accepted(scenario.serviceId(`part-${n}`)));
      const refs = async (which: InvoicesWith) =>
        (await ledger.invoicesWith(batch.batchId, which)).map(({ ref }) => ref);
      const sent = new Set<Outcome>(['accepted', 'issued']);

      expect(await refs({ outcomes: sent, limit: 9 })).toEqual(['part-2', 'part-3', 'part-5']);
      expect(await refs({ outcomes: sent, skip: 1, limit: 1 })).toEqual(['part-3']);
      expect(await refs({ outcomes: sent, after: 3, limit: 9 })).toEqual(['part-5']);
      expect(await refs({ outcomes: new Set(OUTCOMES), skip: 4, limit: 9 })).toEqual(['part-5', 'part-6']);
      expect(await refs({ outcomes: new Set<Outcome>(['held']), limit: 9 })).toEqual([]);
      expect(await ledger.invoicesWith(batch.batchId, { outcomes: sent, limit: 1 })).toEqual([
        await batch.line('part-2'),
      ]);
    });

    it('reads a large batch in portions, in ordinal order', async () => {
      const batch = await scenario.run(
        Array.from({ length: 2_000 }, (_, index) => `read-${index}`),
        2_000,
      );

      const portions: number[] = [];
      for await (const portion of ledger.batchInvoices(batch.batchId)) portions.push(portion.length);

      expect(portions).toEqual([1_000, 1_000]);
      expect((await batch.lines()).map((line) => line.ordinal)).toEqual(
        Array.from({ length: 2_000 }, (_, index) => index + 1),
      );
    });
  });
}
