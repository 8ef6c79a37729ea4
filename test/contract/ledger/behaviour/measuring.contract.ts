import { describe, expect, it } from 'vitest';
import { createScenario, NOW, type Scenario } from '../scenario.ts';
import type { Ledger } from '../../../../src/ledger/ledger.ts';

export function measuringContract(ledger: Ledger): void {
  describe('the figures for the metrics', () => {
    async function measuredOf({ application }: Scenario, heldSince: number, closedSince: number, limit = 10) {
      const batches = await ledger.measuredBatches(application, { closedSince, heldSince, limit });
      return batches.map(({ batchId }) => batchId);
    }

    it('are the invoices of a batch by the states of its report, and since when the oldest waits', async () => {
      const scenario = createScenario(ledger);
      const batch = await scenario.run(['A', 'B', 'C', 'D']);
      await batch.accept('A', { sentAt: NOW - 60_000 });
      await batch.reject('B');
      await batch.issue('C');

      const states = await ledger.measureInvoices(batch.batchId);

      expect(states.toSorted((a, b) => a.state.localeCompare(b.state))).toEqual([
        { state: 'accepted', invoices: 1, oldestAt: NOW - 60_000 },
        { state: 'issued', invoices: 1, oldestAt: null },
        { state: 'rejected', invoices: 1, oldestAt: null },
        { state: 'staged', invoices: 1, oldestAt: null },
      ]);
    });

    it('say how long an invoice waits that may have been sent, also after its reason says that its window is over', async () => {
      const scenario = createScenario(ledger);
      const batch = await scenario.run(['lost']);
      await batch.freeze('lost');
      await batch.end(NOW + 1_000);
      await batch.close();
      const waiting = [{ state: 'unknown', invoices: 1, oldestAt: NOW + 1_000 }];
      expect(await ledger.measureInvoices(batch.batchId)).toEqual(waiting);

      const over = { code: 'retention-window-over', message: 'over' };
      const end = { application: scenario.application, now: NOW + 9_000, reason: over, messageAhead: 'ahead' };
      expect(await ledger.endRepeats({ ...end, frozenUntil: NOW })).toBe(1);

      expect(await ledger.measureInvoices(batch.batchId)).toEqual(waiting);
    });

    it('are of the open batches, of those that closed lately, and of one application', async () => {
      const scenario = createScenario(ledger);
      const stranger = createScenario(ledger);
      const closed = await scenario.run(['A']);
      await closed.finish();
      const open = await scenario.run(['B']);
      await stranger.run(['A']);
      const { finishedAt } = await closed.record();
      const measured = (since: number, limit?: number) => measuredOf(scenario, since, since, limit);

      expect(await ledger.countBatches(scenario.application)).toEqual({ finished: 1, running: 1 });
      expect(await measured(finishedAt ?? 0)).toEqual([open.batchId, closed.batchId]);
      expect(await measured((finishedAt ?? 0) + 1)).toEqual([open.batchId]);
      expect(await measured(0, 1)).toEqual([open.batchId]);
    });

    it('are of batches that left invoices held or without a final word before those at rest, and of held ones for a while', async () => {
      const scenario = createScenario(ledger);
      const waiting = await scenario.run(['A']);
      await waiting.accept('A');
      const held = await scenario.run(['B']);
      await held.hold();
      const atRest = await scenario.run(['C']);
      for (const batch of [waiting, held, atRest]) {
        await batch.finish();
        await batch.report(batch === atRest ? { open: [] } : {});
      }
      const { finishedAt } = await held.record();
      const measured = (heldSince: number, closedSince = NOW * 2, limit?: number) =>
        measuredOf(scenario, heldSince, closedSince, limit);

      expect(await measured(finishedAt ?? 0)).toEqual([held.batchId, waiting.batchId]);
      expect(await measured((finishedAt ?? 0) + 1)).toEqual([waiting.batchId]);
      expect(await measured(0, 0, 2)).toEqual([held.batchId, waiting.batchId]);
      expect(await measured(0, 0)).toEqual([held.batchId, waiting.batchId, atRest.batchId]);
    });

    it('are of invoices in doubt: once each, of open batches, and for a while after the end or the last report', async () => {
      const scenario = createScenario(ledger);
      const batch = await scenario.run(['A', 'B']);
      const { serviceId: doubtful } = await batch.issue('A');
      await batch.issue('B');
      const inDoubt = async (since: number): Promise<number> => ledger.measureDoubt(scenario.application, { since });
      expect(await inDoubt(0)).toBe(0);

      await scenario.hear(doubtful, 'failed', { receivedAt: NOW + 9 });

      expect(await inDoubt(NOW * 2), 'while the batch is open').toBe(1);
      await batch.finish();
      const { finishedAt } = await batch.record();
      const ended = finishedAt ?? 0;
      expect(await inDoubt(ended)).toBe(1);
      expect(await inDoubt(ended + 1)).toBe(0);
      await batch.report({ writtenAt: ended + 5 });
      expect([await inDoubt(ended + 5), await inDoubt(ended + 6)]).toEqual([1, 0]);
      const again = await scenario.run(['A']);
      expect(await again.states()).toEqual(['already-issued']);
      expect(await inDoubt(0), 'the same invoice in two files').toBe(1);
      expect(await ledger.measureDoubt(createScenario(ledger).application, { since: 0 })).toBe(0);
    });
  });
}
