import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import type { SendingControl } from '../../../../src/domain/ports/ledger/sending-control-ledger.ts';
import type { Ledger } from '../../../../src/domain/ports/ledger/ledger.ts';
import type { OpenLedger, Scenario, TestBatch } from '../scenario.ts';
import { accepted, createScenario, delivery, NOW, REASON, serviceIdOf } from '../scenario.ts';

export function sendingControlContract(open: OpenLedger): void {
  let ledger: Ledger;
  let scenario: Scenario;
  beforeAll(async () => {
    ledger = await open();
    scenario = createScenario(ledger);
  });

  async function wordOf(batch: TestBatch, over: Partial<SendingControl> = {}): Promise<boolean> {
    const { batchId, workflowId, runId } = await batch.record();
    const none = { paused: false, cancelled: false };
    return ledger.recordControl({ batchId, workflowId, runId, version: 1, ...none, ...over });
  }

  async function maySend({ batchId }: TestBatch): Promise<boolean> {
    return (await ledger.sendingBatches([batchId])).length > 0;
  }

  describe("an operator's word about sending", () => {
    it('is heard by whoever asks for several batches, with the run that holds each claim', async () => {
      const [going, paused] = [await scenario.run([{ ref: 'w1' }]), await scenario.run([{ ref: 'w2' }])];

      expect(await wordOf(paused, { paused: true })).toBe(true);

      expect(await ledger.sendingBatches([going.batchId, paused.batchId, 'nobody'])).toEqual([
        { batchId: going.batchId, workflowId: `workflow-of-${going.batchId}`, runId: 'run-1' },
      ]);
      expect((await paused.record()).state).toBe('paused');
    });

    it('is taken back by a resume, and not by a cancellation that follows', async () => {
      const batch = await scenario.run([{ ref: 'w3' }]);
      await wordOf(batch, { version: 1, paused: true });
      await wordOf(batch, { version: 2 });
      const resumed = await maySend(batch);

      await wordOf(batch, { version: 3, cancelled: true });

      expect(resumed).toBe(true);
      expect(await maySend(batch)).toBe(false);
      expect((await batch.record()).state).toBe('running');
    });

    it('is the latest one, however late an earlier one comes', async () => {
      const batch = await scenario.run([{ ref: 'w4' }]);
      await wordOf(batch, { version: 2, paused: true });

      expect(await wordOf(batch, { version: 1 })).toBe(false);

      expect(await maySend(batch)).toBe(false);
    });

    it('is that of the run which holds the claim, and ends with that run', async () => {
      const batch = await scenario.run([{ ref: 'w5' }]);

      expect(await wordOf(batch, { runId: 'another', paused: true })).toBe(false);
      await wordOf(batch, { version: 7, paused: true });
      await batch.claim();
      const same = await maySend(batch);
      await batch.claim({ runId: 'run-2', takeOver: true });

      expect(same, 'the same run, repeating its step').toBe(false);
      expect(await maySend(batch), 'the next run').toBe(true);
      expect(await wordOf(batch, { version: 1, paused: true }), 'its words are counted anew').toBe(true);
    });

    it('is not needed for a batch that is closed or not staged: nothing is sent for it', async () => {
      const [closed, staging] = [await scenario.run([{ ref: 'w6' }]), await scenario.begin()];
      await closed.finish();

      expect(await wordOf(closed, { paused: false })).toBe(false);
      expect([await maySend(closed), await maySend(staging)]).toEqual([false, false]);
    });
  });

  describe('what was frozen and not sent', () => {
    function unfreeze(batch: TestBatch, invoiceId: number, generation = 1): Promise<number> {
      return ledger.unfreeze(batch.batchId, [{ invoiceId, generation }], { reason: REASON, now: NOW });
    }

    it('is staged again by the attempt that froze it, says why, and is frozen and sent as before', async () => {
      const batch = await scenario.run([{ ref: 'u1' }]);
      const frozen = await batch.freeze('u1', 'bytes');

      expect(await unfreeze(batch, frozen.invoiceId)).toBe(1);

      expect(await batch.line('u1')).toMatchObject({ state: 'staged', reason: REASON });
      expect(await batch.one('u1')).toMatchObject({ state: 'staged', mayExist: false, body: null });
      await batch.freeze('u1', 'bytes');
      expect(await batch.line('u1')).toMatchObject({ state: 'sending', reason: null });
    });

    it('keeps its reason when its page closes before its turn', async () => {
      const batch = await scenario.run([{ ref: 'u2' }]);
      await unfreeze(batch, (await batch.freeze('u2')).invoiceId);

      await ledger.closePage(batch.batchId, 1, {
        ...{ acceptedBefore: NOW, now: NOW },
        reason: { code: 'other', message: 'Other' },
      });

      expect(await batch.line('u2')).toMatchObject({ state: 'held', reason: REASON });
    });

    it('stays as it is once somebody else was handed it, or it was refused for now, or is closed', async () => {
      const batch = await scenario.run([{ ref: 'u3' }, { ref: 'u4' }, { ref: 'u5' }], 3);
      const handedOut = await batch.freeze('u3');
      await batch.one('u3');
      await batch.send('u4', { kind: 'pending', reason: REASON, mayExist: false });
      const closed = await batch.freeze('u5');
      const { invoiceId } = (await batch.sendable()).find(({ invoice }) => invoice.ref === 'u4') ?? handedOut;
      await ledger.recordSends([
        ...[{ invoiceId, generation: 1, attempts: 1, sentAt: NOW }].map((one) => ({
          ...one,
          outcome: { kind: 'pending', reason: REASON, mayExist: false } as const,
        })),
      ]);

      expect(await unfreeze(batch, handedOut.invoiceId)).toBe(0);
      expect(await unfreeze(batch, invoiceId)).toBe(0);
      expect(await unfreeze(batch, closed.invoiceId, 2), 'of another generation').toBe(0);
      await ledger.closePage(batch.batchId, 1, { acceptedBefore: NOW, reason: REASON, now: NOW });
      expect(await unfreeze(batch, closed.invoiceId)).toBe(0);

      expect(await batch.line('u3')).toMatchObject({ state: 'unknown' });
    });
  });
}

