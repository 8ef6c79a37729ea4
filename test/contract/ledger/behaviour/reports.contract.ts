import { describe, expect, it } from 'vitest';
import { batchOutcomes } from '../../../../src/domain/batch-outcomes.ts';
import { createScenario, NOW, type TestBatch } from '../scenario.ts';
import type { OutcomeCount } from '../../../../src/domain/records/batch-record.ts';
import type { Ledger } from '../../../../src/ledger/ledger.ts';

/** What the ledger knows of the last report of a batch. */
export function reportsContract(ledger: Ledger): void {
  describe('the last report of a batch', () => {
    const scenario = createScenario(ledger);
    const isOutdated = async ({ batchId }: TestBatch) => (await scenario.outdated()).includes(batchId);

    it('has figures, which are told of the newest batch first, without reading an invoice', async () => {
      const [older, newer] = [await scenario.run(['fig-1']), await scenario.run(['fig-2'])];
      const figures = { states: { held: 1 }, money: [], settling: { 8: 1 }, reasons: [] };
      await older.report({ figures: { ...figures, states: { issued: 1 } } });
      await older.report({ figures });
      const { startedAt } = await newer.record();

      const told = await ledger.batchFigures(startedAt, 1_000);

      const own = told.filter(({ application }) => application === scenario.application);
      expect(own[0]).toEqual({ application: scenario.application, figures: null, startedAt });
      expect(own[1]?.figures).toEqual(figures);
      expect(await ledger.batchFigures(startedAt + 1, 1_000)).toEqual([]);
      expect(await ledger.batchFigures(startedAt, 1)).toHaveLength(1);
    });

    it('is not noted after a newer one that was noted, but is while a newer one is only begun', async () => {
      const batch = await scenario.run(['noted']);
      await Promise.all([1, 2, 3].map(() => ledger.nextRevision(batch.batchId)));

      expect(await batch.report({ revision: 2 })).toBe(true);
      expect(await batch.report({ revision: 1 })).toBe(false);
      expect(await ledger.sinceReport(batch.batchId)).toMatchObject({ revision: 2 });
      expect(await batch.report({ revision: 3 })).toBe(true);
    });

    it('is out of date when late news moved an invoice, and up to date again once it is rewritten', async () => {
      const batch = await scenario.run(['late']);
      const { serviceId } = await batch.accept('late');
      await batch.close();
      expect(await isOutdated(batch)).toBe(false);

      await scenario.hear(serviceId, 'issued');
      expect(await isOutdated(batch)).toBe(true);
      expect(await ledger.sinceReport(batch.batchId)).toEqual({
        ...{ revision: 1, mark: '0 0 0', isFlagged: false, contradicted: 0 },
        changes: [{ from: 'accepted', to: 'issued', invoices: 1, examples: ['late'] }],
      });
      await batch.report();

      expect(await isOutdated(batch)).toBe(false);
      expect((await ledger.sinceReport(batch.batchId)).revision).toBe(2);
    });

    it('is out of date when something was found of the file, once', async () => {
      const batch = await scenario.run(['found']);
      await batch.close();
      const finding = { row: null, column: null, code: 'found', message: 'found', severity: 'error' } as const;

      await ledger.noteFinding(batch.batchId, finding);
      expect(await isOutdated(batch)).toBe(true);
      await batch.report();
      await ledger.noteFinding(batch.batchId, finding);

      expect(await isOutdated(batch)).toBe(false);
      expect(await ledger.fileFindings(batch.batchId)).toEqual([finding]);
    });

    it('is out of date when a contradiction was flagged on an invoice that stays issued, until it stands in it', async () => {
      const batch = await scenario.run(['contradicted']);
      const { serviceId } = await batch.issue('contradicted');
      await batch.setState('cancelled');
      await batch.report();
      expect(await isOutdated(batch)).toBe(false);

      await scenario.hear(serviceId, 'failed', { receivedAt: NOW + 9_000 });

      expect(await batch.line('contradicted')).toMatchObject({ state: 'issued', flags: ['failed-after-issued'] });
      expect(await isOutdated(batch)).toBe(true);
      await batch.report();
      expect(await isOutdated(batch)).toBe(false);
      expect(await ledger.sinceReport(batch.batchId)).toMatchObject({ revision: 2, isFlagged: false, changes: [] });
    });

    it('is out of date when an invoice failed again under a new key, though its state is the same', async () => {
      const batch = await scenario.run(['again-rejected']);
      await batch.reject('again-rejected');
      await batch.report();
      await batch.retry();
      await batch.reject('again-rejected');
      await batch.finish();

      expect(await isOutdated(batch)).toBe(true);
      expect((await ledger.sinceReport(batch.batchId)).changes).toEqual([
        { from: 'rejected', to: 'rejected', invoices: 1, examples: ['again-rejected'] },
      ]);
    });

    it('is out of date when it was read before a reason changed, and noted after it, also after a second change', async () => {
      const batch = await scenario.run(['read-before']);
      const { invoiceId } = await batch.one('read-before');
      await batch.lose('read-before');
      await batch.close();

      for (const _ of ['first', 'second']) {
        const { mark, revision } = await ledger.sinceReport(batch.batchId);
        const read = { mark, revision: revision + 1, writtenAt: NOW, open: await batch.lines() };
        await ledger.markReasonsChanged([invoiceId]);
        await ledger.noteReported(batch.batchId, read);
        expect(await isOutdated(batch)).toBe(true);
      }
      expect(await ledger.sinceReport(batch.batchId)).toMatchObject({ isFlagged: true, changes: [] });
      await batch.report();

      expect(await isOutdated(batch)).toBe(false);
    });

    it('is not asked about while the batch runs, and names the first references of each change, as the file has them', async () => {
      const refs = Array.from({ length: 7 }, (_, index) => `change-${index}`);
      const batch = await scenario.run(refs, 10);
      await batch.report();
      await batch.hold();

      expect(await isOutdated(batch)).toBe(false);
      expect((await ledger.sinceReport(batch.batchId)).changes).toEqual([
        { from: 'staged', to: 'held', invoices: 7, examples: refs.slice(0, 5) },
      ]);
    });

    it('knows nothing of the reports of other batches', async () => {
      const [one, two] = [await scenario.run(['marks-1']), await scenario.run(['marks-2'])];
      for (const batch of [one, one, two]) await batch.report();
      await two.reject('marks-2');

      expect(await ledger.sinceReport(one.batchId)).toMatchObject({ revision: 2, isFlagged: false, changes: [] });
      expect(await ledger.sinceReport(two.batchId)).toMatchObject({ revision: 1, changes: [{ to: 'rejected' }] });
    });
  });

  describe('the balance of a closed batch from its report', () => {
    const scenario = createScenario(ledger);
    const reportedOf = ({ batchId }: TestBatch) => ledger.reportedOutcomes(batchId);

    /** Closes it and writes what a report says of it, with the balance. */
    async function reported(batch: TestBatch, outcomes?: readonly OutcomeCount[]): Promise<void> {
      await batch.finish();
      const balance = outcomes ?? (await ledger.countOutcomes(batch.batchId));
      const figures = { states: {}, money: [], settling: {}, reasons: [], outcomes: balance };
      await batch.report({ writtenAt: NOW + 10, figures });
    }

    it('is what counting gives, also after an invoice of it was issued late', async () => {
      const batch = await scenario.run(['bal-1', { ref: 'bal-2', unitPrice: '-3' }, 'bal-3', 'bal-4']);
      const { serviceId } = await batch.accept('bal-1');
      await batch.reject('bal-2');
      await batch.lose('bal-3');
      expect(await reportedOf(batch)).toBeNull();
      await reported(batch);
      expect(await reportedOf(batch)).toEqual(await ledger.countOutcomes(batch.batchId));

      await scenario.hear(serviceId, 'issued');

      const counted = await ledger.countOutcomes(batch.batchId);
      expect(counted).toContainEqual(expect.objectContaining({ outcome: 'issued', invoices: 1 }));
      expect(await batchOutcomes(ledger, batch.batchId)).toEqual(counted);
    });

    it('is not told by a report of before the batch was closed again, nor by one that has none or does not add up', async () => {
      const batch = await scenario.run(['bal-5', 'bal-6']);
      const one = { outcome: 'staged', currency: 'EUR', invoices: 1, net: '21', withoutAmount: 0 } as const;
      await batch.close();
      expect(await reportedOf(batch)).toBeNull();
      await reported(batch, [one]);
      expect(await reportedOf(batch)).toBeNull();
      await reported(batch);
      expect(await reportedOf(batch)).not.toBeNull();

      await batch.claim({ runId: 'run-2' });
      expect(await reportedOf(batch)).toBeNull();
      await batch.setState('finished', NOW + 11);
      expect(await reportedOf(batch)).toBeNull();
    });
  });
}
