import { describe, expect, it } from 'vitest';
import {
  accepted,
  answered,
  createScenario,
  delivery,
  LATER,
  NOW,
  OTHER_NIF,
  REASON,
  REJECTED,
  type TestBatch,
  recordDeliveries,
} from '../scenario.ts';
import type { SendingControl } from '../../../../src/domain/records/batch-record.ts';
import type { Ledger } from '../../../../src/ledger/ledger.ts';
import type { FreezeInvoice } from '../../../../src/ledger/sending/sending.ts';
import type { OpenDocument } from '../../../../src/ledger/settling/settling.ts';

export function sendingContract(ledger: Ledger): void {
  const scenario = createScenario(ledger);

  describe('sendable', () => {
    it('gives the owned unsent invoices of a range, in ordinal order, with what sending needs', async () => {
      const batch = await scenario.run(['s1', { ref: 's2', nif: OTHER_NIF }, 's3', 's4'], 4);
      await ledger.saveMerchants(scenario.application, [{ nif: OTHER_NIF, merchantId: 'mrc_2' }]);
      await batch.accept('s3');

      const all = await batch.sendable();
      const middle = await ledger.sendable(batch.batchId, 2, 3);

      expect(all.map((one) => [one.ordinal, one.invoice.ref, one.merchantId])).toEqual([
        [1, 's1', null],
        [2, 's2', 'mrc_2'],
        [4, 's4', null],
      ]);
      expect(middle.map((one) => one.ordinal)).toEqual([2]);
    });
  });

  describe('freeze', () => {
    it('gives each invoice its own bytes where two batches freeze at once, and none to a batch that does not own it', async () => {
      const [one, two] = [await scenario.run(['own-1', 'own-2', 'own-3']), await scenario.run(['own-4'])];
      const invoices = [...(await one.sendable()), ...(await two.sendable())];
      const items = invoices.map(({ invoiceId, invoice }) => ({ invoiceId, generation: 1, body: invoice.ref }));
      const [first, second, third, fourth] = items as [FreezeInvoice, FreezeInvoice, FreezeInvoice, FreezeInvoice];

      const moved = await Promise.all([
        ledger.freeze(two.batchId, [fourth, second], NOW),
        ledger.freeze(one.batchId, [third, first], NOW),
      ]);

      expect(moved.map((ids) => ids.toSorted((a, b) => a - b))).toEqual([
        [fourth.invoiceId],
        [first.invoiceId, third.invoiceId].toSorted((a, b) => a - b),
      ]);
      const after = [...(await one.sendable()), ...(await two.sendable())];
      expect(after.map(({ state, body }) => [state, body])).toEqual([
        ['sending', 'own-1'],
        ['staged', null],
        ['sending', 'own-3'],
        ['sending', 'own-4'],
      ]);
    });

    it('lets one of many who freeze the same invoice at once win, and never rewrites bytes that may be on the wire', async () => {
      const batch = await scenario.run(['crowd']);
      const { invoiceId } = await batch.one('crowd');
      const freeze = (body: string) => ledger.freeze(batch.batchId, [{ invoiceId, generation: 1, body }], NOW);

      const moved = await Promise.all(Array.from({ length: 20 }, (_, index) => freeze(`body ${index}`)));

      expect(moved.flat()).toEqual([invoiceId]);
      const winner = moved.findIndex((ids) => ids.length === 1);
      expect(await freeze('other bytes')).toEqual([]);
      expect((await batch.one('crowd')).body).toBe(`body ${winner}`);
    });

    it('takes no items gladly', async () => {
      expect(await ledger.freeze('any', [], NOW)).toEqual([]);
      expect(await ledger.recordSends([])).toBe(0);
    });
  });

  describe('what was frozen and not sent', () => {
    function unfreeze(batch: TestBatch, invoiceId: number, generation = 1): Promise<number> {
      return ledger.unfreeze(batch.batchId, [{ invoiceId, generation }], { reason: REASON, now: NOW });
    }

    it('is staged again by the attempt that froze it, says why, and is frozen and sent as before', async () => {
      const batch = await scenario.run(['u1']);
      const frozen = await batch.freeze('u1', 'bytes');

      expect(await unfreeze(batch, frozen.invoiceId)).toBe(1);

      expect(await batch.line('u1')).toMatchObject({ state: 'staged', reason: REASON });
      expect(await batch.one('u1')).toMatchObject({ state: 'staged', mayExist: false, body: null });
      await batch.freeze('u1', 'bytes');
      expect(await batch.line('u1')).toMatchObject({ state: 'sending', reason: null });
    });

    it('keeps its reason when its page closes before its turn', async () => {
      const batch = await scenario.run(['u2']);
      await unfreeze(batch, (await batch.freeze('u2')).invoiceId);

      await batch.closePage({ reason: LATER });

      expect(await batch.line('u2')).toMatchObject({ state: 'held', reason: REASON });
    });

    it('stays as it is once it was handed out again, or refused for now, or is closed', async () => {
      const pending = { kind: 'pending', reason: REASON, mayExist: false } as const;
      const batch = await scenario.run(['u3', 'u4', 'u5'], 3);
      const handedOut = await batch.freeze('u3');
      await batch.one('u3');
      await batch.send('u4', pending);
      const closed = await batch.freeze('u5');
      const { invoiceId } = await batch.one('u4');
      await scenario.answer(invoiceId, pending);

      expect(await unfreeze(batch, handedOut.invoiceId)).toBe(0);
      expect(await unfreeze(batch, invoiceId)).toBe(0);
      expect(await unfreeze(batch, closed.invoiceId, 2), 'of another generation').toBe(0);
      await batch.closePage({ acceptedBefore: NOW });
      expect(await unfreeze(batch, closed.invoiceId)).toBe(0);

      expect(await batch.line('u3')).toMatchObject({ state: 'unknown' });
    });

    it('goes with new bytes where it was held and released: the first ones never arrived', async () => {
      const batch = await scenario.run(['second-bytes']);
      const { invoiceId } = await batch.freeze('second-bytes', 'first bytes');
      await scenario.answer(invoiceId, { kind: 'pending', reason: LATER, mayExist: false });
      await batch.hold();
      await ledger.releaseHeld(batch.batchId, NOW);
      expect((await batch.one('second-bytes')).body).toBeNull();

      await ledger.freeze(batch.batchId, [{ invoiceId, generation: 1, body: 'second bytes' }], NOW + 100);
      await batch.sendable();

      const frozen = { body: 'second bytes', mayExist: true, mayExistSince: NOW + 100 };
      expect(await batch.one('second-bytes')).toMatchObject(frozen);
    });
  });

  describe('recordSends', () => {
    it('accepts with the service id, times and attempts, and changes nothing a second time', async () => {
      const batch = await scenario.run(['ok']);
      const serviceId = scenario.serviceId('ok');
      const { invoiceId } = await batch.freeze('ok');
      const answer = answered(invoiceId, accepted(serviceId), { attempts: 3, sentAt: NOW + 4 });

      for (const _ of ['once', 'again']) {
        expect(await ledger.recordSends([answer])).toBe(0);
        const line = { state: 'accepted', serviceId, attempts: 3, sentAt: NOW + 4, reason: null };
        expect(await batch.line('ok')).toMatchObject(line);
      }
      expect(await batch.sendable()).toEqual([]);
    });

    it.each(['rejected', 'unknown', 'held'] as const)(
      'ends the sending as %s, with the reason, for every batch',
      async (kind) => {
        const ref = `end-${kind}`;
        const batch = await scenario.run([ref]);
        const attached = await scenario.run([ref]);

        await batch.send(ref, { kind, reason: REASON });

        for (const one of [batch, attached])
          expect(await one.line(ref)).toMatchObject({ state: kind, reason: REASON, attempts: 1, serviceId: null });
      },
    );

    it('makes an invoice unknown whose service id another invoice has, flags that one, and does not poison the rest of the set', async () => {
      const refs = ['d1', 'd2', 'd3', 'd4'];
      const batch = await scenario.run(refs, 4);
      const [one = 0, two = 0, three = 0, four = 0] = (await batch.freezeAll()).map(({ invoiceId }) => invoiceId);
      const [first, second] = [scenario.serviceId('first'), scenario.serviceId('second')];
      await scenario.answer(one, accepted(first));

      const idsTaken = await ledger.recordSends([
        answered(four, accepted(second)),
        answered(two, accepted(first)),
        answered(three, accepted(second)),
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
    });

    it('flags an issued invoice whose id another batch gets, once, and tells each such answer once', async () => {
      const one = await scenario.run(['shared-owner']);
      const other = await scenario.run(['shared-1', 'shared-2'], 2);
      const { serviceId } = await one.issue('shared-owner');
      const takers = [await other.freeze('shared-1'), await other.freeze('shared-2')];
      const told: number[] = [];
      for (const { invoiceId } of [...takers, ...takers])
        told.push(await scenario.answer(invoiceId, accepted(serviceId)));

      expect(told).toEqual([1, 2, 0, 0]);
      const flags = ['shared-service-id'];
      expect(await one.line('shared-owner')).toMatchObject({ state: 'issued', flags, contradictions: flags });
      expect(await other.states()).toEqual(['unknown', 'unknown']);
    });

    describe('two documents of one key', () => {
      async function twice(ref: string) {
        const batch = await scenario.run([ref]);
        const ids = [scenario.serviceId(`${ref}-1`), scenario.serviceId(`${ref}-2`)] as const;
        const { invoiceId } = await batch.accept(ref, { serviceId: ids[0] });
        await scenario.answer(invoiceId, accepted(ids[1]));
        return { batch, ids };
      }

      it('are flagged when both are issued', async () => {
        const { batch, ids } = await twice('both-issued');

        const events = ids.map((id) => delivery(id, 'issued'));
        await recordDeliveries(ledger, events);

        const flags = ['second-service-id', 'issued-in-earlier-generation'];
        const issued = { state: 'issued', serviceId: ids[0], flags, contradictions: flags };
        expect(await batch.line('both-issued')).toMatchObject(issued);
      });

      it.each([
        ['of many', 100],
        ['where one of them is the last of a portion', 1],
      ])('are both asked for once the batch is closed, %s', async (_, limit) => {
        const { batch, ids } = await twice(`both-asked-${limit}`);
        await batch.close();

        const documents: OpenDocument[] = [];
        for (let isLast = false; !isLast;) {
          const portion = await scenario.openDocuments({ afterInvoiceId: documents.at(-1)?.invoiceId ?? 0, limit });
          documents.push(...portion);
          isLast = portion.length < limit;
        }

        const asked = documents.map(({ serviceId }) => serviceId).filter((id) => ids.includes(id));
        expect(asked.toSorted()).toEqual(ids);
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

    it('records a thousand small calls at once', async () => {
      const refs = Array.from({ length: 1_000 }, (_, index) => `g${index}`);
      const batch = await scenario.run(refs, refs.length);
      const outcomeOf = (at: number) => (at % 2 === 0 ? accepted(scenario.serviceId(`g${at}`)) : REJECTED);

      await Promise.all(
        (await batch.freezeAll()).map(({ invoiceId, ordinal }) => scenario.answer(invoiceId, outcomeOf(ordinal))),
      );

      expect(await ledger.countOutcomes(batch.batchId)).toMatchObject([
        { outcome: 'accepted', invoices: 500 },
        { outcome: 'rejected', invoices: 500 },
      ]);
    });
  });

  describe('holding', () => {
    it('holds the unsent of a batch, of a merchant, or of a page', async () => {
      const batch = await scenario.run(['h1', { ref: 'h2', nif: OTHER_NIF }, 'h3', { ref: 'h4', nif: OTHER_NIF }], 2);
      const hold = (what: object) => ledger.holdUnsent(batch.batchId, { reason: REASON, now: NOW, ...what });

      expect(await hold({ merchantNif: OTHER_NIF, page: 2 })).toBe(1);
      expect(await hold({ page: 1 })).toBe(2);
      expect(await hold({ reason: LATER })).toBe(1);

      expect(await batch.outcomes()).toEqual(['held because', 'held because', 'held later', 'held because']);
    });

    it.each(['cancelled', 'finished'] as const)(
      'brings held invoices of a %s batch over to the one that is run again, and of a running one not',
      async (state) => {
        const ref = `comes-${state}`;
        const [owner, other] = [await scenario.run([ref]), await scenario.run([ref])];
        await owner.hold();

        expect(await ledger.releaseHeld(other.batchId, NOW)).toBe(0);
        await owner.setState(state);
        expect(await ledger.releaseHeld(other.batchId, NOW)).toBe(1);

        expect(await other.sendable()).toHaveLength(1);
        expect(await owner.sendable()).toEqual([]);
      },
    );
  });

  describe("an operator's word about sending", () => {
    async function wordOf(batch: TestBatch, over: Partial<SendingControl> = {}): Promise<boolean> {
      const { batchId, workflowId, runId } = await batch.record();
      const none = { paused: false, cancelled: false };
      return ledger.recordControl({ batchId, workflowId, runId, version: 1, ...none, ...over });
    }

    async function maySend({ batchId }: TestBatch): Promise<boolean> {
      return (await ledger.sendingBatches([batchId])).length > 0;
    }

    it('is heard by whoever asks for several batches, with the run that holds each claim', async () => {
      const [going, paused] = [await scenario.run(['w1']), await scenario.run(['w2'])];

      expect(await wordOf(paused, { paused: true })).toBe(true);

      expect(await ledger.sendingBatches([going.batchId, paused.batchId, 'nobody'])).toEqual([
        { batchId: going.batchId, workflowId: `workflow-of-${going.batchId}`, runId: 'run-1' },
      ]);
      expect((await paused.record()).state).toBe('paused');
    });

    it('is taken back by a resume, and not by a cancellation that follows, nor by an earlier word that comes late', async () => {
      const batch = await scenario.run(['w3']);
      await wordOf(batch, { version: 1, paused: true });
      await wordOf(batch, { version: 2 });
      expect(await maySend(batch)).toBe(true);

      await wordOf(batch, { version: 4, cancelled: true });
      expect(await wordOf(batch, { version: 3 })).toBe(false);

      expect(await maySend(batch)).toBe(false);
      expect((await batch.record()).state).toBe('running');
    });

    it('is that of the run which holds the claim, and ends with that run', async () => {
      const batch = await scenario.run(['w5']);

      expect(await wordOf(batch, { runId: 'another', paused: true })).toBe(false);
      await wordOf(batch, { version: 7, paused: true });
      await batch.claim();
      expect(await maySend(batch), 'the same run, repeating its step').toBe(false);
      await batch.claim({ runId: 'run-2', takeOver: true });

      expect(await maySend(batch), 'the next run').toBe(true);
      expect(await wordOf(batch, { version: 1, paused: true }), 'its words are counted anew').toBe(true);
    });

    it('is not needed for a batch that is closed or not staged: nothing is sent for it', async () => {
      const [closed, staging] = [await scenario.run(['w6']), await scenario.begin()];
      await closed.finish();

      expect(await wordOf(closed, { paused: false })).toBe(false);
      expect([await maySend(closed), await maySend(staging)]).toEqual([false, false]);
    });
  });
}
