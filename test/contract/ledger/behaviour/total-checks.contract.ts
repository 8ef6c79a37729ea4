import { describe, expect, it } from 'vitest';
import { createScenario, NOW, REASON, type TestBatch } from '../scenario.ts';
import type { Ledger } from '../../../../src/ledger/ledger.ts';
import type { TotalCheck } from '../../../../src/domain/records/total-check.ts';

const PATTERN = 'may_#.csv';
const TOTAL = { invoices: 1, net: { EUR: '21' } };
const UNUSUAL = { kind: 'unusual', batches: 5, factor: 5, usual: TOTAL, difference: 'much' } as const;
const DAY = 86_400_000;

export function totalChecksContract(ledger: Ledger): void {
  const scenario = createScenario(ledger);

  function save(batch: TestBatch, over: { total?: typeof TOTAL; check?: TotalCheck; pattern?: string; now?: number }) {
    const saved = { pattern: PATTERN, total: TOTAL, check: { kind: 'off' } as const, now: NOW, ...over };
    return ledger.saveTotalCheck(batch, saved);
  }

  async function issued(ref: string, over: Parameters<typeof save>[1] = {}): Promise<TestBatch> {
    const batch = await scenario.run([ref]);
    await save(batch, over);
    await batch.issue(ref);
    await batch.finish();
    return batch;
  }

  const earlier = (besides: string, limit = 10) =>
    ledger.earlierTotals({ application: scenario.application, pattern: PATTERN, batchId: besides, limit });

  describe('totals of files', () => {
    it('are those of finished batches of the pattern with an issued invoice, newest first', async () => {
      const first = await issued('T-1', { total: { invoices: 1, net: { EUR: '1' } }, now: NOW });
      const second = await issued('T-2', { total: { invoices: 2, net: { EUR: '2' } }, now: NOW + DAY });
      await issued('T-3', { pattern: 'june_#.csv', now: NOW + DAY });
      await save(await scenario.run(['T-4']), { now: NOW + DAY });
      const nothingIssued = await scenario.run(['T-5']);
      await save(nothingIssued, { now: NOW + DAY });
      await nothingIssued.finish();

      expect(await earlier('none')).toEqual([
        { invoices: 2, net: { EUR: '2' } },
        { invoices: 1, net: { EUR: '1' } },
      ]);
      expect(await earlier(second.batchId)).toEqual([{ invoices: 1, net: { EUR: '1' } }]);
      expect(await earlier('none', 1)).toEqual([{ invoices: 2, net: { EUR: '2' } }]);
      expect(await earlier(first.batchId)).toHaveLength(1);
    });

    it('are confirmed once, with the action in the audit; a new check takes the confirmation away', async () => {
      const batch = await scenario.run(['T-6']);
      expect(await ledger.totalCheck(batch.batchId)).toBeNull();
      await save(batch, { check: UNUSUAL });
      const action = { actionId: `${batch.batchId}/1`, at: NOW, who: 'ana', what: 'confirm-total', why: 'looked at' };
      await ledger.confirmTotal(batch, { now: NOW + 1, actions: [action] });
      await ledger.confirmTotal(batch, { now: NOW + 2, actions: [action] });

      const confirmed = { pattern: PATTERN, total: TOTAL, check: UNUSUAL, confirmedAt: NOW + 1 };
      expect(await ledger.totalCheck(batch.batchId)).toEqual(confirmed);
      const { what, who, why } = action;
      expect(await ledger.auditOf(batch.batchId)).toMatchObject([{ what, who, why }]);

      await save(batch, { check: UNUSUAL });
      expect((await ledger.totalCheck(batch.batchId))?.confirmedAt).toBeNull();
    });

    it('that are unusual let a retry send nothing before they are confirmed', async () => {
      const batch = await scenario.run(['T-8']);
      await save(batch, { check: UNUSUAL });
      await batch.hold();
      await batch.finish();
      const retry = () => batch.retry({ selection: { states: ['held'] }, policy: { acceptDuplicateRisk: true } });

      expect(await retry()).toMatchObject({ moved: { release: 0 }, refused: { 'total-unconfirmed': 1 } });
      expect(await batch.line('T-8')).toMatchObject({ state: 'held' });

      await ledger.confirmTotal(batch, { now: NOW, actions: [] });
      expect(await retry()).toMatchObject({ moved: { release: 1 }, refused: {} });
    });

    it('tell what a batch sent itself from what it shares with the batch that sends it', async () => {
      const sender = await scenario.run(['T-10', 'T-11']);
      const sharer = await scenario.run(['T-10', 'T-12']);
      const both = async () => [await ledger.hasSent(sender.batchId), await ledger.hasSent(sharer.batchId)];
      expect(await both()).toEqual([false, false]);

      await sender.freeze('T-10');
      expect(await both()).toEqual([true, false]);

      await sharer.accept('T-12');
      expect(await both()).toEqual([true, true]);
    });

    it('do not take an invoice that came over from another batch for one that was sent', async () => {
      const first = await scenario.run(['T-13']);
      await first.send('T-13', { kind: 'unknown', reason: REASON }, { sentAt: NOW - 1 });
      await first.finish();
      const { batchId, fencingToken } = await scenario.run(['T-13']);

      expect(await ledger.repeatUnknown(batchId, 0, fencingToken)).toBe(1);
      expect(await ledger.hasSent(batchId)).toBe(false);
    });

    it('are neither written nor confirmed by a claim that is lost', async () => {
      const batch = await scenario.run(['T-7']);
      await save(batch, { check: { kind: 'declared' } });
      const lost = { batchId: batch.batchId, fencingToken: batch.fencingToken - 1 };

      await expect(ledger.confirmTotal(lost, { now: NOW, actions: [] })).rejects.toMatchObject({ code: 'claim-lost' });
      const saved = { pattern: PATTERN, total: TOTAL, check: { kind: 'off' }, now: NOW } as const;
      await expect(ledger.saveTotalCheck(lost, saved)).rejects.toMatchObject({ code: 'claim-lost' });
      expect(await ledger.totalCheck(batch.batchId)).toMatchObject({ check: { kind: 'declared' }, confirmedAt: null });
    });
  });
}