export function sendingMarksContract(open: OpenLedger): void {
  describe('the marks of sending', () => {
    let ledger: Ledger;
    beforeAll(async () => {
      ledger = await open();
    });

    it('rise by one with each call, also of several at once, and by account; from 2 in a ledger that has sent before', async () => {
      const [scope, other] = [randomUUID(), randomUUID()];
      const batch = await createScenario(ledger).run([{ ref: 'sent before' }]);
      await batch.freeze('sent before');
      await batch.send('sent before', { kind: 'unknown', reason: REASON });

      const raised = await Promise.all([1, 2, 3].map(() => ledger.raiseSendingMark(scope, ledger.id)));
      await ledger.raiseSendingMark(other, ledger.id);

      expect(raised.toSorted((a, b) => a - b)).toEqual([2, 3, 4]);
      expect(await ledger.sendingMarks(scope)).toEqual([{ ledgerId: ledger.id, number: 4, gapSince: null }]);
      expect(await ledger.sendingMarks(other)).toEqual([{ ledgerId: ledger.id, number: 2, gapSince: null }]);
      const own = await ledger.ownSendingMarks(ledger.id);
      expect([scope, other].map((account) => own.get(account)?.number)).toEqual([4, 2]);
    });

    it('take up a gap, keep its earliest time and the highest number, and forget it on an operator’s word', async () => {
      const scope = randomUUID();
      await ledger.raiseSendingMark(scope, ledger.id);

      await ledger.noteSendingGap(scope, { ledgerId: ledger.id, number: 40, gapSince: 2_000 });
      await ledger.noteSendingGap(scope, { ledgerId: ledger.id, number: 30, gapSince: 3_000 });
      await ledger.noteSendingGap(scope, { ledgerId: 'lgr_lost', number: 7, gapSince: 1_000 });

      expect(await ledger.raiseSendingMark(scope, ledger.id)).toBe(41);
      const marks = await ledger.sendingMarks(scope);
      expect(marks.toSorted((a, b) => a.number - b.number)).toEqual([
        { ledgerId: 'lgr_lost', number: 7, gapSince: 1_000 },
        { ledgerId: ledger.id, number: 41, gapSince: 2_000 },
      ]);
      expect(await ledger.closeSendingGaps(scope, 'none of its invoices is here')).toBe(0);
      expect((await ledger.sendingMarks(scope)).map(({ gapSince }) => gapSince)).toEqual([null, null]);
    });

    it('flag what is at rest and not issued in one application, once, when an operator closes the gap', async () => {
      const scenario = createScenario(ledger);
      const other = await createScenario(ledger).run([{ ref: 'other' }]);
      const batch = await scenario.run([{ ref: 'held' }, { ref: 'rejected' }, { ref: 'unknown' }, { ref: 'accepted' }]);
      await batch.send('rejected', { kind: 'rejected', reason: REASON });
      await batch.send('unknown', { kind: 'unknown', reason: REASON });
      await batch.send('accepted', { kind: 'accepted', serviceId: `inv_${batch.batchId}` });
      for (const { batchId } of [batch, other]) await ledger.holdUnsent(batchId, { reason: REASON, now: NOW });

      expect(await ledger.closeSendingGaps(randomUUID(), scenario.application)).toBe(2);
      expect(await ledger.closeSendingGaps(randomUUID(), scenario.application)).toBe(0);

      const doubt = ['older-ledger'];
      expect((await batch.lines()).map(({ flags }) => flags)).toEqual([doubt, doubt, [], doubt]);
      expect((await other.line('other')).flags).toEqual([]);
    });

    it('keep what was on its way in doubt where it fails: nothing sends it again without the accepted risk', async () => {
      const scenario = createScenario(ledger);
      const batch = await scenario.run([{ ref: 'unsettled-1' }, { ref: 'unsettled-2' }]);
      const ways = await acceptAll(scenario, batch);
      await ledger.closePage(batch.batchId, 1, { acceptedBefore: NOW + 1, reason: REASON, now: NOW });
      const later = await scenario.run([{ ref: 'later' }]);
      ways.push(...(await acceptAll(scenario, later)));

      expect(await ledger.closeSendingGaps(randomUUID(), scenario.application), 'none is at rest').toBe(0);
      await ledger.recordStatus(ways.map((way) => ({ ...way, status: 'failed', reason: REASON, now: NOW + 2 })));
      for (const one of [batch, later]) await one.finish();

      const lines = [...(await batch.lines()), ...(await later.lines())];
      expect(lines.map(({ state, flags }) => [state, flags])).toEqual(ways.map(() => ['failed', ['older-ledger']]));
      for (const unattended of [false, true])
        expect((await retryAll(ledger, batch, { unattended })).refused).toEqual({ 'needs-accept-duplicate-risk': 2 });
      const corrected = await scenario.run([{ ref: 'later', unitPrice: '99' }]);
      expect(await corrected.line('later')).toMatchObject({
        ...{ state: 'conflict', reason: { code: 'needs-accept-duplicate-risk' } },
      });
    });

    it('end the doubt of what is issued, by whatever word and whichever of its documents, also in a batch without a report', async () => {
      const scenario = createScenario(ledger);
      const earlier = await scenario.run([{ ref: 'earlier' }]);
      const [first] = await acceptAll(scenario, earlier);
      if (first === undefined) throw new Error('one is accepted');
      await ledger.recordStatus([{ ...first, status: 'failed', reason: REASON, now: NOW + 1 }]);
      await earlier.finish();
      await retryAll(ledger, earlier, {});
      await earlier.send('earlier', { kind: 'rejected', reason: REASON });
      const again = await scenario.run([{ ref: 'again' }]);
      const [given] = await acceptAll(scenario, again);
      if (given === undefined) throw new Error('one is accepted');
      await ledger.recordStatus([{ ...given, status: 'failed', reason: REASON, now: NOW + 1 }]);
      await again.finish();
      await retryAll(ledger, again, {});
      const second = { invoiceId: given.invoiceId, serviceId: `${given.serviceId}-second` };
      await again.send('again', accepted(second.serviceId));
      const batch = await scenario.run([{ ref: 'event' }, { ref: 'events' }, { ref: 'poll' }], 3);
      const [event, events, poll] = await acceptAll(scenario, batch);
      if (event === undefined || events === undefined || poll === undefined) throw new Error('three are accepted');
      expect(await ledger.closeSendingGaps(randomUUID(), scenario.application)).toBe(1);

      await ledger.recordDeliveries([first, event].map(({ serviceId }) => delivery(serviceId, 'issued')));
      await ledger.storeDeliveries([delivery(events.serviceId, 'failed', { receivedAt: NOW + 1 })]);
      await ledger.recordDeliveries([delivery(events.serviceId, 'issued', { receivedAt: NOW + 2 })]);
      await ledger.recordStatus([{ ...poll, status: 'issued', reason: null, now: NOW + 2 }]);

      await ledger.recordDeliveries([delivery(given.serviceId, 'issued')]);
      await ledger.recordStatus([{ ...second, status: 'failed', reason: REASON, now: NOW + 3 }]);

      const lines = [...(await earlier.lines()), ...(await again.lines()), ...(await batch.lines())];
      expect(lines.map(({ state, flags }) => [state, flags])).toEqual([
        ['issued', ['issued-after-failed']],
        ['issued', ['issued-in-earlier-generation', 'issued-after-failed']],
        ['issued', []],
        ['issued', ['issued-after-failed']],
        ['issued', []],
      ]);
    });
  });
}

interface Sent {
  readonly invoiceId: number;
  readonly serviceId: string;
}

/** What the batch has to send is sent, and accepted. */
async function acceptAll(scenario: Scenario, batch: TestBatch): Promise<Sent[]> {
  const sent: Sent[] = [];
  for (const { invoice, invoiceId } of await batch.sendable()) {
    const serviceId = serviceIdOf(scenario, `${invoice.ref}-${batch.batchId}`);
    await batch.send(invoice.ref, accepted(serviceId));
    sent.push({ invoiceId, serviceId });
  }
  return sent;
}

/** As an operator asks, or the retry policy, without the accepted risk of a duplicate. */
function retryAll(ledger: Ledger, { batchId }: TestBatch, over: { readonly unattended?: boolean }) {
  const limits = { maxGenerations: 3, retentionMs: 1, rejectionIsProof: true, acceptDuplicateRisk: false };
  const action = { actionId: randomUUID(), who: 'ana', why: 'the customer is back' };
  return ledger.retryInvoices({ batchId, selection: {}, policy: { ...limits, now: NOW, ...over }, action });
}
