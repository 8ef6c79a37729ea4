import { beforeAll, describe, expect, it } from 'vitest';
import {
  accepted,
  answered,
  createScenario,
  delivery,
  LATER,
  NOW,
  OTHER_NIF,
  REASON,
  type Scenario,
  recordDeliveries,
} from '../scenario.ts';
import type { Ledger } from '../../../../src/ledger/ledger.ts';
import type { FreezeInvoice } from '../../../../src/ledger/sending/sending.ts';
import type { OpenDocument } from '../../../../src/ledger/settling/settled.ts';

export function sendingContract(ledger: Ledger): void {
  let scenario: Scenario;
  const openScenario = (): void => void (scenario = createScenario(ledger));

  describe('sendable', () => {
    beforeAll(openScenario);

    it('gives the owned unsent invoices of a range, in ordinal order, with what sending needs', async () => {
      const batch = await scenario.run(['s1', { ref: 's2', nif: OTHER_NIF }, 's3', 's4'], 4);
      await ledger.saveMerchants(scenario.application, [{ nif: OTHER_NIF, merchantId: 'mrc_2' }]);
      await batch.send('s3', accepted(scenario.serviceId('s3')));

      const all = await batch.sendable();
      const middle = await ledger.sendable(batch.batchId, 2, 3);

      expect(all.map((one) => [one.ordinal, one.invoice.ref, one.merchantId])).toEqual([
        [1, 's1', null],
        [2, 's2', 'mrc_2'],
        [4, 's4', null],
      ]);
      expect(middle.map((one) => one.ordinal)).toEqual([2]);
    });

    it('gives one found sending with its frozen bytes, and says that it may exist', async () => {
      const batch = await scenario.run(['found']);
      const before = await batch.freeze('found', '{"bytes":"1.10"}');

      expect(before).toMatchObject({ state: 'staged', mayExist: false });
      expect(await batch.one('found')).toMatchObject({
        state: 'sending',
        body: '{"bytes":"1.10"}',
        mayExist: true,
        idempotencyKey: before.idempotencyKey,
        invoiceId: before.invoiceId,
      });
    });
  });

  describe('repeats of a batch', () => {
    beforeAll(openScenario);

    it('add up over all who send it, and begin anew with its next run', async () => {
      const batch = await scenario.run(['repeated']);

      await Promise.all([1, 2, 3].map((repeats) => ledger.addRepeats(batch.batchId, repeats)));
      const sum = await ledger.addRepeats(batch.batchId, 4);
      await batch.finish();
      await batch.claim({ runId: 'the next run', takeOver: true });

      expect(sum).toBe(10);
      expect(await ledger.addRepeats(batch.batchId, 1)).toBe(1);
    });

    it('begin anew with a round that an operator has asked for, and with no other', async () => {
      const batch = await scenario.run(['repeated-again']);
      const { batchId, fencingToken } = batch;
      await ledger.addRepeats(batchId, 4);

      const next = await ledger.beginRound({ batchId, fencingToken, attempt: 1 });
      expect(await ledger.addRepeats(batchId, 1)).toBe(5);
      await ledger.beginRound({ batchId, fencingToken: next.fencingToken, attempt: 1, isOrdered: true });
      expect(await ledger.addRepeats(batchId, 1)).toBe(1);
    });
  });

  describe('freeze', () => {
    beforeAll(openScenario);

    it('moves staged to sending and says which moved', async () => {
      const batch = await scenario.run(['f1', 'f2']);
      const items = (await batch.sendable()).map(({ invoiceId, generation }) => ({
        invoiceId,
        generation,
        body: `body of ${invoiceId}`,
      }));

      const moved = await ledger.freeze(batch.batchId, items, NOW);

      expect(moved).toEqual(items.map((item) => item.invoiceId));
      expect((await batch.sendable()).map((one) => one.body)).toEqual(items.map((item) => item.body));
    });

    it('moves an invoice once, and never rewrites bytes that may be on the wire', async () => {
      const batch = await scenario.run(['once']);
      const { invoiceId } = await batch.freeze('once', 'first bytes');

      const again = await ledger.freeze(batch.batchId, [{ invoiceId, generation: 1, body: 'other bytes' }], NOW);

      expect(again).toEqual([]);
      expect((await batch.one('once')).body).toBe('first bytes');
    });

    it('gives each invoice its own bytes where two batches freeze at once, and none to a batch that does not own it', async () => {
      const refs = ['own-1', 'own-2', 'own-3'];
      const [one, two] = [await scenario.run(refs), await scenario.run(['own-4'])];
      const invoices = [...(await one.sendable()), ...(await two.sendable())];
      const items = invoices.map(({ invoiceId, invoice }) => ({ invoiceId, generation: 1, body: invoice.ref }));
      const [first, second, third, fourth] = items as [FreezeInvoice, FreezeInvoice, FreezeInvoice, FreezeInvoice];

      const moved = await Promise.all([
        ledger.freeze(two.batchId, [fourth, second], NOW),
        ledger.freeze(one.batchId, [third, first], NOW),
      ]);

      expect(moved).toEqual([[fourth.invoiceId], [third.invoiceId, first.invoiceId]]);
      const after = [...(await one.sendable()), ...(await two.sendable())];
      expect(after.map(({ state, body }) => [state, body])).toEqual([
        ['sending', 'own-1'],
        ['staged', null],
        ['sending', 'own-3'],
        ['sending', 'own-4'],
      ]);
    });

    it('lets one of many who freeze the same invoice at once win', async () => {
      const batch = await scenario.run(['crowd']);
      const { invoiceId } = await batch.one('crowd');

      const moved = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          ledger.freeze(batch.batchId, [{ invoiceId, generation: 1, body: `body ${index}` }], NOW),
        ),
      );

      expect(moved.flat()).toEqual([invoiceId]);
      const winner = moved.findIndex((ids) => ids.length === 1);
      expect((await batch.one('crowd')).body).toBe(`body ${winner}`);
    });

    it('takes no items gladly', async () => {
      expect(await ledger.freeze('any', [], NOW)).toEqual([]);
      expect(await ledger.recordSends([])).toEqual({ settled: [], idsTaken: 0 });
    });
  });

  describe('recordSends', () => {
    beforeAll(openScenario);

    it('accepts with the service id, times and attempts, and settles nothing yet', async () => {
      const batch = await scenario.run(['ok']);

      const settled = await batch.send('ok', accepted(scenario.serviceId('ok')), { attempts: 3, sentAt: NOW + 4 });

      expect(settled).toEqual([]);
      expect(await batch.line('ok')).toMatchObject({
        state: 'accepted',
        serviceId: scenario.serviceId('ok'),
        attempts: 3,
        sentAt: NOW + 4,
        reason: null,
      });
      expect(await batch.sendable()).toEqual([]);
    });

    it.each(['rejected', 'unknown', 'held'] as const)(
      'ends the sending as %s, with the reason, and says so to every batch',
      async (kind) => {
        const ref = `end-${kind}`;
        const batch = await scenario.run(['page-one' + kind, 'page-one-too' + kind, ref], 2);
        const attached = await scenario.run([ref]);

        const settled = await batch.send(ref, { kind, reason: REASON });

        expect(await batch.line(ref)).toMatchObject({ state: kind, reason: REASON, attempts: 1, serviceId: null });
        expect(settled.toSorted((a, b) => b.ordinal - a.ordinal)).toEqual([
          { batchId: batch.batchId, workflowId: `workflow-of-${batch.batchId}`, page: 2, ordinal: 3, state: kind },
          {
            batchId: attached.batchId,
            workflowId: `workflow-of-${attached.batchId}`,
            page: 1,
            ordinal: 1,
            state: kind,
          },
        ]);
      },
    );

    it('makes an invoice unknown whose service id another invoice has, flags that one, and does not poison the rest of the set', async () => {
      const batch = await scenario.run(['d1', 'd2', 'd3', 'd4'], 4);
      const ids = await Promise.all(['d1', 'd2', 'd3', 'd4'].map(async (ref) => (await batch.freeze(ref)).invoiceId));
      const [first, second] = [scenario.serviceId('first'), scenario.serviceId('second')];
      await scenario.answer(ids[0] ?? 0, accepted(first));

      const { settled, idsTaken } = await ledger.recordSends([
        answered(ids[3] ?? 0, accepted(second)),
        answered(ids[1] ?? 0, accepted(first)),
        answered(ids[2] ?? 0, accepted(second)),
      ]);

      const [d1, d2, ...lastTwo] = await batch.lines();
      expect(d1).toMatchObject({ state: 'accepted', serviceId: first, flags: ['shared-service-id'] });
      expect(d2).toMatchObject({ state: 'unknown', serviceId: null, flags: [], reason: { code: 'service-id-taken' } });
      const summary = lastTwo.map((line) => [line.state, line.serviceId, line.reason?.code ?? null, line.flags]);
      expect(new Set(summary)).toEqual(
        new Set([
          ['accepted', second, null, ['shared-service-id']],
          ['unknown', null, 'service-id-taken', []],
        ]),
      );
      expect(idsTaken).toBe(2);
      const loser = lastTwo.find((line) => line.state === 'unknown');
      expect(new Set(settled.map((one) => one.ordinal))).toEqual(new Set([2, loser?.ordinal]));
    });

    it('flags an issued invoice whose id another batch gets, once, and tells each such answer once', async () => {
      const one = await scenario.run(['shared-owner']);
      const other = await scenario.run(['shared-1', 'shared-2'], 2);
      const id = scenario.serviceId('shared');
      await one.send('shared-owner', accepted(id));
      await recordDeliveries(ledger, [delivery(id, 'issued')]);
      const takers = [await other.freeze('shared-1'), await other.freeze('shared-2')];
      const told: number[] = [];
      for (const { invoiceId } of [...takers, ...takers])
        told.push((await scenario.answer(invoiceId, accepted(id))).idsTaken);

      expect(told).toEqual([1, 2, 0, 0]);
      expect(await one.line('shared-owner')).toMatchObject({
        state: 'issued',
        flags: ['shared-service-id'],
        contradictions: ['shared-service-id'],
      });
      expect(await other.states()).toEqual(['unknown', 'unknown']);
    });

    it('changes nothing when the same answer is recorded again', async () => {
      const batch = await scenario.run(['repeat']);
      const { invoiceId } = await batch.freeze('repeat');
      const answer = answered(invoiceId, accepted(scenario.serviceId('repeat')));
      await ledger.recordSends([answer]);
      const before = await batch.line('repeat');

      expect(await ledger.recordSends([answer])).toEqual({ settled: [], idsTaken: 0 });

      expect(await batch.line('repeat')).toEqual(before);
    });

    describe('two documents of one key', () => {
      async function twice(ref: string) {
        const batch = await scenario.run([ref]);
        const { invoiceId } = await batch.freeze(ref);
        const ids = [scenario.serviceId(`${ref}-1`), scenario.serviceId(`${ref}-2`)];
        for (const id of ids) await scenario.answer(invoiceId, accepted(id));
        return { batch, ids };
      }

      it('are flagged when both are issued', async () => {
        const { batch, ids } = await twice('both-issued');

        await recordDeliveries(
          ledger,
          ids.map((id) => delivery(id, 'issued')),
        );

        expect(await batch.line('both-issued')).toMatchObject({
          ...{ state: 'issued', serviceId: ids[0], flags: ['second-service-id', 'issued-in-earlier-generation'] },
          contradictions: ['second-service-id', 'issued-in-earlier-generation'],
        });
      });

      it.each([
        ['of many', 100],
        ['where one of them is the last of a portion', 1],
      ])('are both asked for once the batch is closed, %s', async (_, limit) => {
        const { batch, ids } = await twice(`both-asked-${limit}`);
        await batch.close();
        const { application } = scenario;

        const documents: OpenDocument[] = [];
        for (let isLast = false; !isLast;) {
          const afterInvoiceId = documents.at(-1)?.invoiceId ?? 0;
          const portion = await ledger.openDocuments({ application, now: NOW, all: true, afterInvoiceId, limit });
          documents.push(...portion);
          isLast = portion.length < limit;
        }

        expect(
          documents
            .map(({ serviceId }) => serviceId)
            .filter((id) => ids.includes(id))
            .toSorted(),
        ).toEqual(ids);
      });
    });

    it('records two answers of one invoice in one call in their order', async () => {
      const batch = await scenario.run(['in-order']);
      const { invoiceId } = await batch.freeze('in-order');

      await ledger.recordSends([
        answered(invoiceId, { kind: 'pending', reason: LATER, mayExist: true }),
        answered(invoiceId, accepted(scenario.serviceId('in-order'))),
      ]);

      expect(await batch.line('in-order')).toMatchObject({ state: 'accepted', attempts: 2 });
    });

    it('records a thousand small calls at once, each with its own result', async () => {
      const count = 1_000;
      const batch = await scenario.run(
        Array.from({ length: count }, (_, index) => `g${index}`),
        count,
      );
      const sendable = await batch.freezeAll();

      const recorded = await Promise.all(
        sendable.map(({ invoiceId, ordinal }) =>
          scenario.answer(
            invoiceId,
            ordinal % 2 === 0 ? accepted(scenario.serviceId(`g${ordinal}`)) : { kind: 'rejected', reason: REASON },
          ),
        ),
      );

      for (const [index, result] of recorded.entries()) {
        expect(result.settled.map((one) => one.ordinal)).toEqual((index + 1) % 2 === 0 ? [] : [index + 1]);
      }
      expect(await ledger.countOutcomes(batch.batchId)).toMatchObject([
        { outcome: 'accepted', invoices: 500 },
        { outcome: 'rejected', invoices: 500 },
      ]);
    });
  });

  describe('holding', () => {
    beforeAll(openScenario);

    it('holds the unsent of a batch, of a merchant, or of a page', async () => {
      const batch = await scenario.run(['h1', { ref: 'h2', nif: OTHER_NIF }, 'h3', { ref: 'h4', nif: OTHER_NIF }], 2);

      expect(
        await ledger.holdUnsent(batch.batchId, { reason: REASON, merchantNif: OTHER_NIF, page: 2, now: NOW }),
      ).toBe(1);
      expect(await ledger.holdUnsent(batch.batchId, { reason: REASON, page: 1, now: NOW })).toBe(2);
      expect(await ledger.holdUnsent(batch.batchId, { reason: LATER, now: NOW })).toBe(1);

      expect(await batch.outcomes()).toEqual(['held because', 'held because', 'held later', 'held because']);
    });

    it.each(['cancelled', 'finished'] as const)(
      'brings held invoices of a %s batch over to the one that is run again, and of a running one not',
      async (state) => {
        const ref = `comes-${state}`;
        const owner = await scenario.run([ref]);
        const other = await scenario.run([ref]);
        await owner.hold();

        expect(await ledger.releaseHeld(other.batchId, NOW)).toBe(0);
        await ledger.setBatchState(owner.batchId, state, NOW);
        expect(await ledger.releaseHeld(other.batchId, NOW)).toBe(1);

        expect(await other.sendable()).toHaveLength(1);
        expect(await owner.sendable()).toEqual([]);
      },
    );
  });
}
