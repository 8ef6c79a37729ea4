import { describe, expect, it } from 'vitest';
import { OUTCOMES, type Outcome } from '../../../../src/domain/invoice-state.ts';
import {
  createScenario,
  delivery,
  invalidInvoice,
  invoiceOf,
  LATER,
  NOW,
  REASON,
  validInvoice,
  recordDeliveries,
} from '../scenario.ts';
import type { Ledger } from '../../../../src/ledger/ledger.ts';
import type { InvoicesWith } from '../../../../src/ledger/batches/lines.ts';

export function settlingContract(ledger: Ledger): void {
  const scenario = createScenario(ledger);

  describe('a page that waits', () => {
    it('tells what is not at rest', async () => {
      const owner = await scenario.run(['shared-1', 'shared-2'], 2);
      const batch = await scenario.run(['w1', 'w2', 'w3', 'w4', 'shared-1', 'shared-2', invalidInvoice(7)], 10);
      await batch.freeze('w2');
      await batch.accept('w3', { sentAt: NOW + 3 });
      await batch.reject('w4');
      await owner.accept('shared-2', { sentAt: NOW + 8 });

      expect(await ledger.pageProgress(batch.batchId, 1)).toEqual({
        ...{ unsent: 2, accepted: 2, attached: 1, reportedFailed: 0 },
        ...{ oldestAcceptedAt: NOW + 3, newestAcceptedAt: NOW + 8 },
      });
      const nothing = { unsent: 0, accepted: 0, attached: 0, oldestAcceptedAt: null };
      expect(await ledger.pageProgress(batch.batchId, 2)).toMatchObject(nothing);
      expect(await Promise.all([1, 2].map((page) => ledger.isPageOpen(batch.batchId, page)))).toEqual([true, false]);
    });

    it('opens the pages with unsent invoices of a batch that is not closed, or with any accepted invoice', async () => {
      const owner = await scenario.run(['o1', 'o2'], 1);
      const batch = await scenario.run(['a1', 'a2', 'a3', 'o1', 'o2'], 1);
      await batch.reject('a2');
      await batch.freeze('a3');
      await owner.accept('o2');

      expect(await ledger.openPages(batch.batchId)).toEqual([1, 3, 4, 5]);
      expect(await ledger.openPages(owner.batchId)).toEqual([1, 2]);
      await owner.finish();
      expect(await ledger.openPages(batch.batchId)).toEqual([1, 3, 5]);
    });

    it('waits for what a closed batch sent, and not for what a cancelled one did not', async () => {
      const owner = await scenario.run(['sent-by-other', 'left-by-other']);
      const batch = await scenario.run(['sent-by-other', 'left-by-other']);
      const { serviceId } = await owner.accept('sent-by-other');
      expect(await ledger.pageProgress(batch.batchId, 1)).toMatchObject({ accepted: 1, attached: 1 });

      await owner.setState('cancelled');

      expect(await ledger.pageProgress(batch.batchId, 1)).toMatchObject({ accepted: 1, attached: 0, unsent: 0 });
      expect(await ledger.openPages(batch.batchId)).toEqual([1]);
      await scenario.hear(serviceId, 'issued');
      expect(await ledger.openPages(batch.batchId)).toEqual([]);
    });

    it('is handed out to another batch, or to another slice, without making an open POST a lost one', async () => {
      const owner = await scenario.run(['open-here', 'beside-it']);
      const attached = await scenario.run(['open-here']);
      const { invoiceId } = await owner.freeze('open-here');

      await attached.sendable();
      await ledger.sendable(owner.batchId, 2, 2);
      await scenario.answer(invoiceId, { kind: 'rejected', reason: REASON });

      expect((await owner.line('open-here')).state).toBe('rejected');
    });

    it('finds the silent, fewest asks first, accepted before the given time, at most as many as asked', async () => {
      const refs = ['q1', 'q2', 'q3', 'q-issued', 'q-unsettled', 'q4'];
      const batch = await scenario.run(refs, 5);
      for (const [index, ref] of refs.entries()) await batch.accept(ref, { serviceId: ref, sentAt: NOW + index });
      await scenario.hear('q-issued', 'issued');
      const pending = (until: number, limit: number, page = 1) =>
        ledger.pendingInvoices(batch.batchId, page, NOW + until, limit);
      const [first] = await pending(10, 1);
      if (first === undefined) throw new Error('a silent invoice was expected');
      await scenario.ask(first, 'processing');

      const found = async (...which: Parameters<typeof pending>) =>
        (await pending(...which)).map(({ serviceId, asks }) => `${serviceId} ${asks}`);
      expect(await found(10, 10)).toEqual(['q2 0', 'q3 0', 'q-unsettled 0', 'q1 1']);
      expect(await found(2, 10)).toEqual(['q2 0', 'q1 1']);
      expect(await found(10, 2)).toEqual(['q2 0', 'q3 0']);
      expect(await found(10, 10, 2)).toEqual(['q4 0']);
      await batch.closePage({ acceptedBefore: NOW + 9 });
      expect(await found(10, 10), 'what its time is over for is no more waited for').toEqual([]);
    });

    it('names failures to be confirmed with the fewest asks first, at most as many as wanted', async () => {
      const refs = ['u-1', 'u-2', 'u-3'];
      const batch = await scenario.run(refs, 3);
      for (const ref of refs) await batch.accept(ref, { serviceId: ref });
      for (const ref of refs) await scenario.hear(ref, 'failed');
      const [first] = await ledger.unconfirmedFailures(batch.batchId, 1, 1);
      if (first === undefined) throw new Error('a failure to confirm was expected');
      await scenario.ask(first, 'processing');

      const asked = await ledger.unconfirmedFailures(batch.batchId, 1, 2);

      expect([first, ...asked].map(({ serviceId }) => serviceId)).toEqual(refs);
      expect(await ledger.unconfirmedFailures(batch.batchId, 1, 9)).toHaveLength(3);
    });

    it('says since when a POST may have arrived only of one that may have', async () => {
      const batch = await scenario.run(['since-none']);
      await batch.send('since-none', { kind: 'pending', reason: LATER, mayExist: false });

      expect(await batch.one('since-none')).toMatchObject({ state: 'sending', mayExist: false, mayExistSince: null });
    });

    it('is not notified for a file that is still being read, though its invoice settles', async () => {
      const owner = await scenario.run(['settles-early']);
      await scenario.reading('settles-early');
      const { serviceId } = await owner.accept('settles-early');

      const { settled } = await scenario.hear(serviceId, 'issued');

      expect(settled.map(({ batchId }) => batchId)).toEqual([owner.batchId]);
    });
  });

  describe('closePage', () => {
    it('leaves nothing of the page open, and says unknown wherever the service may have the invoice', async () => {
      const refs = ['c-staged', 'c-open', 'c-lost', 'c-none', 'c-accepted', 'c-fresh', 'c-rejected'];
      const batch = await scenario.run([...refs, 'c-next-page'], refs.length);
      await batch.send('c-lost', { kind: 'pending', reason: LATER, mayExist: true });
      await batch.accept('c-accepted');
      await batch.accept('c-fresh', { sentAt: NOW + 100 });
      await batch.send('c-rejected', { kind: 'rejected', reason: LATER });
      // The last two are frozen last: to ask what is sendable counts an unanswered send as lost.
      const open = await batch.one('c-open');
      const none = await batch.one('c-none');
      const items = [open, none].map(({ invoiceId }) => ({ invoiceId, generation: 1, body: 'b' }));
      await ledger.freeze(batch.batchId, items, NOW);
      await scenario.answer(none.invoiceId, { kind: 'pending', reason: LATER, mayExist: false });

      await batch.closePage();

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
      await owner.accept('x3');
      await owner.freeze('x2');

      await attached.closePage();

      expect(await owner.states()).toEqual(['staged', 'sending', 'unsettled']);
    });
  });

  describe('endBatch', () => {
    it('leaves nothing open that the batch owns, and says unknown wherever the service may have it', async () => {
      const batch = await scenario.run(['b-staged', 'b-open', 'b-accepted', 'b-rejected', 'b-issued'], 2);
      await batch.freeze('b-open');
      await batch.accept('b-accepted');
      await batch.reject('b-rejected');
      await batch.issue('b-issued');

      expect(await batch.end()).toBe(2);
      expect(await batch.end()).toBe(0);

      expect(await batch.states()).toEqual(['held', 'unknown', 'unsettled', 'rejected', 'issued']);
    });
  });

  describe('the balance of a batch', () => {
    it('sums exactly, by outcome and currency, and counts what has no amount', async () => {
      const prices = ['0.1', '0.2', '1000000000000000000000000000000.05'];
      const dollar = { ...invoiceOf({ ref: 'usd', unitPrice: '-5' }), currency: 'USD' };
      const batch = await scenario.run([
        ...prices.map((unitPrice, index) => ({ ref: `sum-${index}`, unitPrice })),
        validInvoice(scenario.application, dollar, 4),
        ...[invalidInvoice(5), invalidInvoice(6, { net: '2.50' })],
      ]);

      expect(await ledger.countOutcomes(batch.batchId)).toEqual([
        { outcome: 'invalid', currency: 'EUR', invoices: 1, net: '2.5', withoutAmount: 0 },
        { outcome: 'invalid', currency: null, invoices: 1, net: '0', withoutAmount: 1 },
        { outcome: 'staged', currency: 'EUR', invoices: 3, net: '2000000000000000000000000000000.7', withoutAmount: 0 },
        { outcome: 'staged', currency: 'USD', invoices: 1, net: '-10', withoutAmount: 0 },
      ]);
    });

    it('tells what had been issued before a time, or belongs to another batch', async () => {
      const refs = ['before-1', 'before-2', 'before-other'];
      const owner = await scenario.run(['before-other']);
      const batch = await scenario.run(['before-1', 'before-2', 'before-3', 'before-other']);
      for (const ref of refs) await (ref === 'before-other' ? owner : batch).accept(ref, { serviceId: ref });
      const events = refs.map((ref, at) => delivery(ref, 'issued', { receivedAt: NOW + 10 * (at + 1) }));
      await recordDeliveries(ledger, events);
      const later = await scenario.run(['before-1']);

      const before = (at: number) => ledger.issuedBefore(batch.batchId, at);
      expect([await before(NOW + 10), await before(NOW + 11), await before(NOW + 21)]).toEqual([1, 2, 3]);
      expect(await ledger.issuedBefore(later.batchId, NOW)).toBe(1);
      expect(await ledger.issuedBefore('no-batch', NOW)).toBe(0);
    });

    it('hands out a part of the invoices with some outcomes, in the order of the file', async () => {
      const batch = await scenario.run([1, 2, 3, 4, 5, 6].map((n) => `part-${n}`));
      for (const n of [2, 3, 5]) await batch.accept(`part-${n}`);
      const refs = async (which: InvoicesWith) =>
        (await ledger.invoicesWith(batch.batchId, which)).map(({ ref }) => ref);
      const sent = new Set<Outcome>(['accepted', 'issued']);

      expect(await refs({ outcomes: sent, limit: 9 })).toEqual(['part-2', 'part-3', 'part-5']);
      expect(await refs({ outcomes: sent, skip: 1, limit: 1 })).toEqual(['part-3']);
      expect(await refs({ outcomes: sent, after: 3, limit: 9 })).toEqual(['part-5']);
      expect(await refs({ outcomes: new Set(OUTCOMES), skip: 4, limit: 9 })).toEqual(['part-5', 'part-6']);
      expect(await refs({ outcomes: new Set<Outcome>(['held']), limit: 9 })).toEqual([]);
      const [line] = await ledger.invoicesWith(batch.batchId, { outcomes: sent, limit: 1 });
      expect(line).toEqual(await batch.line('part-2'));
    });

    it('reads a large batch in portions, in ordinal order', async () => {
      const refs = Array.from({ length: 2_000 }, (_, index) => `read-${index}`);
      const batch = await scenario.run(refs, 2_000);

      const portions: number[] = [];
      for await (const portion of ledger.batchInvoices(batch.batchId)) portions.push(portion.length);

      expect(portions).toEqual([1_000, 1_000]);
      expect((await batch.lines()).map(({ ordinal }) => ordinal)).toEqual(refs.map((_, index) => index + 1));
    });
  });
}
