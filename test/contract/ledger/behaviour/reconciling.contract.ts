import { batchOutcomes } from '../../../../src/domain/batch-outcomes.ts';
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  accepted,
  type AcceptedOne,
  createScenario,
  delivery,
  HOUR,
  NOW,
  REASON,
  TAKE,
  type TestBatch,
  recordDeliveries,
} from '../scenario.ts';
import type { OutcomeCount } from '../../../../src/domain/records/batch-record.ts';
import type { Ledger } from '../../../../src/ledger/ledger.ts';
import type { RepeatInvoice } from '../../../../src/ledger/operations/reconciling.ts';

const MINUTE = 60_000;

const PROVEN = { kind: 'rejected', reason: REASON, proven: true } as const;

export function reconcilingContract(ledger: Ledger): void {
  describe('reconciling after batches', () => {
    const scenario = createScenario(ledger);

    async function closedUnknown(ref: string, reason = REASON): Promise<TestBatch> {
      const batch = await scenario.run([ref]);
      await batch.send(ref, { kind: 'unknown', reason });
      await batch.close();
      return batch;
    }

    it('tells the figures of the last report of each batch, the newest batch first, without reading an invoice', async () => {
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

    it('notes no report after a newer one that was noted, and notes one while a newer one is only begun', async () => {
      const batch = await scenario.run(['noted']);
      const revisions = [1, 2, 3].map(() => ledger.nextRevision(batch.batchId));
      await Promise.all(revisions);

      expect(await batch.report({ revision: 2 })).toBe(true);
      expect(await batch.report({ revision: 1 })).toBe(false);
      expect(await ledger.sinceReport(batch.batchId)).toMatchObject({ revision: 2 });
      expect(await batch.report({ revision: 3 })).toBe(true);
    });

    describe('the balance of a closed batch from its report', () => {
      /** Closes it and writes what a report says of it, with the balance. */
      async function reported(batch: TestBatch, outcomes?: readonly OutcomeCount[]): Promise<void> {
        await batch.finish();
        const balance = outcomes ?? (await ledger.countOutcomes(batch.batchId));
        const figures = { states: {}, money: [], settling: {}, reasons: [], outcomes: balance };
        await batch.report({ writtenAt: NOW + 10, figures });
      }

      it('is what counting gives, also after an invoice of it was issued late', async () => {
        const batch = await scenario.run(['bal-1', { ref: 'bal-2', unitPrice: '-3' }, 'bal-3', 'bal-4']);
        const serviceId = scenario.serviceId('bal-1');
        await batch.send('bal-1', accepted(serviceId));
        await batch.send('bal-2', { kind: 'rejected', reason: REASON });
        await batch.send('bal-3', { kind: 'unknown', reason: REASON });
        expect(await ledger.reportedOutcomes(batch.batchId)).toBeNull();
        await reported(batch);
        expect(await ledger.reportedOutcomes(batch.batchId)).toEqual(await ledger.countOutcomes(batch.batchId));

        await recordDeliveries(ledger, [delivery(serviceId, 'issued')]);

        const counted = await ledger.countOutcomes(batch.batchId);
        expect(counted).toContainEqual(expect.objectContaining({ outcome: 'issued', invoices: 1 }));
        expect(await batchOutcomes(ledger, batch.batchId)).toEqual(counted);
      });

      it('is not told by a report of before the batch was closed again, nor by one that does not add up', async () => {
        const batch = await scenario.run(['bal-5', 'bal-6']);
        const one = { outcome: 'staged', currency: 'EUR', invoices: 1, net: '21', withoutAmount: 0 } as const;
        await reported(batch, [one]);
        expect(await ledger.reportedOutcomes(batch.batchId)).toBeNull();
        await reported(batch);
        expect(await ledger.reportedOutcomes(batch.batchId)).not.toBeNull();

        await batch.claim({ runId: 'run-2' });
        expect(await ledger.reportedOutcomes(batch.batchId)).toBeNull();
        await ledger.setBatchState(batch.batchId, 'finished', NOW + 11);
        expect(await ledger.reportedOutcomes(batch.batchId)).toBeNull();
      });

      it('is not told by a report without one', async () => {
        const batch = await scenario.run(['bal-7']);
        await batch.close();

        expect(await ledger.reportedOutcomes(batch.batchId)).toBeNull();
      });
    });

    it('hands an unknown invoice out with its key, its bytes and its reason', async () => {
      const batch = await closedUnknown('lost');
      const { idempotencyKey } = await batch.line('lost');

      const taken = await batch.takeUnknown();

      expect(taken).toHaveLength(1);
      expect(taken[0]).toMatchObject({ generation: 1, idempotencyKey, body: '{"ref":"lost"}', reason: REASON });
      expect(taken[0]?.mayExistSince).toBe(NOW);
      expect((await batch.line('lost')).state).toBe('sending');
    });

    it('gives it to one reconciler only', async () => {
      const batch = await closedUnknown('lost-for-many');

      const rounds = await Promise.all([1, 2, 3, 4].map(() => batch.takeUnknown()));

      expect(rounds.flat()).toHaveLength(1);
    });

    it('takes up a repeat that a crash ended, after a while and not before', async () => {
      const batch = await closedUnknown('crashed-repeat');
      await batch.takeUnknown();

      const soon = await batch.takeUnknown({ now: TAKE.now + 9 * MINUTE });
      const later = await batch.takeUnknown({ now: TAKE.now + 11 * MINUTE });

      expect(soon).toEqual([]);
      expect(later).toHaveLength(1);
    });

    it('repeats nothing after the retention window, and says unknown again of a repeat that a crash ended', async () => {
      const never = await closedUnknown('too-late');
      const crashed = await closedUnknown('too-late-in-repeat');
      await crashed.takeUnknown();

      const late = { now: NOW + 25 * HOUR };

      expect(await never.takeUnknown(late)).toEqual([]);
      expect(await crashed.takeUnknown(late)).toEqual([]);
      expect((await never.line('too-late')).state).toBe('unknown');
      expect(await crashed.line('too-late-in-repeat')).toMatchObject({ state: 'unknown', reason: REASON });
    });

    it.each(['stored-error', 'service-id-taken', 'refused-after-lost-answer'])(
      'repeats a key with "%s" rarely, and at once when an operator asks for all',
      async (code) => {
        const batch = await closedUnknown(`spent-${code}`, { code, message: 'HTTP 500' });
        const [first] = (await batch.takeUnknown({ all: false, now: NOW + HOUR })) as [RepeatInvoice];
        const { invoiceId, generation } = first;
        const at = NOW + 2 * HOUR;
        await scenario.answer(invoiceId, { kind: 'unknown', reason: first.reason }, { generation, sentAt: at });

        expect(await batch.takeUnknown({ all: false, now: at + 119 * MINUTE })).toEqual([]);
        expect(await batch.takeUnknown({ all: false, now: at + 121 * MINUTE })).toMatchObject([{ lastTriedAt: at }]);
        await scenario.answer(invoiceId, { kind: 'unknown', reason: first.reason }, { generation, sentAt: at + HOUR });
        expect(await batch.takeUnknown({ now: at + HOUR + MINUTE })).toHaveLength(1);
      },
    );

    it('never repeats a key that somebody else used: nobody knows when the service forgets it', async () => {
      const batch = await closedUnknown('foreign', { code: 'key-known-with-other-bytes', message: 'HTTP 422' });

      expect(await batch.takeUnknown()).toEqual([]);
    });

    it('does not wait with what was refused after a lost answer, when a refusal is a proof', async () => {
      const batch = await closedUnknown('provable', { code: 'refused-after-lost-answer', message: 'HTTP 422' });
      const [{ invoiceId, generation, reason }] = (await batch.takeUnknown()) as [RepeatInvoice];
      const outcome = { kind: 'unknown', reason } as const;
      await scenario.answer(invoiceId, outcome, { generation, sentAt: TAKE.now });
      const soon = { all: false, now: TAKE.now + MINUTE };

      expect(await batch.takeUnknown(soon)).toEqual([]);
      const [again] = await batch.takeUnknown({ ...soon, refusalIsProof: true });

      expect(again).toMatchObject({ lastTriedAt: TAKE.now });
      await scenario.answer(invoiceId, PROVEN, { generation, sentAt: soon.now });
      expect(await batch.line('provable')).toMatchObject({ state: 'rejected', reason: REASON });
    });

    describe('when the file is run again', () => {
      async function again(batch: TestBatch): Promise<void> {
        await batch.claim({ runId: randomUUID() });
      }

      it('hands unknown invoices to the pages, with the same key and bytes', async () => {
        const batch = await closedUnknown('run-again');
        const { idempotencyKey } = await batch.line('run-again');
        await again(batch);

        expect(await ledger.repeatUnknown(batch.batchId, NOW - 1)).toBe(1);
        expect(await ledger.repeatUnknown(batch.batchId, NOW - 1), 'once').toBe(0);

        expect(await batch.one('run-again')).toMatchObject({
          ...{ state: 'sending', generation: 1, idempotencyKey, body: '{"ref":"run-again"}' },
          ...{ mayExist: true, mayExistSince: NOW },
        });
        expect(await ledger.openPages(batch.batchId)).toEqual([1]);
      });

      it('lists what it left unsettled', async () => {
        const batch = await scenario.run(['silent-again', 'other']);
        const { serviceId } = await batch.accept('silent-again');
        await ledger.closePage(batch.batchId, 1, { acceptedBefore: NOW + HOUR, reason: REASON, now: NOW + HOUR });
        const list = { batchId: batch.batchId, afterInvoiceId: 0, limit: 10 };

        const [found, ...more] = await ledger.unsettledDocuments(list);

        expect(found).toMatchObject({ serviceId, failedEvent: null });
        expect(more).toEqual([]);
        expect(await ledger.unsettledDocuments({ ...list, afterInvoiceId: found?.invoiceId ?? 0 })).toEqual([]);
      });
    });

    it('says once of what no repeat may settle any more that its time is over, of its own application alone', async () => {
      const [own, other] = [createScenario(ledger), createScenario(ledger)];
      const batches: TestBatch[] = [];
      for (const { run } of [own, other]) {
        const batch = await run(['late']);
        await batch.send('late', { kind: 'unknown', reason: REASON });
        await batch.close();
        batches.push(batch);
      }
      const [late, others] = batches as [TestBatch, TestBatch];
      const over = { code: 'retention-window-over', message: 'over' };
      const end = { application: own.application, now: NOW + HOUR, reason: over, messageAhead: 'ahead' };

      expect(await ledger.endRepeats({ ...end, frozenUntil: NOW - 1 }), 'inside its window').toBe(0);
      expect(await ledger.endRepeats({ ...end, frozenUntil: NOW })).toBe(1);
      expect(await ledger.endRepeats({ ...end, frozenUntil: NOW }), 'once').toBe(0);

      expect(await late.line('late')).toMatchObject({ state: 'unknown', reason: over });
      expect((await others.line('late')).reason).toEqual(REASON);
      expect(await ledger.sinceReport(late.batchId)).toMatchObject({ isFlagged: true, changes: [] });
      expect(await ledger.outdatedReports(own.application)).toEqual([late.batchId]);
      expect(await ledger.outdatedReports(other.application)).toEqual([]);
      await late.report();
      expect(await ledger.outdatedReports(own.application)).toEqual([]);
    });

    it('leaves a report outdated that was read before a reason changed, and noted after it, also after a second change', async () => {
      const { application, run } = createScenario(ledger);
      const batch = await run(['read-before']);
      const { invoiceId } = await batch.one('read-before');
      await batch.send('read-before', { kind: 'unknown', reason: REASON });
      await batch.close();
      const read = async () => {
        const { mark, revision } = await ledger.sinceReport(batch.batchId);
        return { mark, revision: revision + 1, writtenAt: NOW, open: await batch.lines() };
      };

      const first = await read();
      await ledger.markReasonsChanged([invoiceId]);
      await ledger.noteReported(batch.batchId, first);
      expect(await ledger.outdatedReports(application)).toEqual([batch.batchId]);
      const second = await read();
      await ledger.markReasonsChanged([invoiceId]);
      await ledger.noteReported(batch.batchId, second);
      expect(await ledger.outdatedReports(application)).toEqual([batch.batchId]);
      expect(await ledger.sinceReport(batch.batchId)).toMatchObject({ isFlagged: true, changes: [] });
      await batch.report();

      expect(await ledger.outdatedReports(application)).toEqual([]);
    });

    it.each([
      ['paused', true],
      ['cancelled', false],
    ] as const)('takes nothing of a batch that was %s, whoever asks, until it is resumed', async (_, paused) => {
      const { application, run } = createScenario(ledger);
      const batch = await run(['stopped']);
      const { batchId, workflowId, runId } = await batch.record();
      await batch.send('stopped', { kind: 'unknown', reason: REASON });
      const control = { batchId, workflowId, runId, version: 1, paused, cancelled: !paused };
      const order = { at: NOW + 1, who: 'maria', why: 'the wrong file' };
      await ledger.recordControl({ ...control, order });
      await batch.close();

      for (const all of [false, true])
        expect(await batch.takeUnknown({ application, all, now: NOW + 20 * HOUR, retentionMs: 48 * HOUR })).toEqual([]);
      expect((await batch.record()).stopped).toEqual({ what: paused ? 'paused' : 'cancelled', ...order });
      expect((await batch.claim({ runId: 'run-2', order: 'drop' })).kind).toBe('closed');

      expect((await batch.claim({ runId: 'run-2' })).kind).toBe('resumed');
      await batch.finish();
      expect((await batch.record()).stopped).toBeNull();
      expect(await batch.takeUnknown({ application, now: NOW + 20 * HOUR, retentionMs: 48 * HOUR })).toHaveLength(1);
    });

    it('leaves an invoice of a running batch to its page', async () => {
      const batch = await scenario.run(['still-running']);
      await batch.send('still-running', { kind: 'unknown', reason: REASON });
      await batch.report();

      expect(await batch.takeUnknown()).toEqual([]);
    });

    it('waits longer the older an invoice is, unless all are asked for', async () => {
      const batch = await closedUnknown('patient');
      const first = await batch.takeUnknown({ all: false, now: NOW + MINUTE });
      const [{ invoiceId, generation }] = first as [RepeatInvoice];
      const at = NOW + 2 * HOUR;
      await scenario.answer(invoiceId, { kind: 'unknown', reason: REASON }, { generation, sentAt: at });

      expect(await batch.takeUnknown({ all: false, now: at + 59 * MINUTE })).toEqual([]);
      expect(await batch.takeUnknown({ all: false, now: at + 61 * MINUTE })).toHaveLength(1);
    });

    it('leaves what another application sent: it would be repeated under another key, into another account', async () => {
      const batch = await closedUnknown('of-another');
      const { idempotencyKey } = await batch.line('of-another');
      const { application } = createScenario(ledger);

      const foreign = await ledger.takeUnknown({ ...TAKE, application });
      await ledger.expirePending({ application, acceptedBefore: NOW + 1, now: NOW + HOUR });
      const documents = await ledger.openDocuments({ application, now: NOW, all: true, afterInvoiceId: 0, limit: 10 });
      const own = await batch.takeUnknown();

      expect(foreign).toEqual([]);
      expect(documents).toEqual([]);
      expect(await ledger.outdatedReports(application)).toEqual([]);
      expect(own.map((one) => one.idempotencyKey)).toEqual([idempotencyKey]);
    });

    describe('documents without a final word', () => {
      async function closedAccepted(ref: string): Promise<AcceptedOne> {
        const one = await (await scenario.run([ref])).accept(ref);
        await one.batch.close();
        return one;
      }

      async function openIds(over: { all?: boolean; now?: number } = {}): Promise<ReadonlyMap<string, boolean>> {
        const documents = await scenario.openDocuments({ now: TAKE.now, ...over });
        return new Map(documents.map(({ serviceId, failedEvent }) => [serviceId, failedEvent !== null]));
      }

      it('are listed, with the failed event that waits for a GET', async () => {
        const plain = await closedAccepted('open');
        const reported = await closedAccepted('open-failed');
        await recordDeliveries(ledger, [delivery(reported.serviceId, 'failed')]);

        const ids = await openIds();

        expect(ids.get(plain.serviceId)).toBe(false);
        expect(ids.get(reported.serviceId)).toBe(true);
      });

      it('are asked for again after half of their age, unless all are asked for', async () => {
        const { invoiceId, serviceId } = await closedAccepted('backed-off');
        await scenario.ask({ invoiceId, serviceId }, 'processing', { now: NOW + 2 * HOUR });

        expect((await openIds({ all: false, now: NOW + 2 * HOUR + 59 * MINUTE })).has(serviceId)).toBe(false);
        expect((await openIds({ all: false, now: NOW + 3 * HOUR + MINUTE })).has(serviceId)).toBe(true);
      });
    });

    describe('what a report said', () => {
      it('is out of date when late news moved an invoice, and up to date again once it is rewritten', async () => {
        const batch = await scenario.run(['late']);
        const { serviceId } = await batch.accept('late');
        await batch.close();
        const before = await ledger.outdatedReports(scenario.application);

        await recordDeliveries(ledger, [delivery(serviceId, 'issued')]);
        const after = await ledger.outdatedReports(scenario.application);
        const since = await ledger.sinceReport(batch.batchId);
        await batch.report();

        expect(before).not.toContain(batch.batchId);
        expect(after).toContain(batch.batchId);
        expect(since).toEqual({
          revision: 1,
          mark: '0 0 0',
          isFlagged: false,
          contradicted: 0,
          changes: [{ from: 'accepted', to: 'issued', invoices: 1, examples: ['late'] }],
        });
        expect(await ledger.outdatedReports(scenario.application)).not.toContain(batch.batchId);
        expect((await ledger.sinceReport(batch.batchId)).revision).toBe(2);
      });

      it('is out of date when something was found of the file, once', async () => {
        const batch = await scenario.run(['found']);
        await batch.close();
        const finding = { row: null, column: null, code: 'found', message: 'found', severity: 'error' } as const;

        await ledger.noteFinding(batch.batchId, finding);
        const after = await ledger.outdatedReports(scenario.application);
        await batch.report();
        await ledger.noteFinding(batch.batchId, finding);

        expect(after).toContain(batch.batchId);
        expect(await ledger.outdatedReports(scenario.application)).not.toContain(batch.batchId);
        expect(await ledger.fileFindings(batch.batchId)).toEqual([finding]);
      });

      it('is out of date when a contradiction was flagged on an invoice that stays issued', async () => {
        const batch = await scenario.run(['contradicted']);
        const { serviceId } = await batch.accept('contradicted');
        await recordDeliveries(ledger, [delivery(serviceId, 'issued')]);
        await batch.close();

        await recordDeliveries(ledger, [delivery(serviceId, 'failed', { receivedAt: NOW + 9_000 })]);

        expect(await batch.line('contradicted')).toMatchObject({ state: 'issued', flags: ['failed-after-issued'] });
        expect(await ledger.outdatedReports(scenario.application)).toContain(batch.batchId);
      });

      it('is not asked about while the batch runs', async () => {
        const batch = await scenario.run(['running']);
        await batch.report();
        await batch.send('running', { kind: 'rejected', reason: REASON });

        expect(await ledger.outdatedReports(scenario.application)).not.toContain(batch.batchId);
      });
    });

    it('applies an issued event that was stored and, by a crash, never applied', async () => {
      const serviceId = scenario.serviceId(randomUUID());
      const batch = await scenario.run(['missed']);
      await recordDeliveries(ledger, [delivery(serviceId, 'issued')]);
      await batch.send('missed', { kind: 'unknown', reason: REASON });
      await batch.close();
      const nothing = await ledger.applyMissedEvents();
      const [{ invoiceId, generation }] = (await batch.takeUnknown()) as [RepeatInvoice];
      await scenario.answer(invoiceId, accepted(serviceId), { generation });

      expect(nothing).toBe(0);
      expect((await batch.line('missed')).state).toBe('issued');
      expect(await ledger.applyMissedEvents()).toBe(0);
    });
  });
}
