import { describe, expect, it } from 'vitest';
import {
  createScenario,
  delivery,
  NIF,
  NOW,
  OTHER_NIF,
  REASON,
  type TestBatch,
  recordDeliveries,
} from '../scenario.ts';
import type { Ledger } from '../../../../src/ledger/ledger.ts';

const POLICY = { retryableCodes: ['try-again'], maxGenerations: 2 };

/** What the failure budget and the first invoices of a batch are judged by. */
export function answerCountsContract(ledger: Ledger): void {
  const scenario = createScenario(ledger);

  async function accept(batch: TestBatch, refs: readonly string[]): Promise<void> {
    for (const ref of refs) await batch.accept(ref, { serviceId: scenario.serviceId(ref) });
  }

  /** `failed` by a GET that confirms the event. */
  async function fail(batch: TestBatch, ref: string, code: string): Promise<void> {
    const { invoices } = await ledger.reportedFailures(batch.batchId, 100);
    const found = invoices.find(({ serviceId }) => serviceId === scenario.serviceId(ref));
    if (found === undefined) throw new Error(`${ref} was expected among the reported failures`);
    await scenario.ask(found, 'failed', { reason: { code, message: code }, now: NOW });
  }

  function report(refs: readonly string[], verdict: 'issued' | 'failed') {
    const events = refs.map((ref) => delivery(scenario.serviceId(ref), verdict, { reason: REASON }));
    return recordDeliveries(ledger, events);
  }

  describe('what the service has said of a batch', () => {
    it('counts each invoice by its answer and by its final word, and nothing that another batch sends', async () => {
      const refs = ['refused', 'issued', 'failed', 'again', 'reported', 'open', 'unanswered', 'unsent'];
      const batch = await scenario.run(refs, 8);
      await batch.reject('refused');
      await batch.send('unanswered', { kind: 'pending', reason: REASON, mayExist: true });
      await accept(batch, ['issued', 'failed', 'again', 'reported', 'open']);
      await report(['issued'], 'issued');
      await report(['failed', 'again', 'reported'], 'failed');
      await fail(batch, 'failed', 'for-good');
      await fail(batch, 'again', 'try-again');
      const other = await scenario.run(['open', 'unsent']);

      const counts = await ledger.countAnswers(batch.batchId, POLICY);
      const firstTwo = await ledger.countAnswers(batch.batchId, { ...POLICY, from: 1, to: 2 });
      const lastGeneration = await ledger.countAnswers(batch.batchId, { ...POLICY, maxGenerations: 1 });

      expect(counts).toEqual({
        ...{ refused: 1, accepted: 5, issued: 1 },
        ...{ failed: 1, retryable: 1, pending: 2, unanswered: 1 },
      });
      expect(firstTwo).toMatchObject({ refused: 1, accepted: 1, issued: 1, failed: 0, unanswered: 0 });
      expect(lastGeneration).toMatchObject({ failed: 2, retryable: 0 });
      const ofOther = Object.values(await ledger.countAnswers(other.batchId, POLICY));
      expect(ofOther).toEqual(ofOther.map(() => 0));
      expect(await ledger.firstUnsent(other.batchId, { limit: 9 })).toEqual([]);
    });

    it('counts a failure for good where the retry policy sends nothing again, because the lost time may have sent it', async () => {
      const batch = await scenario.run(['doubtful', 'sure']);
      const { identity } = await batch.one('doubtful');
      const sends = [{ identity, idempotencyKey: 'lote_another', sentAt: NOW }];
      const doubtful = await batch.accept('doubtful');
      await ledger.takeLostSends({ positions: new Map(), sends, now: NOW });
      const reason = { code: 'try-again', message: 'said' };
      for (const one of [doubtful, await batch.accept('sure')]) await scenario.ask(one, 'failed', { reason });

      expect((await batch.line('doubtful')).flags).toEqual(['older-ledger']);
      expect(await ledger.countAnswers(batch.batchId, POLICY)).toMatchObject({ failed: 1, retryable: 1 });
    });

    it('knows how many were refused or failed at most, as soon as an event says so', async () => {
      const refs = ['no', 'events', 'confirmed', 'again', 'good', 'rest', 'left'].map((ref) => `most-${ref}`);
      const batch = await scenario.run(refs);
      const neighbour = await scenario.run(['most-neighbour']);
      await accept(neighbour, ['most-neighbour']);
      await batch.reject('most-no');
      await batch.send('most-left', { kind: 'held', reason: REASON });
      await accept(batch, ['most-events', 'most-confirmed', 'most-again', 'most-good']);
      await report(['most-good'], 'issued');
      await report(['most-events', 'most-confirmed', 'most-again', 'most-neighbour'], 'failed');
      expect(await ledger.mostFailures(batch.batchId)).toEqual({ refused: 1, failed: 3 });

      await fail(batch, 'most-confirmed', 'for-good');
      await report(['most-again'], 'issued');

      expect(await ledger.mostFailures(batch.batchId)).toEqual({ refused: 1, failed: 2 });
      expect(await ledger.mostFailures('no-batch')).toEqual({ refused: 0, failed: 0 });
    });

    it('names the first invoices that are not sent', async () => {
      const nifs = [NIF, NIF, NIF, OTHER_NIF, NIF];
      const refs = ['a', 'b', 'c', 'd', 'e'].map((ref) => `first-${ref}`);
      const { batchId, ...batch } = await scenario.run(refs.map((ref, at) => ({ ref, nif: nifs[at] ?? NIF })));
      for (const ref of ['first-a', 'first-c']) await batch.reject(ref);
      const ordinalsOf = async (which: Parameters<Ledger['firstUnsent']>[1]) =>
        (await ledger.firstUnsent(batchId, which)).map(({ ordinal }) => ordinal);

      expect(await ordinalsOf({ limit: 2 })).toEqual([2, 4]);
      expect(await ordinalsOf({ limit: 9 })).toEqual([2, 4, 5]);
      expect(await ordinalsOf({ limit: 9, from: 3 })).toEqual([4, 5]);
      const of = { limit: 9, butOf: NIF };
      expect(await ledger.firstUnsent(batchId, of)).toEqual([{ ordinal: 4, merchantNif: OTHER_NIF }]);
    });

    it('gives some of the reported failures, and says how many there are', async () => {
      const refs = ['f1', 'f2', 'f3', 'f4'].map((ref) => `reported-${ref}`);
      const batch = await scenario.run(refs);
      await accept(batch, refs);
      await report(refs.slice(0, 3), 'failed');

      const { reported, invoices } = await ledger.reportedFailures(batch.batchId, 2);

      expect(reported).toBe(3);
      expect(invoices).toHaveLength(2);
      for (const invoice of invoices) expect(invoice).toMatchObject({ failedEvent: { reason: REASON }, asks: 0 });
      await fail(batch, refs[0] ?? '', 'for-good');
      expect(await ledger.reportedFailures(batch.batchId, 9)).toMatchObject({ reported: 2 });
    });
  });
}
