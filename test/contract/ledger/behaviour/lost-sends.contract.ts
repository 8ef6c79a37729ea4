import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { idempotencyKeyOf } from '../../../../src/domain/fingerprint.ts';
import { accepted, createScenario, NOW, REASON, type TestBatch } from '../scenario.ts';
import type { Ledger } from '../../../../src/ledger/ledger.ts';
import type { SendableInvoice } from '../../../../src/ledger/sending/sending.ts';

const SENT = NOW - 3_600_000;
const DOUBT = ['older-ledger'];

/** What a ledger learns that was restored from a copy, or made anew: which keys were used without it. */
export function lostSendsContract(ledger: Ledger): void {
  const scenario = createScenario(ledger);

  function take(sends: readonly (Pick<SendableInvoice, 'identity'> & { readonly idempotencyKey?: string })[]) {
    const lost = sends.map((one) => ({ idempotencyKey: 'lote_another', ...one, sentAt: SENT }));
    return ledger.takeLostSends({ positions: new Map(), sends: lost, now: NOW });
  }

  /** The key of an invoice that this ledger does not have, by its content and generation. */
  function keyElsewhere(ref: string, { generation = 1, ...over }: { unitPrice?: string; generation?: number }): string {
    const { invoice, fingerprint } = scenario.valid({ ref, ...over });
    const identity = { application: scenario.application, merchantNif: invoice.merchant.nif, ref };
    return idempotencyKeyOf(identity, fingerprint, generation);
  }

  const retry = (batch: TestBatch, acceptDuplicateRisk: boolean, unattended = false) =>
    batch.retry({ policy: { acceptDuplicateRisk, unattended, now: NOW } });

  describe('the position in the send log', () => {
    it('rises by one with each call, also of several at once, by account, and not where the log is ahead', async () => {
      const [scope, other] = [randomUUID(), randomUUID()];
      const raised = await Promise.all([1, 2, 3].map(() => ledger.advanceSendLog(scope, 0)));
      expect(new Set(raised)).toEqual(new Set([1, 2, 3]));
      expect(await ledger.advanceSendLog(scope, 4)).toBeNull();
      expect(await ledger.advanceSendLog(scope, 3)).toBe(4);
      expect(await ledger.advanceSendLog(other, 1), 'a new ledger').toBeNull();
      expect([...(await ledger.sendLogPositions()).keys()], 'it has not sent').not.toContain(other);
      expect(await ledger.advanceSendLog(other, 0)).toBe(1);

      await ledger.takeLostSends({ positions: new Map([[other, 9]]), sends: [], now: NOW });
      const positions = await ledger.sendLogPositions();
      expect([scope, other].map((account) => positions.get(account))).toEqual([4, 9]);
    });
  });

  describe('an invoice that was sent without the ledger, which knows it', () => {
    it('is flagged in each state but issued where another key was used, and nothing of it goes by itself', async () => {
      const refs = ['staged', 'held', 'sending', 'throttled', 'unknown', 'accepted', 'rejected'];
      const batch = await scenario.run(refs);
      const sends = await batch.sendable();
      await ledger.holdLost(batch.batchId, [], { now: NOW });
      await batch.send('held', { kind: 'held', reason: REASON });
      await batch.freeze('sending');
      await batch.lose('unknown');
      await batch.accept('accepted');
      await batch.reject('rejected');
      await batch.send('throttled', { kind: 'pending', reason: REASON, mayExist: false });

      expect(await take(sends.map(({ identity }) => ({ identity })))).toBe(7);
      expect((await batch.lines()).map(({ state, flags, reason }) => [state, flags, reason?.code])).toEqual([
        ['held', DOUBT, 'older-ledger'],
        ['held', DOUBT, 'older-ledger'],
        ['unknown', DOUBT, 'older-ledger'],
        ['held', DOUBT, 'older-ledger'],
        ['unknown', DOUBT, 'older-ledger'],
        ['accepted', DOUBT, undefined],
        ['rejected', DOUBT, 'because'],
      ]);
      await batch.finish();
      expect(await ledger.releaseHeld(batch.batchId, NOW)).toBe(0);
      expect(await ledger.repeatUnknown(batch.batchId, 0)).toBe(0);
      expect((await retry(batch, false)).refused).toEqual({ 'needs-accept-duplicate-risk': 4 });
      const changed = ['held', 'rejected'].map((ref) => ({ ref, unitPrice: '99' }));
      const again = await scenario.run(['staged', ...changed]);
      expect(await again.outcomes()).toEqual([
        'held older-ledger',
        'conflict needs-accept-duplicate-risk',
        'conflict needs-accept-duplicate-risk',
      ]);
      await again.finish();

      expect((await retry(batch, true)).moved).toMatchObject({ release: 3, regenerate: 1 });
      const [staged] = await batch.sendable();
      expect(staged, 'and the accepted risk is no proof').toMatchObject({ lost: 'same-key', mayExistSince: NOW });
    });

    it('is not sent again by the retry policy once its failure is heard', async () => {
      const batch = await scenario.run(['failing']);
      const { identity } = await batch.one('failing');
      const document = await batch.accept('failing');
      await take([{ identity }]);
      await scenario.ask(document, 'failed', { reason: REASON, now: NOW });
      expect((await retry(batch, false, true)).refused).toEqual({ 'needs-accept-duplicate-risk': 1 });
    });

    it('is a repeat where the same key was used: since then, and no refusal is final', async () => {
      const batch = await scenario.run(['same-staged', 'same-throttled']);
      await batch.send('same-throttled', { kind: 'pending', reason: REASON, mayExist: false });
      expect(await take(await batch.sendable())).toBe(0);

      const found = await batch.sendable();
      expect(found.map(({ state, mayExist, lost }) => [state, mayExist, lost])).toEqual([
        ['staged', true, 'same-key'],
        ['sending', true, null],
      ]);
      expect(found[0]?.mayExistSince).toBe(SENT);
      const items = found.slice(0, 1).map((one) => ({ ...one, body: '{}' }));
      await ledger.freeze(batch.batchId, items, NOW);
      const refused = { attempts: 1, sentAt: NOW, outcome: { kind: 'rejected', reason: REASON } } as const;
      await ledger.recordSends(found.map(({ invoiceId, generation }) => ({ invoiceId, generation, ...refused })));
      expect(await batch.states()).toEqual(['unknown', 'unknown']);
    });

    it('is no repeat any more once the ledger has sent it itself', async () => {
      const batch = await scenario.run(['sent-again']);
      const [one] = await batch.sendable();
      if (one === undefined) throw new Error('one is staged');
      await take([one]);
      const serviceId = scenario.serviceId('sent-again');
      await ledger.freeze(batch.batchId, [{ ...one, body: '{}', mayExistSince: SENT }], NOW);
      await scenario.answer(one.invoiceId, accepted(serviceId));
      await scenario.ask({ invoiceId: one.invoiceId, serviceId }, 'failed', { reason: REASON, now: NOW });
      expect((await retry(batch, false)).moved).toMatchObject({ regenerate: 1 });
      expect(await batch.one('sent-again')).toMatchObject({ lost: null });
    });

    it('keeps its content where it was held in the copy, unless its new content is sent at an accepted risk', async () => {
      const batch = await scenario.run(['held-and-sent']);
      const [one] = await batch.sendable();
      await batch.hold();
      await batch.finish();
      await take(one === undefined ? [] : [one]);
      const text = { ref: 'held-and-sent', unitPrice: '99' };
      const corrected = await scenario.run([text]);
      expect(await corrected.line('held-and-sent')).toMatchObject({ state: 'conflict' });
      await corrected.finish();

      const risky = await scenario.reading({ ...scenario.valid(text), riskAccepted: true });
      expect(await risky.one('held-and-sent')).toMatchObject({ generation: 2, lost: 'same-key', mayExistSince: NOW });
    });
  });

  describe('an invoice that was sent without the ledger, which does not know it', () => {
    it.each([
      ['its first content', {}, { generation: 1, lost: 'same-key' }],
      ['its second generation, by a retry or as a correction', { generation: 2 }, { generation: 2, lost: 'same-key' }],
      ['other content', { unitPrice: '99' }, { generation: 1, lost: 'other-key' }],
    ])('is recognised: %s', async (title, sent, expected) => {
      const batch = await scenario.begin();
      // Staged once, its identity is known; the file is read anew.
      await batch.read(title);
      const { identity } = await batch.one(title);
      await ledger.restartStaging(batch);
      await take([{ identity, idempotencyKey: keyElsewhere(title, sent) }]);
      await batch.stage(title);

      const found = await batch.one(title);
      expect(found).toMatchObject({ ...expected, mayExist: true, mayExistSince: SENT });
      await ledger.holdLost(batch.batchId, [found.invoiceId], { now: NOW });
      expect(await batch.line(title)).toMatchObject({ state: 'held', flags: DOUBT, reason: { code: 'older-ledger' } });
    });
  });
}
