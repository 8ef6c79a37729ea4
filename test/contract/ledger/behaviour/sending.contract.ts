import { beforeAll, describe, expect, it } from 'vitest';
import type { Ledger } from '../../../../src/domain/ports/ledger/ledger.ts';
import type { OpenDocument } from '../../../../src/domain/ports/ledger/reconciling-ledger.ts';
import type { FreezeInvoice, RecordSend, SendOutcome } from '../../../../src/domain/ports/ledger/sending-ledger.ts';
import type { OpenLedger, Scenario, TestBatch } from '../scenario.ts';
import { accepted, createScenario, delivery, NOW, OTHER_NIF, REASON, serviceIdOf } from '../scenario.ts';

const LATER = { code: 'later', message: 'Later' };

export function sendingContract(open: OpenLedger): void {
  let ledger: Ledger;
  let scenario: Scenario;

  function send(invoiceId: number, outcome: SendOutcome, over: Partial<RecordSend> = {}): RecordSend {
    return { invoiceId, generation: 1, attempts: 1, sentAt: NOW, outcome, ...over };
  }

  describe('sendable', () => {
    beforeAll(async () => {
      ledger = await open();
      scenario = createScenario(ledger);
    });

    it('gives the owned unsent invoices of a range, in ordinal order, with what sending needs', async () => {
      const batch = await scenario.run([{ ref: 's1' }, { ref: 's2', nif: OTHER_NIF }, { ref: 's3' }, { ref: 's4' }], 4);
      await ledger.saveMerchants(scenario.application, [{ nif: OTHER_NIF, merchantId: 'mrc_2' }]);
      await batch.send('s3', accepted(serviceIdOf(scenario, 's3')));

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
      const batch = await scenario.run([{ ref: 'found' }]);
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

  describe('an invoice that is handed out while the ledger does not know all that was sent', () => {
    beforeAll(async () => {
      ledger = await open();
      scenario = createScenario(ledger);
    });

    const GAP = NOW - 3_600_000;

    it('may exist since the beginning of the gap: its retention window begins there, and no refusal is final', async () => {
      const batch = await scenario.run([{ ref: 'gap-1' }, { ref: 'gap-2' }]);
      const first = await ledger.sendable(batch.batchId, 1, 2, GAP);
      const items = first.map((one) => ({ ...one, body: `body of ${one.ordinal}` }));
      await ledger.freeze(batch.batchId, items, NOW);
      const [refused, left] = items as [(typeof items)[0], (typeof items)[0]];
      await ledger.recordSends([send(refused.invoiceId, { kind: 'rejected', reason: REASON })]);
      await ledger.unfreeze(batch.batchId, [left], { reason: REASON, now: NOW });

      expect(first.map(({ mayExist, mayExistSince }) => [mayExist, mayExistSince])).toEqual([
        [true, GAP],
        [true, GAP],
      ]);
      expect((await batch.line('gap-1')).state).toBe('unknown');
      expect(await batch.one('gap-2')).toMatchObject({ state: 'sending', mayExist: true, mayExistSince: GAP });
    });

    it('is held where an earlier report says that it was not sent: by the first of its rows, and no run of its file releases it', async () => {
      const batch = await scenario.run([{ ref: 'gap-4' }, { ref: 'gap-5' }, { ref: 'gap-6' }]);
      await batch.freeze('gap-6');

      const hold = { firstRows: [2, 4, 99], sentAgain: [], acceptedAfter: NOW, reason: REASON, now: NOW };
      expect(await ledger.holdDoubtful(batch, hold)).toBe(2);
      expect(await ledger.holdDoubtful(batch, hold), 'a step that is repeated').toBe(0);
      await batch.finish();

      expect((await batch.lines()).map(({ state, flags }) => [state, flags])).toEqual([
        ['held', ['older-ledger']],
        ['staged', []],
        ['unknown', ['older-ledger']],
      ]);
      expect(await ledger.releaseHeld(batch.batchId, NOW)).toBe(0);
      expect(await ledger.repeatUnknown(batch.batchId, 0)).toBe(0);
    });

    it('is held where an earlier report has a later generation of it, and not once the ledger has that, too', async () => {
      const batch = await scenario.run([{ ref: 'gap-8' }, { ref: 'gap-9' }]);
      const sentAgain = [{ firstRow: 2, generation: 2 }];
      const hold = { firstRows: [], sentAgain, acceptedAfter: NOW, reason: REASON, now: NOW };

      expect(await ledger.holdDoubtful(batch, { ...hold, sentAgain: [{ firstRow: 2, generation: 1 }] })).toBe(0);
      expect(await ledger.holdDoubtful(batch, hold)).toBe(1);
      expect((await batch.lines()).map(({ state }) => state)).toEqual(['held', 'staged']);
    });

    it('is not held again where an operator has accepted the risk since that report, and it is where he did before', async () => {
      const batch = await scenario.run([{ ref: 'gap-7' }]);
      const hold = { firstRows: [2], sentAgain: [], acceptedAfter: NOW, reason: REASON, now: NOW };
      expect(await ledger.holdDoubtful(batch, hold)).toBe(1);
      await batch.finish();
      const policy = { maxGenerations: 3, retentionMs: 1, rejectionIsProof: true, acceptDuplicateRisk: true };
      const action = { actionId: `accept-${batch.batchId}`, who: 'ana', why: 'the service has none' };
      const { batchId } = batch;
      await ledger.retryInvoices({ batchId, selection: {}, policy: { ...policy, now: NOW + 1 }, action });

      expect(await ledger.holdDoubtful(batch, hold)).toBe(0);
      expect((await batch.line('gap-7')).state).toBe('staged');
      expect(await ledger.holdDoubtful(batch, { ...hold, acceptedAfter: NOW + 1 })).toBe(1);
    });

    it('may exist also where every try that the ledger knows was proved not to have reached the service', async () => {
      const batch = await scenario.run([{ ref: 'gap-3' }]);
      await batch.send('gap-3', { kind: 'pending', reason: REASON, mayExist: false });
      const [handedOut] = await ledger.sendable(batch.batchId, 1, 1, GAP);

      expect(handedOut).toMatchObject({ state: 'sending', mayExist: true, mayExistSince: NOW });
    });
  });

  describe('an invoice that is handed out again', () => {
    beforeAll(async () => {
      ledger = await open();
      scenario = createScenario(ledger);
    });

    const later = { kind: 'pending', reason: REASON, mayExist: false } as const;

    async function refusedForNow(batch: TestBatch, ref: string): Promise<void> {
      const { invoiceId, generation } = await batch.one(ref);
      await ledger.recordSends([{ invoiceId, generation, attempts: 1, sentAt: NOW, outcome: later }]);
    }

    it('does not exist at the service while every try was refused for now, however often', async () => {
      const batch = await scenario.run([{ ref: 'later' }]);
      await batch.send('later', later);
      await refusedForNow(batch, 'later');
      await refusedForNow(batch, 'later');

      const again = await batch.one('later');
      expect(again).toMatchObject({ state: 'sending', mayExist: false, attempts: 3 });
      const { invoiceId } = again;
      await ledger.recordSends([{ invoiceId, generation: 1, attempts: 1, sentAt: NOW, outcome: later }]);
      await ledger.closePage(batch.batchId, 1, { acceptedBefore: NOW, reason: REASON, now: NOW });

      expect((await batch.line('later')).state).toBe('held');
    });

    it('may exist when nobody wrote down how the last hand-out ended', async () => {
      const batch = await scenario.run([{ ref: 'silent' }]);
      await batch.send('silent', later);
      await batch.one('silent');

      expect(await batch.one('silent')).toMatchObject({ mayExist: true });
    });

    it('starts its settle time with the answer, not with the POST', async () => {
      const batch = await scenario.run([{ ref: 'slow' }]);
      const { invoiceId } = await batch.freeze('slow');
      const outcome = accepted(serviceIdOf(scenario, 'slow'));

      await ledger.recordSends([
        { invoiceId, generation: 1, attempts: 1, sentAt: NOW, answeredAt: NOW + 40_000, outcome },
      ]);

      expect(await batch.line('slow')).toMatchObject({ sentAt: NOW });
      expect(await ledger.pendingInvoices(batch.batchId, 1, NOW + 50_000, 1)).toMatchObject([
        { acceptedAt: NOW + 40_000 },
      ]);
    });
  });

  describe('repeats of a batch', () => {
    beforeAll(async () => {
      ledger = await open();
      scenario = createScenario(ledger);
    });

    it('add up over all who send it, and begin anew with its next run', async () => {
      const batch = await scenario.run([{ ref: 'repeated' }]);

      await Promise.all([1, 2, 3].map((repeats) => ledger.addRepeats(batch.batchId, repeats)));
      const sum = await ledger.addRepeats(batch.batchId, 4);
      await batch.finish();
      await batch.claim({ runId: 'the next run', takeOver: true });

      expect(sum).toBe(10);
      expect(await ledger.addRepeats(batch.batchId, 1)).toBe(1);
    });

    it('begin anew with a round that an operator has asked for, and with no other', async () => {
      const batch = await scenario.run([{ ref: 'repeated-again' }]);
      const { batchId, fencingToken } = batch;
      await ledger.addRepeats(batchId, 4);

      const next = await ledger.beginRound({ batchId, fencingToken, attempt: 1 });
      expect(await ledger.addRepeats(batchId, 1)).toBe(5);
      await ledger.beginRound({ batchId, fencingToken: next.fencingToken, attempt: 1, isOrdered: true });
      expect(await ledger.addRepeats(batchId, 1)).toBe(1);
    });
  });

  describe('freeze', () => {
    beforeAll(async () => {
      ledger = await open();
      scenario = createScenario(ledger);
    });

    it('moves staged to sending and says which moved', async () => {
      const batch = await scenario.run([{ ref: 'f1' }, { ref: 'f2' }]);
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
      const batch = await scenario.run([{ ref: 'once' }]);
      const { invoiceId } = await batch.freeze('once', 'first bytes');

      const again = await ledger.freeze(batch.batchId, [{ invoiceId, generation: 1, body: 'other bytes' }], NOW);

      expect(again).toEqual([]);
      expect((await batch.one('once')).body).toBe('first bytes');
    });

    it('refuses another batch, another generation, and every state but staged', async () => {
      const owner = await scenario.run([{ ref: 'r1' }, { ref: 'r2' }, { ref: 'r3' }], 3);
      const other = await scenario.run([{ ref: 'r1' }]);
      const { invoiceId } = await owner.one('r1');
      const held = await owner.one('r2');
      await owner.send('r3', accepted(serviceIdOf(scenario, 'r3')));
      const item = { invoiceId, generation: 1, body: 'x' };

      expect(await ledger.freeze(other.batchId, [item], NOW)).toEqual([]);
      expect(await ledger.freeze(owner.batchId, [{ ...item, generation: 2 }], NOW)).toEqual([]);
      expect(await ledger.freeze(owner.batchId, [{ ...item, invoiceId: 999_999_999 }], NOW)).toEqual([]);
      await ledger.holdUnsent(owner.batchId, { reason: REASON, now: NOW });
      expect(await ledger.freeze(owner.batchId, [{ ...item, invoiceId: held.invoiceId }], NOW)).toEqual([]);
    });

    it('gives each invoice its own bytes where two batches freeze at once, and none to a batch that does not own it', async () => {
      const refs = ['own-1', 'own-2', 'own-3'];
      const [one, two] = [await scenario.run(refs.map((ref) => ({ ref }))), await scenario.run([{ ref: 'own-4' }])];
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
      const batch = await scenario.run([{ ref: 'crowd' }]);
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
      expect(await ledger.recordSends([])).toEqual([]);
    });
  });

  describe('recordSends', () => {
    beforeAll(async () => {
      ledger = await open();
      scenario = createScenario(ledger);
    });

    it('accepts with the service id, times and attempts, and settles nothing yet', async () => {
      const batch = await scenario.run([{ ref: 'ok' }]);

      const settled = await batch.send('ok', accepted(serviceIdOf(scenario, 'ok')), { attempts: 3, sentAt: NOW + 4 });

      expect(settled).toEqual([]);
      expect(await batch.line('ok')).toMatchObject({
        state: 'accepted',
        serviceId: serviceIdOf(scenario, 'ok'),
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
        const batch = await scenario.run([{ ref: 'page-one' + kind }, { ref: 'page-one-too' + kind }, { ref }], 2);
        const attached = await scenario.run([{ ref }]);

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

    it('keeps a pending one sending, with the same key and bytes, and counts its attempts', async () => {
      const batch = await scenario.run([{ ref: 'pending' }]);

      expect(
        await batch.send('pending', { kind: 'pending', reason: REASON, mayExist: false }, { sentAt: NOW + 1 }),
      ).toEqual([]);
      const again = await batch.one('pending');
      await ledger.recordSends([
        send(again.invoiceId, { kind: 'pending', reason: LATER, mayExist: true }, { attempts: 2, sentAt: NOW + 2 }),
      ]);

      expect(again).toMatchObject({ state: 'sending', mayExist: false, firstSentAt: NOW + 1 });
      expect(await batch.line('pending')).toMatchObject({
        state: 'sending',
        attempts: 3,
        sentAt: NOW + 1,
        reason: LATER,
      });
    });

    it.each(['rejected', 'held'] as const)('turns %s into unknown once an answer was lost', async (kind) => {
      const ref = `lost-${kind}`;
      const batch = await scenario.run([{ ref }]);
      const { invoiceId } = await batch.freeze(ref);
      await ledger.recordSends([send(invoiceId, { kind: 'pending', reason: LATER, mayExist: true })]);
      await ledger.recordSends([send(invoiceId, { kind: 'pending', reason: LATER, mayExist: false })]);

      await ledger.recordSends([send(invoiceId, { kind, reason: REASON })]);

      expect(await batch.line(ref)).toMatchObject({ state: 'unknown', reason: REASON });
    });

    it('turns a refusal into unknown after a crash between the freeze and the answer', async () => {
      const batch = await scenario.run([{ ref: 'crashed' }]);
      const { invoiceId } = await batch.freeze('crashed');
      await batch.sendable();

      await ledger.recordSends([send(invoiceId, { kind: 'rejected', reason: REASON })]);

      expect((await batch.line('crashed')).state).toBe('unknown');
    });

    it('rejects after tries that are proved not to have reached the service', async () => {
      const batch = await scenario.run([{ ref: 'proved' }]);
      await batch.send('proved', { kind: 'pending', reason: LATER, mayExist: false });
      const { invoiceId } = await batch.one('proved');

      await ledger.recordSends([send(invoiceId, { kind: 'rejected', reason: REASON })]);

      expect((await batch.line('proved')).state).toBe('rejected');
    });

    it('accepts an unknown one when its answer comes after all', async () => {
      const batch = await scenario.run([{ ref: 'late' }]);
      const { invoiceId } = await batch.freeze('late');
      await ledger.recordSends([send(invoiceId, { kind: 'unknown', reason: REASON })]);

      await ledger.recordSends([send(invoiceId, accepted(serviceIdOf(scenario, 'late')))]);

      expect(await batch.line('late')).toMatchObject({ state: 'accepted', reason: null });
    });

    it.each(['rejected', 'held', 'unknown', 'pending'] as const)(
      'lets %s move nothing that is accepted or issued',
      async (kind) => {
        const ref = `still-${kind}`;
        const batch = await scenario.run([{ ref }]);
        const { invoiceId } = await batch.freeze(ref);
        const outcome: SendOutcome =
          kind === 'pending' ? { kind, reason: REASON, mayExist: true } : { kind, reason: REASON };
        await ledger.recordSends([send(invoiceId, accepted(serviceIdOf(scenario, ref)))]);

        await ledger.recordSends([send(invoiceId, outcome)]);
        expect(await batch.line(ref)).toMatchObject({ state: 'accepted', attempts: 1, reason: null });
        await ledger.recordDeliveries([delivery(serviceIdOf(scenario, ref), 'issued')]);
        await ledger.recordSends([send(invoiceId, outcome)]);

        expect(await batch.line(ref)).toMatchObject({ state: 'issued', attempts: 1, reason: null });
      },
    );

    it.each(['accepted', 'rejected', 'unknown', 'held'] as const)(
      'lets %s move nothing that is staged, or of another generation',
      async (kind) => {
        const ref = `not-sent-${kind}`;
        const batch = await scenario.run([{ ref }, { ref: `${ref}-2` }]);
        const outcome: SendOutcome =
          kind === 'accepted' ? accepted(serviceIdOf(scenario, ref)) : { kind, reason: REASON };
        const staged = await batch.one(ref);
        const sending = await batch.freeze(`${ref}-2`);

        const settled = await ledger.recordSends([
          send(staged.invoiceId, outcome),
          send(sending.invoiceId, outcome, { generation: 2 }),
        ]);

        expect(settled).toEqual([]);
        expect((await batch.lines()).map((line) => [line.state, line.attempts])).toEqual([
          ['staged', 0],
          ['sending', 0],
        ]);
      },
    );

    it('makes an invoice unknown whose service id another invoice has, and does not poison the rest of the set', async () => {
      const batch = await scenario.run([{ ref: 'd1' }, { ref: 'd2' }, { ref: 'd3' }, { ref: 'd4' }], 4);
      const ids = await Promise.all(['d1', 'd2', 'd3', 'd4'].map(async (ref) => (await batch.freeze(ref)).invoiceId));
      const [first, second] = [serviceIdOf(scenario, 'first'), serviceIdOf(scenario, 'second')];
      await ledger.recordSends([send(ids[0] ?? 0, accepted(first))]);

      const settled = await ledger.recordSends([
        send(ids[3] ?? 0, accepted(second)),
        send(ids[1] ?? 0, accepted(first)),
        send(ids[2] ?? 0, accepted(second)),
      ]);

      const [d1, d2, ...lastTwo] = await batch.lines();
      expect(d1).toMatchObject({ state: 'accepted', serviceId: first });
      expect(d2).toMatchObject({ state: 'unknown', serviceId: null, reason: { code: 'service-id-taken' } });
      const summary = lastTwo.map((line) => [line.state, line.serviceId, line.reason?.code ?? null]);
      expect(new Set(summary)).toEqual(
        new Set([
          ['accepted', second, null],
          ['unknown', null, 'service-id-taken'],
        ]),
      );
      const loser = lastTwo.find((line) => line.state === 'unknown');
      expect(new Set(settled.map((one) => one.ordinal))).toEqual(new Set([2, loser?.ordinal]));
    });

    it('changes nothing when the same answer is recorded again', async () => {
      const batch = await scenario.run([{ ref: 'repeat' }]);
      const { invoiceId } = await batch.freeze('repeat');
      const answer = send(invoiceId, accepted(serviceIdOf(scenario, 'repeat')));
      await ledger.recordSends([answer]);
      const before = await batch.line('repeat');

      expect(await ledger.recordSends([answer])).toEqual([]);

      expect(await batch.line('repeat')).toEqual(before);
    });

    it('flags two service ids for one key and keeps the first', async () => {
      const batch = await scenario.run([{ ref: 'two-ids' }]);
      const { invoiceId } = await batch.freeze('two-ids');
      await ledger.recordSends([send(invoiceId, accepted(serviceIdOf(scenario, 'a')))]);

      await ledger.recordSends([send(invoiceId, accepted(serviceIdOf(scenario, 'b')))]);
      await ledger.recordSends([send(invoiceId, accepted(serviceIdOf(scenario, 'b')))]);

      expect(await batch.line('two-ids')).toMatchObject({
        state: 'accepted',
        serviceId: serviceIdOf(scenario, 'a'),
        flags: ['second-service-id'],
      });
    });

    describe('two documents of one key', () => {
      async function twice(
        ref: string,
      ): Promise<{ batch: TestBatch; ids: readonly [string, string]; invoiceId: number }> {
        const batch = await scenario.run([{ ref }]);
        const { invoiceId } = await batch.freeze(ref);
        const ids = [serviceIdOf(scenario, `${ref}-1`), serviceIdOf(scenario, `${ref}-2`)] as const;
        for (const id of ids) await ledger.recordSends([send(invoiceId, accepted(id))]);
        return { batch, ids, invoiceId };
      }

      function notified(invoiceId: number, serviceId: string, status: 'issued' | 'failed') {
        return ledger.recordStatus([{ invoiceId, serviceId, status, reason: REASON, now: NOW + 5 }]);
      }

      it('are issued when the other one is, by an event', async () => {
        const { batch, ids } = await twice('other-by-event');

        const { settled } = await ledger.recordDeliveries([delivery(ids[1], 'issued')]);

        expect(settled).toMatchObject([{ batchId: batch.batchId, state: 'issued' }]);
        expect(await batch.line('other-by-event')).toMatchObject({
          ...{ state: 'issued', serviceId: ids[1], flags: ['second-service-id'] },
        });
      });

      it('have not failed before both have', async () => {
        const { batch, ids, invoiceId } = await twice('both-failed');

        await notified(invoiceId, ids[0], 'failed');
        const first = (await batch.line('both-failed')).state;
        await notified(invoiceId, ids[1], 'failed');
        await notified(invoiceId, ids[0], 'failed');

        expect(first).toBe('accepted');
        expect(await batch.line('both-failed')).toMatchObject({ state: 'failed', serviceId: ids[0] });
      });

      it('are issued when the other one is, by a GET, after the first has failed', async () => {
        const { batch, ids, invoiceId } = await twice('other-by-get');

        await notified(invoiceId, ids[0], 'failed');
        await notified(invoiceId, ids[1], 'issued');

        expect(await batch.line('other-by-get')).toMatchObject({ state: 'issued', serviceId: ids[1] });
      });

      it('are flagged when both are issued', async () => {
        const { batch, ids } = await twice('both-issued');

        await ledger.recordDeliveries(ids.map((id) => delivery(id, 'issued')));

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
        await batch.finish();
        const { flags, revision } = await ledger.sinceReport(batch.batchId);
        const open = await batch.lines();
        await ledger.noteReported(batch.batchId, { revision: revision + 1, writtenAt: NOW, flags, open });
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
      const batch = await scenario.run([{ ref: 'in-order' }]);
      const { invoiceId } = await batch.freeze('in-order');

      await ledger.recordSends([
        send(invoiceId, { kind: 'pending', reason: LATER, mayExist: true }),
        send(invoiceId, accepted(serviceIdOf(scenario, 'in-order'))),
      ]);

      expect(await batch.line('in-order')).toMatchObject({ state: 'accepted', attempts: 2 });
    });

    it('records a thousand small calls at once, each with its own result', async () => {
      const count = 1_000;
      const batch = await scenario.run(
        Array.from({ length: count }, (_, index) => ({ ref: `g${index}` })),
        count,
      );
      const sendable = await batch.sendable();
      await ledger.freeze(
        batch.batchId,
        sendable.map(({ invoiceId, generation }) => ({ invoiceId, generation, body: 'b' })),
        NOW,
      );

      const settled = await Promise.all(
        sendable.map(({ invoiceId, ordinal }) =>
          ledger.recordSends([
            send(
              invoiceId,
              ordinal % 2 === 0 ? accepted(serviceIdOf(scenario, `g${ordinal}`)) : { kind: 'rejected', reason: REASON },
            ),
          ]),
        ),
      );

      for (const [index, result] of settled.entries()) {
        expect(result.map((one) => one.ordinal)).toEqual((index + 1) % 2 === 0 ? [] : [index + 1]);
      }
      expect(await ledger.countOutcomes(batch.batchId)).toMatchObject([
        { outcome: 'accepted', invoices: 500 },
        { outcome: 'rejected', invoices: 500 },
      ]);
    });
  });

  describe('holding', () => {
    beforeAll(async () => {
      ledger = await open();
      scenario = createScenario(ledger);
    });

    it('takes those that are held already, too, but not what needs more than to drop the file again', async () => {
      const refs = ['again-1', 'again-2', 'again-3', 'again-4', 'again-5'];
      const batch = await scenario.run(refs.map((ref) => ({ ref })));
      const { batchId } = batch;
      await batch.send('again-1', { kind: 'held', reason: { code: 'batch-cancelled', message: 'drop it again' } });
      await batch.send('again-2', { kind: 'held', reason: { code: 'merchant-details-missing', message: 'no name' } });
      await batch.send('again-3', accepted(serviceIdOf(scenario, 'again-3')));
      const doubtful = { code: 'older-ledger', message: 'an operator decides' };
      await ledger.holdDoubtful(batch, {
        firstRows: [5],
        sentAgain: [],
        acceptedAfter: NOW,
        reason: doubtful,
        now: NOW,
      });

      const hold = { reason: { code: 'read-otherwise', message: 'read otherwise' }, now: NOW, andHeld: true };
      expect(await ledger.holdUnsent(batchId, hold), 'newly held').toBe(1);

      expect((await batch.lines()).map(({ state, reason }) => [state, reason?.code])).toEqual([
        ['held', 'read-otherwise'],
        ['held', 'merchant-details-missing'],
        ['accepted', undefined],
        ['held', 'older-ledger'],
        ['held', 'read-otherwise'],
      ]);
    });

    it('holds the unsent of a batch, of a merchant, or of a page', async () => {
      const batch = await scenario.run(
        [{ ref: 'h1' }, { ref: 'h2', nif: OTHER_NIF }, { ref: 'h3' }, { ref: 'h4', nif: OTHER_NIF }],
        2,
      );

      expect(
        await ledger.holdUnsent(batch.batchId, { reason: REASON, merchantNif: OTHER_NIF, page: 2, now: NOW }),
      ).toBe(1);
      expect(await ledger.holdUnsent(batch.batchId, { reason: REASON, page: 1, now: NOW })).toBe(2);
      expect(await ledger.holdUnsent(batch.batchId, { reason: LATER, now: NOW })).toBe(1);

      expect((await batch.lines()).map((line) => [line.state, line.reason?.code])).toEqual([
        ['held', 'because'],
        ['held', 'because'],
        ['held', 'later'],
        ['held', 'because'],
      ]);
    });

    it('holds a sending one only when every try is proved not to have reached the service', async () => {
      const batch = await scenario.run([{ ref: 'open' }, { ref: 'lost' }, { ref: 'none' }, { ref: 'accepted' }], 4);
      // Frozen together: to ask what is sendable in between would count an unanswered send as lost.
      const [open, lost, none, taken] = (await batch.sendable()).map((one) => one.invoiceId);
      const items = [open, lost, none, taken].map((invoiceId) => ({
        invoiceId: invoiceId ?? 0,
        generation: 1,
        body: 'b',
      }));
      await ledger.freeze(batch.batchId, items, NOW);
      await ledger.recordSends([
        send(lost ?? 0, { kind: 'pending', reason: LATER, mayExist: true }),
        send(none ?? 0, { kind: 'pending', reason: LATER, mayExist: false }),
        send(taken ?? 0, accepted(serviceIdOf(scenario, 'hold'))),
      ]);

      expect(await ledger.holdUnsent(batch.batchId, { reason: REASON, now: NOW })).toBe(1);

      expect((await batch.lines()).map((line) => line.state)).toEqual(['sending', 'sending', 'held', 'accepted']);
    });

    it('holds nothing that another batch owns', async () => {
      const owner = await scenario.run([{ ref: 'owned' }]);
      const attached = await scenario.run([{ ref: 'owned' }]);

      expect(await ledger.holdUnsent(attached.batchId, { reason: REASON, now: NOW })).toBe(0);
      expect(await owner.sendable()).toHaveLength(1);
    });

    it('releases the held, and leaves unknown, unsettled and the rest alone', async () => {
      const batch = await scenario.run([{ ref: 'rel-h' }, { ref: 'rel-u' }, { ref: 'rel-s' }, { ref: 'rel-r' }], 4);
      await batch.send('rel-h', { kind: 'held', reason: REASON });
      await batch.send('rel-u', { kind: 'unknown', reason: REASON });
      await batch.send('rel-s', accepted(serviceIdOf(scenario, 'rel-s')));
      await batch.send('rel-r', { kind: 'rejected', reason: REASON });
      await ledger.closePage(batch.batchId, 1, { acceptedBefore: NOW + 1, reason: REASON, now: NOW });

      expect(await ledger.releaseHeld(batch.batchId, NOW)).toBe(1);
      expect(await ledger.releaseHeld(batch.batchId, NOW)).toBe(0);

      expect((await batch.lines()).map((line) => [line.state, line.generation])).toEqual([
        ['staged', 1],
        ['unknown', 1],
        ['unsettled', 1],
        ['rejected', 1],
      ]);
      expect(await batch.line('rel-h')).toMatchObject({ reason: null, attempts: 1 });
    });

    it('brings held invoices of a closed batch over to the one that is run again, and of a running one not', async () => {
      const owner = await scenario.run([{ ref: 'comes' }]);
      const other = await scenario.run([{ ref: 'comes' }]);
      await ledger.holdUnsent(owner.batchId, { reason: REASON, now: NOW });

      expect(await ledger.releaseHeld(other.batchId, NOW)).toBe(0);
      await owner.finish();
      expect(await ledger.releaseHeld(other.batchId, NOW)).toBe(1);

      expect(await other.sendable()).toHaveLength(1);
      expect(await owner.sendable()).toEqual([]);
    });
  });
}
