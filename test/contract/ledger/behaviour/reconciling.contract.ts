import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  accepted,
  createScenario,
  delivery,
  HOUR,
  type InvoiceTexts,
  NOW,
  REASON,
  TAKE,
  type TestBatch,
  recordDeliveries,
} from '../scenario.ts';
import type { Ledger } from '../../../../src/ledger/ledger.ts';
import type { RepeatInvoice } from '../../../../src/ledger/operations/reconciling.ts';

const MINUTE = 60_000;
const STOPS = [
  ['paused', { paused: true, cancelled: false }],
  ['cancelled', { paused: false, cancelled: true }],
] as const;

/** What is settled, repeated or given up after batches have ended. */
export function reconcilingContract(ledger: Ledger): void {
  const scenario = createScenario(ledger);

  async function closedUnknown(ref: string, reason = REASON): Promise<TestBatch> {
    const batch = await scenario.run([ref]);
    await batch.lose(ref, reason);
    await batch.close();
    return batch;
  }

  /** Its one invoice, as reconciliation takes it. */
  async function taken(batch: TestBatch, over?: Parameters<TestBatch['takeUnknown']>[0]): Promise<RepeatInvoice> {
    const [repeat, ...more] = await batch.takeUnknown(over);
    if (repeat === undefined || more.length > 0) throw new Error('one unknown invoice was expected');
    return repeat;
  }

  /** The repeat brought no answer, either. */
  const lostAgain = ({ invoiceId, generation, reason }: RepeatInvoice, sentAt: number) =>
    scenario.answer(invoiceId, { kind: 'unknown', reason }, { generation, sentAt });

  const reopen = ({ batchId }: TestBatch) =>
    ledger.reopenBatch({ batchId, workflowId: 'w', runId: 'r', attempt: 1, takeOver: false, endsStop: true });

  describe('an unknown invoice of a closed batch', () => {
    it('is handed out with its key, its bytes and its reason, also of a cancelled batch, to one reconciler only', async () => {
      const batch = await scenario.run(['lost']);
      await batch.lose('lost');
      await batch.setState('cancelled');
      await batch.report();
      const { idempotencyKey } = await batch.line('lost');

      const rounds = await Promise.all([1, 2, 3, 4].map(() => batch.takeUnknown()));

      const repeat = { generation: 1, idempotencyKey, body: '{"ref":"lost"}', reason: REASON, mayExistSince: NOW };
      expect(rounds.flat()).toMatchObject([repeat]);
      expect((await batch.line('lost')).state).toBe('sending');
    });

    it('is taken up again after a repeat that a crash ended, after a while and not before, and not once its batch runs', async () => {
      const batch = await closedUnknown('crashed-repeat');
      await taken(batch);
      const running = await closedUnknown('runs-again');
      await taken(running);
      await reopen(running);

      expect(await batch.takeUnknown({ now: TAKE.now + 9 * MINUTE })).toEqual([]);
      expect(await batch.takeUnknown({ now: TAKE.now + 11 * MINUTE })).toHaveLength(1);
      await running.takeUnknown({ now: NOW + 48 * HOUR });
      expect((await running.line('runs-again')).state).toBe('sending');
    });

    it('is not repeated after the retention window, and is unknown again after a repeat that a crash ended', async () => {
      const never = await closedUnknown('too-late');
      const crashed = await closedUnknown('too-late-in-repeat');
      await crashed.takeUnknown();

      const late = { now: NOW + 25 * HOUR };

      expect([await never.takeUnknown(late), await crashed.takeUnknown(late)]).toEqual([[], []]);
      for (const batch of [never, crashed])
        expect(await batch.lines()).toMatchObject([{ state: 'unknown', reason: REASON }]);
    });

    it.each(['stored-error', 'service-id-taken', 'refused-after-lost-answer'])(
      'is repeated rarely with "%s", and at once when an operator asks for all',
      async (code) => {
        const batch = await closedUnknown(`spent-${code}`, { code, message: 'HTTP 500' });
        const first = await taken(batch, { all: false, now: NOW + HOUR });
        const at = NOW + 2 * HOUR;
        await lostAgain(first, at);

        expect(await batch.takeUnknown({ all: false, now: at + 119 * MINUTE })).toEqual([]);
        expect(await batch.takeUnknown({ all: false, now: at + 121 * MINUTE })).toMatchObject([{ lastTriedAt: at }]);
        await lostAgain(first, at + HOUR);
        expect(await batch.takeUnknown({ now: at + HOUR + MINUTE })).toHaveLength(1);
      },
    );

    it('is never repeated with a key that another client used: it is not known when the service forgets it', async () => {
      const batch = await closedUnknown('foreign', { code: 'key-known-with-other-bytes', message: 'HTTP 422' });

      expect(await batch.takeUnknown()).toEqual([]);
    });

    it('does not wait with what was refused after a lost answer, when a refusal is a proof', async () => {
      const batch = await closedUnknown('provable', { code: 'refused-after-lost-answer', message: 'HTTP 422' });
      await lostAgain(await taken(batch), TAKE.now);
      const soon = { all: false, now: TAKE.now + MINUTE };

      expect(await batch.takeUnknown(soon)).toEqual([]);
      const { invoiceId, generation, lastTriedAt } = await taken(batch, { ...soon, refusalIsProof: true });

      expect(lastTriedAt).toBe(TAKE.now);
      const proven = { kind: 'rejected', reason: REASON, proven: true } as const;
      await scenario.answer(invoiceId, proven, { generation, sentAt: soon.now });
      expect(await batch.line('provable')).toMatchObject({ state: 'rejected', reason: REASON });
    });

    it('waits longer the older it is, unless all are asked for', async () => {
      const batch = await closedUnknown('patient');
      const at = NOW + 2 * HOUR;
      await lostAgain(await taken(batch, { all: false, now: NOW + MINUTE }), at);

      expect(await batch.takeUnknown({ all: false, now: at + 59 * MINUTE })).toEqual([]);
      expect(await batch.takeUnknown({ all: false, now: at + 61 * MINUTE })).toHaveLength(1);
    });

    it.each(STOPS)('is not taken of a batch that was %s, whoever asks, until it is resumed', async (what, control) => {
      const { application, run } = createScenario(ledger);
      const batch = await run(['stopped']);
      const { batchId, workflowId, runId } = await batch.record();
      await batch.lose('stopped');
      const order = { at: NOW + 1, who: 'maria', why: 'the wrong file' };
      await ledger.recordControl({ batchId, workflowId, runId, version: 1, ...control, order });
      await batch.close();

      const now = NOW + 20 * HOUR;
      for (const all of [false, true])
        expect(await batch.takeUnknown({ application, all, now, retentionMs: 48 * HOUR })).toEqual([]);
      expect((await batch.record()).stopped).toEqual({ what, ...order });
      expect((await batch.claim({ runId: 'run-2', order: 'drop' })).kind).toBe('closed');

      expect((await batch.claim({ runId: 'run-2' })).kind).toBe('resumed');
      await batch.finish();
      expect((await batch.record()).stopped).toBeNull();
      expect(await batch.takeUnknown({ application, now, retentionMs: 48 * HOUR })).toHaveLength(1);
    });

    it('is left to its page while its batch runs', async () => {
      const batch = await scenario.run(['still-running']);
      await batch.lose('still-running');
      await batch.report();

      expect(await batch.takeUnknown()).toEqual([]);
    });

    it('is left, with all documents, to the application that sent it, which has another key and account', async () => {
      const batch = await closedUnknown('of-another');
      const { idempotencyKey } = await batch.line('of-another');
      const other = createScenario(ledger);
      const { application } = other;

      expect(await ledger.takeUnknown({ ...TAKE, application })).toEqual([]);
      await ledger.expirePending({ application, acceptedBefore: NOW + 1, now: NOW + HOUR });
      expect(await other.openDocuments()).toEqual([]);
      expect(await other.outdated()).toEqual([]);

      expect((await taken(batch)).idempotencyKey).toBe(idempotencyKey);
    });

    it('is taken in portions, each after the last of the one before', async () => {
      const refs = ['portion-1', 'portion-2', 'portion-3'];
      const batch = await scenario.run(refs);
      for (const ref of refs) await batch.lose(ref);
      await batch.close();
      const all = await batch.takeUnknown();
      const ids = all.map(({ invoiceId }) => invoiceId);
      for (const one of all) await lostAgain(one, NOW);

      const second = await batch.takeUnknown({ afterInvoiceId: ids[0] ?? 0, limit: 1 });
      const third = await batch.takeUnknown({ afterInvoiceId: ids[1] ?? 0, limit: 1 });

      expect(ids).toEqual(ids.toSorted((a, b) => a - b));
      expect([...second, ...third].map(({ invoiceId }) => invoiceId)).toEqual(ids.slice(1));
    });

    it('goes to the pages with the same key and bytes when the file is run again', async () => {
      const batch = await closedUnknown('run-again');
      const { idempotencyKey } = await batch.line('run-again');
      await batch.claim({ runId: randomUUID() });

      expect(await ledger.repeatUnknown(batch.batchId, NOW - 1)).toBe(1);
      expect(await ledger.repeatUnknown(batch.batchId, NOW - 1), 'once').toBe(0);

      expect(await batch.one('run-again')).toMatchObject({
        ...{ state: 'sending', generation: 1, idempotencyKey, body: '{"ref":"run-again"}' },
        ...{ mayExist: true, mayExistSince: NOW },
      });
      expect(await ledger.openPages(batch.batchId)).toEqual([1]);
    });

    it('says once that its time is over when no repeat may settle it any more, of its own application alone', async () => {
      const [own, other] = [createScenario(ledger), createScenario(ledger)];
      const [late, others] = [await own.run(['late']), await other.run(['late'])];
      for (const batch of [late, others]) {
        await batch.lose('late');
        await batch.close();
      }
      const over = { code: 'retention-window-over', message: 'over' };
      const end = { application: own.application, now: NOW + HOUR, reason: over, messageAhead: 'ahead' };

      expect(await ledger.endRepeats({ ...end, frozenUntil: NOW - 1 }), 'inside its window').toBe(0);
      expect(await ledger.endRepeats({ ...end, frozenUntil: NOW })).toBe(1);
      expect(await ledger.endRepeats({ ...end, frozenUntil: NOW }), 'once').toBe(0);

      expect(await late.line('late')).toMatchObject({ state: 'unknown', reason: over });
      expect((await others.line('late')).reason).toEqual(REASON);
      expect(await ledger.sinceReport(late.batchId)).toMatchObject({ isFlagged: true, changes: [] });
      expect([await own.outdated(), await other.outdated()]).toEqual([[late.batchId], []]);
      await late.report();
      expect(await own.outdated()).toEqual([]);
    });
  });

  describe('a document without a final word', () => {
    async function closedAccepted(...refs: InvoiceTexts & readonly string[]) {
      const batch = await scenario.run(refs);
      const documents = [];
      for (const ref of refs) documents.push(await batch.accept(ref));
      await batch.close();
      return documents;
    }

    /** Those of these documents that are asked for. */
    async function openOf(all: readonly { serviceId: string }[], over: object = {}) {
      const ids = all.map(({ serviceId }) => serviceId);
      const open = await scenario.openDocuments({ now: TAKE.now, ...over });
      return open.filter(({ serviceId }) => ids.includes(serviceId));
    }

    it('is listed, with the failed event that waits for a GET', async () => {
      const all = await closedAccepted('open', 'open-failed');
      await scenario.hear(all[1]?.serviceId ?? '', 'failed');

      const open = (await openOf(all)).map(({ serviceId, failedEvent }) => [serviceId, failedEvent !== null] as const);
      expect(all.map(({ serviceId }) => new Map(open).get(serviceId))).toEqual([false, true]);
    });

    it('is asked for again after half of its age, unless all are asked for', async () => {
      const all = await closedAccepted('backed-off');
      for (const one of all) await scenario.ask(one, 'processing', { now: NOW + 2 * HOUR });

      expect(await openOf(all, { all: false, now: NOW + 2 * HOUR + 59 * MINUTE })).toEqual([]);
      expect(await openOf(all, { all: false, now: NOW + 3 * HOUR + MINUTE })).toHaveLength(1);
    });

    it('is asked for at once when a failed event waits, however young the last ask is, with its last reason', async () => {
      const all = await closedAccepted('waiting-failed', 'waiting-nothing');
      const [failed = '', nothing = ''] = all.map(({ serviceId }) => serviceId);
      for (const one of all) await scenario.ask(one, 'processing', { now: NOW + HOUR });
      const event = (serviceId: string, verdict: 'failed' | null, code: string) =>
        delivery(serviceId, verdict, { bytes: `${serviceId} ${code}`, reason: { code, message: code } });
      await recordDeliveries(ledger, [event(failed, 'failed', 'first'), event(nothing, null, 'viewed')]);
      await recordDeliveries(ledger, [event(failed, 'failed', 'last')]);

      const last = [{ serviceId: failed, failedEvent: { reason: { code: 'last' } } }];
      expect(await openOf(all, { now: NOW + HOUR + 1, all: false })).toMatchObject(last);
      expect(await ledger.unconfirmedFailures(all[0]?.batch.batchId ?? '', 1, 9)).toMatchObject(last);
    });

    it('is asked for in portions, once its batch is closed', async () => {
      const batch = await scenario.run(['doc-1', 'doc-2', 'doc-3']);
      const all = [];
      for (const ref of ['doc-1', 'doc-2', 'doc-3']) all.push(await batch.accept(ref));
      await batch.report();
      expect(await openOf(all)).toEqual([]);
      await batch.finish();

      const open = await openOf(all);
      const second = await openOf(all, { afterInvoiceId: open[0]?.invoiceId ?? 0, limit: 1 });

      expect(new Set(open.map(({ serviceId }) => serviceId))).toEqual(new Set(all.map(({ serviceId }) => serviceId)));
      expect(open).toHaveLength(all.length);
      expect(second).toEqual(open.slice(1, 2));
    });

    it('is unsettled when it was accepted before the given moment, in a closed batch only', async () => {
      const [closed, running] = [await scenario.run(['silent']), await scenario.run(['silent-running'])];
      await closed.accept('silent', { sentAt: NOW + 77 });
      await running.accept('silent-running', { sentAt: NOW + 77 });
      await closed.close();
      const expire = (acceptedBefore: number) =>
        ledger.expirePending({ application: scenario.application, acceptedBefore, now: NOW + HOUR });

      await expire(NOW + 77);
      expect(await closed.states()).toEqual(['accepted']);
      await expire(NOW + 78);

      expect(await closed.outcomes()).toEqual(['unsettled no-final-answer']);
      expect(await running.states()).toEqual(['accepted']);
    });

    it('is listed for a run of its file once its page has closed', async () => {
      const batch = await scenario.run(['silent-again', 'other']);
      const { serviceId } = await batch.accept('silent-again');
      await batch.closePage({ acceptedBefore: NOW + HOUR, now: NOW + HOUR });
      const list = (afterInvoiceId: number) =>
        ledger.unsettledDocuments({ batchId: batch.batchId, afterInvoiceId, limit: 10 });

      const found = await list(0);

      expect(found).toMatchObject([{ serviceId, failedEvent: null }]);
      expect(await list(found[0]?.invoiceId ?? 0)).toEqual([]);
    });
  });

  describe('an event that was stored and, by a crash, never applied', () => {
    it('is applied, to the invoice and to an earlier generation of one, also where the answer came later', async () => {
      const serviceId = scenario.serviceId(randomUUID());
      const early = await scenario.run(['early']);
      await scenario.hear(serviceId, 'issued');
      await early.lose('early');
      await early.close();
      const batch = await scenario.run(['live', 'past']);
      const live = await batch.accept('live');
      const past = await batch.fail('past');
      await batch.retry();
      await batch.close();
      await ledger.applyMissedEvents();
      for (const one of [live, past]) await scenario.store(one.serviceId, 'issued');

      await ledger.applyMissedEvents();
      expect(await batch.line('live')).toMatchObject({ state: 'issued', serviceId: live.serviceId });
      const flags = ['issued-after-failed'];
      expect(await batch.line('past')).toMatchObject({ state: 'issued', serviceId: past.serviceId, flags });
      const { invoiceId, generation } = await taken(early);
      await scenario.answer(invoiceId, accepted(serviceId), { generation });
      expect(await early.states()).toEqual(['issued']);
      await ledger.applyMissedEvents();
    });

    it('and says failed of an issued invoice is flagged, and its report is out of date', async () => {
      const own = createScenario(ledger);
      const batch = await own.run(['by-event', 'by-get', 'flagged']);
      const byEvent = await batch.issue('by-event');
      const byGet = await batch.accept('by-get');
      await own.ask(byGet, 'issued');
      const flagged = await batch.accept('flagged');
      for (const verdict of ['failed', 'issued'] as const) await own.hear(flagged.serviceId, verdict);
      await batch.close();
      for (const one of [byEvent, byGet]) await own.store(one.serviceId, 'failed');

      await ledger.applyMissedEvents();

      expect((await batch.lines()).map(({ ref, state, flags }) => [ref, state, ...flags].join(' '))).toEqual([
        ...['by-event issued failed-after-issued', 'by-get issued failed-after-issued'],
        'flagged issued issued-after-failed',
      ]);
      expect(await own.outdated()).toEqual([batch.batchId]);
    });
  });
}
