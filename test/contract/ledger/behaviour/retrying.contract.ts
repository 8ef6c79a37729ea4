import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createScenario, HOUR, NEXT_KEY, NOW, RETRY_POLICY } from '../scenario.ts';
import type { Ledger } from '../../../../src/ledger/ledger.ts';

const NOTHING = { release: 0, regenerate: 0, repeat: 0, abandon: 0 };
const AT_RISK = { acceptDuplicateRisk: true };
const STORED = { code: 'stored-error', message: 'HTTP 500' };

/** What operators and retry policies order after a batch, and what is written down of it. */
export function retryingContract(ledger: Ledger): void {
  const scenario = createScenario(ledger);

  describe('a retry', () => {
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
      expect(await batch.outcomes(), 'its batch is closed').toEqual(['held not-sent']);
      expect((await batch.line('failed-once')).idempotencyKey).not.toBe(before.idempotencyKey);
    });

    it('finds the same content in the third life as in the first', async () => {
      const batch = await scenario.run(['third-life']);
      const { invoice } = await batch.one('third-life');
      for (const generation of [2, 3]) {
        await batch.reject('third-life');
        await batch.retry();
        await batch.send('third-life', NEXT_KEY);
        expect(await batch.one('third-life')).toMatchObject({ generation, invoice, firstSentAt: null });
      }
      const { generations = [] } = (await ledger.invoiceDetails(batch.batchId, 1)) ?? {};

      const lives = generations.map(({ generation, state }) => `${generation} ${state}`);
      expect(lives).toEqual(['3 staged', '2 rejected', '1 rejected']);
      expect(new Set(generations.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(3);
    });

    it('takes unknown invoices only by row, with the same key and bytes inside the retention window', async () => {
      const batch = await scenario.run(['lost']);
      const { idempotencyKey } = await batch.one('lost');
      await batch.lose('lost');
      await batch.finish();

      expect((await batch.retry()).moved.repeat).toBe(0);
      expect(await batch.retry({ selection: { rows: [2] } })).toMatchObject({ moved: { repeat: 1 } });

      const repeat = { state: 'sending', generation: 1, idempotencyKey, body: '{"ref":"lost"}', mayExistSince: NOW };
      expect(await batch.one('lost')).toMatchObject(repeat);
    });

    it('repeats after the window only at an accepted risk, and then still under the same key', async () => {
      const batch = await scenario.run(['long-lost']);
      const { idempotencyKey } = await batch.one('long-lost');
      await batch.lose('long-lost');
      const now = NOW + 25 * HOUR;
      const retry = (over: object) => batch.retry({ selection: { rows: [2] }, policy: { now, ...over } });

      expect((await retry({})).refused).toEqual({ 'needs-accept-duplicate-risk': 1 });
      expect((await retry(AT_RISK)).moved).toEqual({ ...NOTHING, repeat: 1 });
      const again = await batch.one('long-lost');
      expect(again.idempotencyKey).toBe(idempotencyKey);
      const since = 'the window counts from the word of the operator, or nothing would be sent';
      expect(again.mayExistSince, since).toBe(now);
    });

    it('repeats a key under which an error is kept, and abandons it only at an accepted risk', async () => {
      const batch = await scenario.run(['stored']);
      const { idempotencyKey } = await batch.one('stored');
      const retry = (policy = {}) => batch.retry({ selection: { rows: [2] }, policy });
      await batch.lose('stored', STORED);

      expect((await retry()).moved.repeat).toBe(1);
      const repeated = { state: 'sending', generation: 1, idempotencyKey, errorKept: true };
      expect(await batch.one('stored')).toMatchObject(repeated);
      await batch.lose('stored', STORED);
      expect((await retry(AT_RISK)).moved.abandon).toBe(1);

      const again = await batch.one('stored');
      expect(again).toMatchObject({ state: 'staged', generation: 2 });
      expect(again.idempotencyKey).not.toBe(idempotencyKey);
    });

    it('releases held invoices by row, and leaves the others held', async () => {
      const batch = await scenario.run(['held-1', 'held-2']);
      await batch.hold();
      await batch.finish();

      const none = await batch.retry({ selection: { rows: [3_000_000_000] } });
      expect(none, 'a row number that no file has').toMatchObject({ moved: NOTHING, pages: [] });
      const result = await batch.retry({ selection: { rows: [3] } });

      expect(result).toMatchObject({ moved: { release: 1 }, pages: [1] });
      expect(await batch.states()).toEqual(['held', 'staged']);
    });

    it('goes by reason code where the retry policy names some', async () => {
      const batch = await scenario.run(['busy', 'wrong']);
      await batch.send('busy', { kind: 'rejected', reason: { code: 'engine_busy', message: 'Busy' } });
      await batch.send('wrong', { kind: 'rejected', reason: { code: 'tax_code', message: 'Unknown tax code' } });

      const result = await batch.retry({ selection: { reasonCodes: ['engine_busy'] } });

      expect(result.moved.regenerate).toBe(1);
      expect(await batch.states()).toEqual(['staged', 'rejected']);
    });

    it('takes an invoice over from a closed owner and never from a running one', async () => {
      const owner = await scenario.run(['shared']);
      await owner.fail('shared');
      const other = await scenario.run(['shared']);

      expect((await other.retry()).refused).toEqual({ 'owned-by-running-batch': 1 });
      await owner.finish();
      expect((await other.retry()).moved.regenerate).toBe(1);

      expect(await other.one('shared')).toMatchObject({ state: 'staged', generation: 2 });
      expect(await owner.sendable()).toEqual([]);
    });

    it('takes held and unknown invoices over from a batch that was cancelled, with the reason gone', async () => {
      const owner = await scenario.run(['taken-held', 'taken-unknown']);
      const other = await scenario.run(['taken-held', 'taken-unknown']);
      await owner.lose('taken-unknown');
      await owner.hold();
      await owner.setState('cancelled');

      const { moved } = await other.retry({ selection: { rows: [2, 3] } });

      expect(moved).toMatchObject({ release: 1, repeat: 1 });
      expect((await other.sendable()).map(({ state }) => state)).toEqual(['staged', 'sending']);
      expect(await other.line('taken-held')).toMatchObject({ state: 'staged', reason: null });
      expect(await owner.sendable()).toEqual([]);
    });

    it('is won by one of several operators', async () => {
      const batch = await scenario.run(['wanted-twice']);
      await batch.fail('wanted-twice');

      const results = await Promise.all([batch.retry(), batch.retry(), batch.retry()]);

      expect(results.map(({ moved }) => moved.regenerate).filter((count) => count === 1)).toHaveLength(1);
      expect((await batch.one('wanted-twice')).generation).toBe(2);
    });

    it('is undone where the service issues the failed document after all, under its key, before the next one was sent', async () => {
      const batch = await scenario.run(['undead']);
      const { idempotencyKey } = await batch.one('undead');
      const { serviceId } = await batch.fail('undead');
      await batch.retry();

      const { settled } = await scenario.hear(serviceId, 'issued', { receivedAt: NOW + 9 });

      expect(settled).toMatchObject([{ batchId: batch.batchId, ordinal: 1 }]);
      const issued = { state: 'issued', serviceId, idempotencyKey, settledAt: NOW + 9, reason: null };
      expect(await batch.line('undead')).toMatchObject({ ...issued, flags: ['issued-after-failed'] });
      expect(await batch.sendable(), 'nothing is left to send').toEqual([]);
      expect((await batch.retry()).moved.regenerate).toBe(0);
    });

    it('tells the batch that held the same content in two generations when the first is issued, and holds a correction', async () => {
      const batch = await scenario.run(['undead-corrected']);
      const { serviceId } = await batch.fail('undead-corrected');
      await batch.retry();
      await batch.fail('undead-corrected');
      await batch.finish();
      const corrected = await scenario.run([{ ref: 'undead-corrected', unitPrice: '77' }]);

      await scenario.hear(serviceId, 'issued');

      expect(await batch.line('undead-corrected')).toMatchObject({ state: 'issued', serviceId });
      expect(await corrected.outcomes()).toEqual(['held issued-in-earlier-generation']);
    });
  });

  describe('the audit', () => {
    const OF_BATCH = { acceptedDuplicateRisk: false, invoices: 0, examples: [] };

    it('has what was done to a batch as a whole, each action once, between the retries', async () => {
      const batch = await scenario.run(['noted']);
      const pause = { at: NOW, who: null, what: 'pause', why: 'a look, "really"' };
      const resume = { at: NOW + 1, who: 'ana', what: 'resume', why: 'seen\u0000 at once' };
      const [paused, resumed] = [pause, resume].map((one) => ({ actionId: randomUUID(), ...one }));

      for (const actions of [[], [paused], [paused, resumed]])
        await ledger.noteActions(
          batch.batchId,
          actions.flatMap((one) => one ?? []),
        );
      await batch.reject('noted');
      await batch.retry();

      const kept = { ...resume, why: 'seen  at once' };
      expect(await ledger.auditOf(batch.batchId), 'without a character that no database keeps').toEqual([
        { ...pause, ...OF_BATCH },
        { ...kept, ...OF_BATCH },
        expect.objectContaining({ what: 'retry', invoices: 1 }),
      ]);
    });

    it('has what a retry did, who said so and why, once for each action, and its accepted risk', async () => {
      const batch = await scenario.run(['audited']);
      await batch.lose('audited', STORED);
      const action = { actionId: randomUUID(), who: 'rui', why: 'support says nothing was stored' };

      for (const _ of ['once', 'again']) await batch.retry({ selection: { rows: [2] }, policy: AT_RISK, action });

      const examples = [{ ref: 'audited', rows: [2], move: 'abandon', from: 'unknown', generation: 1 }];
      const { who, why } = action;
      expect(await ledger.auditOf(batch.batchId)).toEqual([
        { at: RETRY_POLICY.now, who, what: 'retry', why, acceptedDuplicateRisk: true, invoices: 1, examples },
      ]);
    });

    it('has an operator’s retry that moved nothing, once, and none of a retry policy that found nothing to do', async () => {
      const batch = await scenario.run(['nothing-done']);
      const action = { actionId: randomUUID(), who: 'rui', why: 'to be sure' };

      await batch.retry({ policy: { unattended: true } });
      for (const _ of ['once', 'again']) await batch.retry({ policy: AT_RISK, action });

      const { who, why } = action;
      expect(await ledger.auditOf(batch.batchId)).toEqual([
        { ...OF_BATCH, at: RETRY_POLICY.now, who, what: 'retry', why, acceptedDuplicateRisk: true },
      ]);
    });

    it('has one line of a retry of more than a portion holds, with the first rows as examples', async () => {
      const count = 1_001;
      const texts = Array.from({ length: count }, (_, index) => ({ ref: `portion-${index}` }));
      const batch = await scenario.run(texts, count);
      const attached = await scenario.run(texts, count);
      await batch.hold();

      const refused = await attached.retry();
      const { moved } = await batch.retry({ action: { why: 'all of them' } });
      await batch.retry({ selection: { rows: [2] }, action: { why: 'nothing to do' } });
      await batch.hold();
      await batch.retry({ selection: { rows: [3] }, action: { why: 'one more', who: null } });

      expect(refused).toMatchObject({ moved: { release: 0 }, refused: { 'owned-by-running-batch': count } });
      expect(moved.release).toBe(count);
      const audit = await ledger.auditOf(batch.batchId);
      expect(audit.map(({ why, who, invoices }) => [why, who, invoices])).toEqual([
        ['all of them', 'ana', count],
        ['nothing to do', 'ana', 0],
        ['one more', null, 1],
      ]);
      expect(audit[0]?.examples.map(({ rows }) => rows)).toEqual(Array.from({ length: 20 }, (_, index) => [index + 2]));
      expect(audit[2]?.examples).toMatchObject([{ ref: 'portion-1', from: 'held', move: 'release', generation: 1 }]);
    });

    it('has of a batch only what was done to that batch', async () => {
      const [one, two] = [await scenario.run(['audit-1']), await scenario.run(['audit-2', 'audit-3'])];
      for (const batch of [one, two]) {
        await batch.hold();
        await batch.retry();
      }

      const [first, ...more] = await ledger.auditOf(one.batchId);
      expect([first?.examples.map(({ ref }) => ref), more]).toEqual([['audit-1'], []]);
      expect((await ledger.auditOf(two.batchId)).map(({ invoices }) => invoices)).toEqual([2]);
    });
  });

  it('references are turned into rows, and those that are not in the batch are known by their absence', async () => {
    const { batchId } = await scenario.run(['R-1', 'R-2']);

    expect(await ledger.rowsOfRefs(batchId, ['R-2', 'R-9'])).toEqual([{ ref: 'R-2', rows: [3] }]);
  });

  describe('reopening', () => {
    const run = { workflowId: 'retry-1', runId: 'run-9', attempt: 1, takeOver: false, endsStop: true };
    const reopen = (batchId: string, over = {}) => ledger.reopenBatch({ batchId, ...run, ...over });

    it('gives a finished batch to the run that asks, also when nothing of it is open', async () => {
      const batch = await scenario.run(['reopened']);
      await batch.reject('reopened');
      await batch.finish();

      expect(await reopen(batch.batchId)).toMatchObject({ kind: 'reopened' });
      const reopened = { state: 'running', finishedAt: null, workflowId: 'retry-1' };
      expect(await batch.record()).toMatchObject(reopened);
    });

    it('leaves a running batch to its run, until that is known to be closed', async () => {
      const batch = await scenario.run(['still-running']);
      const { batchId, workflowId } = await batch.record();

      expect(await reopen(batchId)).toEqual({ kind: 'owned', workflowId, runId: 'run-1' });
      expect(await reopen(batchId, { takeOver: true })).toMatchObject({ kind: 'reopened' });
    });

    it('finds nothing in a file that is still being read, and no batch where there is none', async () => {
      const { batchId } = await scenario.begin();

      expect(await reopen(batchId)).toEqual({ kind: 'nothing' });
      await expect(reopen('no-such-batch')).rejects.toMatchObject({ code: 'batch-not-found' });
    });
  });
}
