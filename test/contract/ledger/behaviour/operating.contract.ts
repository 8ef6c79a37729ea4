import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  accepted,
  createScenario,
  delivery,
  HOUR,
  NEXT_KEY,
  NOW,
  REASON,
  RETRY_POLICY,
  recordDeliveries,
} from '../scenario.ts';
import type { Ledger } from '../../../../src/ledger/ledger.ts';

export function operatingContract(ledger: Ledger): void {
  describe('operating after a batch', () => {
    const scenario = createScenario(ledger);

    it('gives a failed invoice its next generation and a new key, with the same content', async () => {
      const batch = await scenario.run(['failed-once']);
      const before = await batch.one('failed-once');
      await batch.fail('failed-once');
      await batch.finish();

      const result = await batch.retry({ selection: { states: ['failed'] } });

      const after = await batch.one('failed-once');
      expect(result).toMatchObject({ moved: { regenerate: 1 }, pages: [1] });
      expect(after).toMatchObject({ generation: 2, state: 'staged', invoice: before.invoice, mayExist: false });
      expect(after.idempotencyKey).toBe(before.idempotencyKey);
      expect(await batch.line('failed-once')).toMatchObject({ state: 'staged', serviceId: null, attempts: 1 });
      await batch.send('failed-once', NEXT_KEY);
      const next = await batch.line('failed-once');
      expect(next, 'its batch is closed').toMatchObject({ state: 'held', reason: { code: 'not-sent' } });
      expect(next.idempotencyKey).not.toBe(before.idempotencyKey);
    });

    it('writes down what was done to a batch as a whole, each action once, between the retries', async () => {
      const batch = await scenario.run(['noted']);
      const pause = { actionId: randomUUID(), at: NOW, who: null, what: 'pause', why: 'a look, "really"' };
      const resume = { actionId: randomUUID(), at: NOW + 1, who: 'ana', what: 'resume', why: 'seen' };

      await ledger.noteActions(batch.batchId, []);
      await ledger.noteActions(batch.batchId, [pause]);
      await ledger.noteActions(batch.batchId, [pause, resume]);
      await batch.send('noted', { kind: 'rejected', reason: REASON });
      await batch.retry();

      expect(await ledger.auditOf(batch.batchId)).toEqual([
        {
          at: NOW,
          who: null,
          what: 'pause',
          why: 'a look, "really"',
          acceptedDuplicateRisk: false,
          invoices: 0,
          examples: [],
        },
        {
          at: NOW + 1,
          who: 'ana',
          what: 'resume',
          why: 'seen',
          acceptedDuplicateRisk: false,
          invoices: 0,
          examples: [],
        },
        expect.objectContaining({ what: 'retry', invoices: 1 }),
      ]);
    });

    it('writes down the reason of an action without a character that no database keeps', async () => {
      const batch = await scenario.run(['noted-nul']);

      await ledger.noteActions(batch.batchId, [
        { actionId: randomUUID(), at: NOW, who: null, what: 'pause', why: 'before\u0000after' },
      ]);

      expect(await ledger.auditOf(batch.batchId)).toMatchObject([{ what: 'pause', why: 'before after' }]);
    });

    it('groups what is not confirmed as issued by state and reason, with the first rows of each and no word of the invoices', async () => {
      const refs = ['a', 'b', 'c', 'd', 'e', 'f'].map((ref) => ({ ref: `group-${ref}` }));
      const batch = await scenario.run(refs);
      for (const ref of ['group-a', 'group-c', 'group-d'])
        await batch.send(ref, { kind: 'rejected', reason: { code: 'other-reason', message: 'Cliente Segredo' } });
      await batch.send('group-b', { kind: 'unknown', reason: REASON });
      await batch.send('group-e', accepted(scenario.serviceId(`group-${randomUUID()}`)));

      const groups = await ledger.problemGroups(batch.batchId, { groups: 10, rows: 2 });

      expect(groups).toEqual([
        { state: 'rejected', code: 'other-reason', invoices: 3, rows: [2, 4] },
        { state: 'unknown', code: REASON.code, invoices: 1, rows: [3] },
      ]);
      expect(await ledger.problemGroups(batch.batchId, { groups: 1, rows: 0 })).toMatchObject([
        { state: 'rejected', invoices: 3 },
      ]);
    });

    it('names the finding of a row that is wrong as its reason', async () => {
      const batch = await scenario.begin();
      const error = {
        row: 2,
        column: 'quantity',
        code: 'not-a-number',
        message: 'found "muitos"',
        severity: 'error',
      } as const;
      const warning = { ...error, code: 'unusual', severity: 'warning' } as const;
      await ledger.stageInvoices(
        batch,
        [
          {
            ...{ kind: 'invalid', ordinal: 1, ref: 'wrong', merchantNif: '501964843', currency: null, net: null },
            ...{ rows: [2, 3], findings: [warning, error] },
          },
        ],
        NOW,
      );
      await ledger.finishStaging(batch, {
        ...{ rows: 2, rowsWithoutInvoice: 0, invoices: 1, pageSize: 2, fileFindings: [], proof: {} },
      });

      expect(await ledger.problemGroups(batch.batchId, { groups: 10, rows: 10 })).toEqual([
        { state: 'invalid', code: 'not-a-number', invoices: 1, rows: [2] },
      ]);
    });

    it('takes unknown invoices only by row, with the same key and bytes inside the retention window', async () => {
      const batch = await scenario.run(['lost']);
      const { idempotencyKey } = await batch.one('lost');
      await batch.send('lost', { kind: 'unknown', reason: REASON });
      await batch.finish();

      const byState = await batch.retry();
      const byRow = await batch.retry({ selection: { rows: [2] } });

      const again = await batch.one('lost');
      expect(byState.moved.repeat).toBe(0);
      expect(byRow).toMatchObject({ moved: { repeat: 1 } });
      expect(again).toMatchObject({ state: 'sending', generation: 1, idempotencyKey, body: '{"ref":"lost"}' });
      expect(again.mayExistSince).toBe(NOW);
    });

    it('repeats after the window only at an accepted risk, and then still under the same key', async () => {
      const batch = await scenario.run(['long-lost']);
      const { idempotencyKey } = await batch.one('long-lost');
      await batch.send('long-lost', { kind: 'unknown', reason: REASON });
      const late = { now: NOW + 25 * HOUR };

      const without = await batch.retry({ selection: { rows: [2] }, policy: late });
      const withRisk = await batch.retry({ selection: { rows: [2] }, policy: { ...late, acceptDuplicateRisk: true } });

      expect(without.refused).toEqual({ 'needs-accept-duplicate-risk': 1 });
      expect(withRisk.moved).toEqual({ release: 0, regenerate: 0, repeat: 1, abandon: 0 });
      const again = await batch.one('long-lost');
      expect(again.idempotencyKey).toBe(idempotencyKey);
      expect(again.mayExistSince, 'the window counts from the word of the operator, or nothing would be sent').toBe(
        late.now,
      );
    });

    it('repeats a key under which an error is kept, and abandons it only at an accepted risk', async () => {
      const batch = await scenario.run(['stored']);
      const { idempotencyKey } = await batch.one('stored');
      await batch.send('stored', { kind: 'unknown', reason: { code: 'stored-error', message: 'HTTP 500' } });

      const without = await batch.retry({ selection: { rows: [2] } });
      const repeated = await batch.one('stored');
      await batch.send('stored', { kind: 'unknown', reason: { code: 'stored-error', message: 'HTTP 500' } });
      const withRisk = await batch.retry({ selection: { rows: [2] }, policy: { acceptDuplicateRisk: true } });

      const again = await batch.one('stored');
      expect(without.moved.repeat).toBe(1);
      expect(repeated).toMatchObject({ state: 'sending', generation: 1, idempotencyKey, errorKept: true });
      expect(withRisk.moved.abandon).toBe(1);
      expect(again).toMatchObject({ state: 'staged', generation: 2 });
      expect(again.idempotencyKey).not.toBe(idempotencyKey);
    });

    it('releases held invoices by row, and leaves the others held', async () => {
      const batch = await scenario.run(['held-1', 'held-2']);
      await batch.hold();
      await batch.finish();

      const result = await batch.retry({ selection: { rows: [3] } });

      expect(result).toMatchObject({ moved: { release: 1 }, pages: [1] });
      expect(await batch.states()).toEqual(['held', 'staged']);
    });

    it('finds nothing in a row number that no file has', async () => {
      const batch = await scenario.run(['no-such-row']);

      const result = await batch.retry({ selection: { rows: [3_000_000_000] } });

      expect(result).toMatchObject({ moved: { release: 0, regenerate: 0, repeat: 0, abandon: 0 }, pages: [] });
    });

    it('takes an invoice over from a closed owner and never from a running one', async () => {
      const owner = await scenario.run(['shared']);
      await owner.fail('shared');
      const other = await scenario.run(['shared']);

      const whileRunning = await other.retry();
      await owner.finish();
      const afterwards = await other.retry();

      expect(whileRunning.refused).toEqual({ 'owned-by-running-batch': 1 });
      expect(afterwards.moved.regenerate).toBe(1);
      expect(await other.one('shared')).toMatchObject({ state: 'staged', generation: 2 });
      expect(await owner.sendable()).toEqual([]);
    });

    it('is won by one of two operators', async () => {
      const batch = await scenario.run(['wanted-twice']);
      await batch.fail('wanted-twice');

      const results = await Promise.all([batch.retry(), batch.retry(), batch.retry()]);

      expect(results.map(({ moved }) => moved.regenerate).filter((count) => count === 1)).toHaveLength(1);
      expect((await batch.one('wanted-twice')).generation).toBe(2);
    });

    it('goes by reason code where the retry policy names some', async () => {
      const batch = await scenario.run(['busy', 'wrong']);
      await batch.send('busy', { kind: 'rejected', reason: { code: 'engine_busy', message: 'Busy' } });
      await batch.send('wrong', { kind: 'rejected', reason: { code: 'tax_code', message: 'Unknown tax code' } });

      const result = await batch.retry({ selection: { reasonCodes: ['engine_busy'] } });

      expect(result.moved.regenerate).toBe(1);
      expect(await batch.states()).toEqual(['staged', 'rejected']);
    });

    it('keeps what it did, who said so and why, once for each action', async () => {
      const batch = await scenario.run(['audited']);
      await batch.send('audited', { kind: 'unknown', reason: { code: 'stored-error', message: 'HTTP 500' } });
      const action = { actionId: randomUUID(), who: 'rui', why: 'support says nothing was stored' };
      const request = { selection: { rows: [2] }, policy: { acceptDuplicateRisk: true }, action };

      await batch.retry(request);
      await batch.retry(request);

      expect(await ledger.auditOf(batch.batchId)).toEqual([
        {
          at: RETRY_POLICY.now,
          who: 'rui',
          what: 'retry',
          why: 'support says nothing was stored',
          acceptedDuplicateRisk: true,
          invoices: 1,
          examples: [{ ref: 'audited', rows: [2], move: 'abandon', from: 'unknown', generation: 1 }],
        },
      ]);
    });

    it('writes down an operator’s retry that moved nothing, once, and its accepted risk', async () => {
      const batch = await scenario.run(['nothing-done']);
      const request = {
        policy: { acceptDuplicateRisk: true },
        action: { actionId: randomUUID(), who: 'rui', why: 'to be sure' },
      };

      await batch.retry(request);
      await batch.retry(request);

      expect(await ledger.auditOf(batch.batchId)).toEqual([
        {
          ...{ at: RETRY_POLICY.now, who: 'rui', what: 'retry', why: 'to be sure', acceptedDuplicateRisk: true },
          ...{ invoices: 0, examples: [] },
        },
      ]);
    });

    it('writes nothing of a retry policy that found nothing to do', async () => {
      const batch = await scenario.run(['policy-idle']);

      await batch.retry({ policy: { unattended: true } });

      expect(await ledger.auditOf(batch.batchId)).toEqual([]);
    });

    describe('when the service issues the failed document of the earlier generation after all', () => {
      it('is issued by that document, under its key, when the next generation was not sent yet', async () => {
        const batch = await scenario.run(['undead']);
        const { idempotencyKey } = await batch.one('undead');
        const { serviceId } = await batch.fail('undead');
        await batch.retry();

        const { settled } = await recordDeliveries(ledger, [delivery(serviceId, 'issued', { receivedAt: NOW + 9 })]);

        expect(settled).toMatchObject([{ batchId: batch.batchId, ordinal: 1, state: 'issued' }]);
        expect(await batch.line('undead')).toMatchObject({
          ...{ state: 'issued', serviceId, idempotencyKey, settledAt: NOW + 9, reason: null },
          flags: ['issued-after-failed'],
        });
        expect(await batch.sendable(), 'nothing is left to send').toEqual([]);
        expect((await batch.retry()).moved.regenerate).toBe(0);
      });

      it('tells the batch that held the same content in two generations, and holds the corrected one of another', async () => {
        const batch = await scenario.run(['undead-corrected']);
        const { serviceId } = await batch.fail('undead-corrected');
        await batch.retry();
        await batch.fail('undead-corrected');
        await batch.finish();
        const corrected = await scenario.run([{ ref: 'undead-corrected', unitPrice: '77' }]);

        await recordDeliveries(ledger, [delivery(serviceId, 'issued')]);

        expect(await batch.line('undead-corrected')).toMatchObject({ state: 'issued', serviceId });
        expect(await corrected.line('undead-corrected')).toMatchObject({
          state: 'held',
          reason: { code: 'issued-in-earlier-generation' },
        });
      });
    });

    it('turns references into rows, and knows those that are not in the batch by their absence', async () => {
      const batch = await scenario.run(['R-1', 'R-2']);

      expect(await ledger.rowsOfRefs(batch.batchId, ['R-2', 'R-9'])).toEqual([{ ref: 'R-2', rows: [3] }]);
    });

    describe('reopening', () => {
      const run = { workflowId: 'retry-1', runId: 'run-9', attempt: 1, takeOver: false, endsStop: true };

      it('gives a finished batch to the run that asks, also when nothing of it is open', async () => {
        const batch = await scenario.run(['reopened']);
        await batch.send('reopened', { kind: 'rejected', reason: REASON });
        await batch.finish();

        const result = await ledger.reopenBatch({ batchId: batch.batchId, ...run, temporalId: 'temporal-2' });

        expect(result).toMatchObject({ kind: 'reopened' });
        const { workflowId, temporalId, ...reopened } = await batch.record();
        expect(reopened).toMatchObject({ state: 'running', finishedAt: null });
        expect({ workflowId, temporalId }).toEqual({ workflowId: 'retry-1', temporalId: 'temporal-2' });
      });

      it('leaves a running batch to its run, until that is known to be closed', async () => {
        const batch = await scenario.run(['still-running']);
        const { workflowId } = await batch.record();

        const refused = await ledger.reopenBatch({ batchId: batch.batchId, ...run });
        const taken = await ledger.reopenBatch({ batchId: batch.batchId, ...run, takeOver: true, endsStop: true });

        expect(refused).toEqual({ kind: 'owned', workflowId, runId: 'run-1' });
        expect(taken).toMatchObject({ kind: 'reopened' });
      });

      it('finds nothing in a file that is still being read, and no batch where there is none', async () => {
        const batch = await scenario.begin();

        expect(await ledger.reopenBatch({ batchId: batch.batchId, ...run })).toEqual({ kind: 'nothing' });
        await expect(ledger.reopenBatch({ batchId: 'no-such-batch', ...run })).rejects.toMatchObject({
          code: 'batch-not-found',
        });
      });
    });
  });
}
