import { describe, expect, it } from 'vitest';
import { createScenario, NOW, REASON, type TestBatch } from '../scenario.ts';
import type { SendingControl } from '../../../../src/domain/records/batch-record.ts';
import type { Ledger } from '../../../../src/ledger/ledger.ts';

export function sendingControlContract(ledger: Ledger): void {
  const scenario = createScenario(ledger);

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
      const [going, paused] = [await scenario.run(['w1']), await scenario.run(['w2'])];

      expect(await wordOf(paused, { paused: true })).toBe(true);

      expect(await ledger.sendingBatches([going.batchId, paused.batchId, 'nobody'])).toEqual([
        { batchId: going.batchId, workflowId: `workflow-of-${going.batchId}`, runId: 'run-1' },
      ]);
      expect((await paused.record()).state).toBe('paused');
    });

    it('is taken back by a resume, and not by a cancellation that follows', async () => {
      const batch = await scenario.run(['w3']);
      await wordOf(batch, { version: 1, paused: true });
      await wordOf(batch, { version: 2 });
      const resumed = await maySend(batch);

      await wordOf(batch, { version: 3, cancelled: true });

      expect(resumed).toBe(true);
      expect(await maySend(batch)).toBe(false);
      expect((await batch.record()).state).toBe('running');
    });

    it('is the latest one, however late an earlier one comes', async () => {
      const batch = await scenario.run(['w4']);
      await wordOf(batch, { version: 2, paused: true });

      expect(await wordOf(batch, { version: 1 })).toBe(false);

      expect(await maySend(batch)).toBe(false);
    });

    it('is that of the run which holds the claim, and ends with that run', async () => {
      const batch = await scenario.run(['w5']);

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
      const [closed, staging] = [await scenario.run(['w6']), await scenario.begin()];
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

      await ledger.closePage(batch.batchId, 1, {
        ...{ acceptedBefore: NOW, now: NOW },
        reason: { code: 'other', message: 'Other' },
      });

      expect(await batch.line('u2')).toMatchObject({ state: 'held', reason: REASON });
    });

    it('stays as it is once somebody else was handed it, or it was refused for now, or is closed', async () => {
      const batch = await scenario.run(['u3', 'u4', 'u5'], 3);
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
