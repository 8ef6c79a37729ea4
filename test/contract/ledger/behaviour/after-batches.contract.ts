import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Finding } from '../../../../src/domain/invoice.ts';
import {
  accepted,
  createScenario,
  delivery,
  HOUR,
  invalidInvoice,
  type InvoiceText,
  LATER,
  NOW,
  REASON,
  TAKE,
  type TestBatch,
  recordDeliveries,
} from '../scenario.ts';
import type { Ledger } from '../../../../src/ledger/ledger.ts';

/** Long before anything that another test of the same ledger does. */
const ENDED = 1_000;
const BEFORE = 2_000;

/** What is left when batches have ended: to be settled, reported again, and one day forgotten. */
export function afterBatchesContract(ledger: Ledger): void {
  const scenario = createScenario(ledger);

  async function unknownOnes(texts: readonly InvoiceText[]): Promise<TestBatch> {
    const batch = await scenario.run(texts);
    for (const { ref } of texts) await batch.send(ref, { kind: 'unknown', reason: REASON });
    await batch.close();
    return batch;
  }

  const reopen = ({ batchId }: TestBatch) =>
    ledger.reopenBatch({ batchId, workflowId: 'w', runId: 'r', attempt: 1, takeOver: false, endsStop: true });

  describe('reconciliation', () => {
    it('goes through the unknown ones in portions, each after the last of the one before', async () => {
      const batch = await unknownOnes([{ ref: 'portion-1' }, { ref: 'portion-2' }, { ref: 'portion-3' }]);
      const all = await batch.takeUnknown();
      const ids = all.map(({ invoiceId }) => invoiceId);
      for (const { invoiceId, generation } of all)
        await scenario.answer(invoiceId, { kind: 'unknown', reason: REASON }, { generation });

      const second = await batch.takeUnknown({ afterInvoiceId: ids[0] ?? 0, limit: 1 });
      const third = await batch.takeUnknown({ afterInvoiceId: ids[1] ?? 0, limit: 1 });

      expect(ids).toEqual(ids.toSorted((a, b) => a - b));
      expect([...second, ...third].map(({ invoiceId }) => invoiceId)).toEqual(ids.slice(1));
    });

    it('repeats what a cancelled batch left unknown', async () => {
      const batch = await scenario.run(['of-cancelled']);
      await batch.send('of-cancelled', { kind: 'unknown', reason: REASON });
      await ledger.setBatchState(batch.batchId, 'cancelled', NOW);
      await batch.report();

      expect(await batch.takeUnknown()).toHaveLength(1);
    });

    it('leaves what it had begun alone once the batch runs again', async () => {
      const batch = await unknownOnes([{ ref: 'runs-again' }]);
      await batch.takeUnknown();
      await reopen(batch);

      await batch.takeUnknown({ now: NOW + 48 * HOUR });

      expect((await batch.line('runs-again')).state).toBe('sending');
    });

    it('asks for the documents of closed batches only, in portions', async () => {
      const refs = ['doc-1', 'doc-2', 'doc-3'];
      const batch = await scenario.run(refs);
      const ids = refs.map((ref) => scenario.serviceId(ref));
      for (const [index, ref] of refs.entries()) await batch.send(ref, accepted(ids[index] ?? ''));
      await batch.report();
      const whileRunning = (await scenario.openDocuments({ now: TAKE.now })).filter(({ serviceId }) =>
        ids.includes(serviceId),
      );
      await batch.finish();

      const all = (await scenario.openDocuments({ now: TAKE.now })).filter(({ serviceId }) => ids.includes(serviceId));
      const second = await scenario.openDocuments({ now: TAKE.now, afterInvoiceId: all[0]?.invoiceId ?? 0, limit: 1 });

      expect(whileRunning).toEqual([]);
      expect(all.map(({ serviceId }) => serviceId).toSorted()).toEqual(ids);
      expect(second).toEqual(all.slice(1, 2));
    });

    it('asks at once when a failed event waits, however young the last ask is, and hands its last reason over', async () => {
      const batch = await scenario.run(['waiting-failed', 'waiting-nothing']);
      const [failed, nothing] = [scenario.serviceId('waiting-failed'), scenario.serviceId('waiting-nothing')];
      await batch.send('waiting-failed', accepted(failed));
      await batch.send('waiting-nothing', accepted(nothing));
      await batch.close();
      for (const one of await ledger.pendingInvoices(batch.batchId, 1, NOW + 1, 9))
        await scenario.ask(one, 'processing', { now: NOW + HOUR });
      const event = (serviceId: string, verdict: 'failed' | null, code: string) =>
        delivery(serviceId, verdict, { bytes: `${serviceId} ${code}`, reason: { code, message: code } });
      await recordDeliveries(ledger, [event(failed, 'failed', 'first'), event(nothing, null, 'viewed')]);
      await recordDeliveries(ledger, [event(failed, 'failed', 'last')]);

      const asked = await scenario.openDocuments({ now: NOW + HOUR + 1, all: false });
      const mine = asked.filter(({ serviceId }) => serviceId === failed || serviceId === nothing);

      expect(mine.map(({ serviceId, failedEvent }) => [serviceId, failedEvent?.reason?.code])).toEqual([
        [failed, 'last'],
      ]);
      expect(await ledger.unconfirmedFailures(batch.batchId, 1, 9)).toMatchObject([
        { serviceId: failed, failedEvent: { reason: { code: 'last' } } },
      ]);
    });

    it('calls silent only what was accepted before the given moment, and only in closed batches', async () => {
      const closed = await scenario.run(['silent-closed']);
      const running = await scenario.run(['silent-running']);
      for (const [batch, ref] of [
        [closed, 'silent-closed'],
        [running, 'silent-running'],
      ] as const) {
        await batch.send(ref, accepted(scenario.serviceId(ref)), { sentAt: NOW + 77 });
        if (batch === closed) await batch.close();
      }

      await ledger.expirePending({ application: scenario.application, acceptedBefore: NOW + 77, now: NOW + HOUR });
      const at = (await closed.line('silent-closed')).state;
      await ledger.expirePending({ application: scenario.application, acceptedBefore: NOW + 78, now: NOW + HOUR });

      expect(at).toBe('accepted');
      expect(await closed.line('silent-closed')).toMatchObject({
        state: 'unsettled',
        reason: { code: 'no-final-answer' },
      });
      expect((await running.line('silent-running')).state).toBe('accepted');
    });
  });

  describe('unmatched deliveries', () => {
    it('are those about documents that nobody has nor had, and nothing else', async () => {
      const first = await scenario.run(['not-unmatched']);
      const serviceId = scenario.serviceId('not-unmatched');
      const { invoiceId } = await first.freeze('not-unmatched');
      await scenario.answer(invoiceId, accepted(serviceId));
      await scenario.ask({ invoiceId, serviceId }, 'failed', { reason: REASON, now: NOW });
      await scenario.run([{ ref: 'not-unmatched', unitPrice: '99' }]);
      const before = (await ledger.deliveryTrouble(0)).unknownIds;

      await recordDeliveries(ledger, [
        delivery(serviceId, 'failed'),
        delivery(null, 'issued', { bytes: randomUUID() }),
        delivery(scenario.serviceId('nobody-viewed'), null),
      ]);
      const still = (await ledger.deliveryTrouble(0)).unknownIds;
      await recordDeliveries(ledger, [delivery(scenario.serviceId('nobody'), 'issued')]);

      expect(still).toBe(before);
      expect((await ledger.deliveryTrouble(0)).unknownIds).toBe(before + 1);
    });
  });

  describe('a page of several batches', () => {
    it('waits for what a closed batch sent, and not for what a cancelled one did not', async () => {
      const owner = await scenario.run(['sent-by-other', 'left-by-other']);
      const batch = await scenario.run(['sent-by-other', 'left-by-other']);
      await owner.send('sent-by-other', accepted(scenario.serviceId('sent-by-other')));
      expect(await ledger.pageProgress(batch.batchId, 1)).toMatchObject({ accepted: 1, attached: 1 });

      await ledger.setBatchState(owner.batchId, 'cancelled', NOW);

      expect(await ledger.pageProgress(batch.batchId, 1)).toMatchObject({ accepted: 1, attached: 0, unsent: 0 });
      expect(await ledger.openPages(batch.batchId)).toEqual([1]);
      await recordDeliveries(ledger, [delivery(scenario.serviceId('sent-by-other'), 'issued')]);
      expect(await ledger.openPages(batch.batchId)).toEqual([]);
    });

    it('is handed out to another batch, or to another slice, without making an open POST a lost one', async () => {
      const owner = await scenario.run(['open-here', 'beside-it']);
      const attached = await scenario.run(['open-here']);
      const { invoiceId } = await owner.freeze('open-here');

      await attached.sendable();
      await ledger.sendable(owner.batchId, 2, 2);
      await scenario.answer(invoiceId, { kind: 'rejected', reason: REASON });

      expect((await owner.line('open-here')).state).toBe('rejected');
    });
  });

  describe('questions of a page', () => {
    it('name as silent only what waits for a final word', async () => {
      const batch = await scenario.run(['q-issued', 'q-unsettled', 'q-waits'], 3);
      for (const ref of ['q-issued', 'q-unsettled', 'q-waits'])
        await batch.send(ref, accepted(scenario.serviceId(ref)), { sentAt: ref === 'q-waits' ? NOW + 10 : NOW });
      await recordDeliveries(ledger, [delivery(scenario.serviceId('q-issued'), 'issued')]);
      await ledger.closePage(batch.batchId, 1, { acceptedBefore: NOW + 1, reason: REASON, now: NOW });

      const silent = await ledger.pendingInvoices(batch.batchId, 1, NOW + 99, 9);

      expect(silent.map(({ serviceId }) => serviceId)).toEqual([scenario.serviceId('q-waits')]);
    });

    it('name failures to be confirmed with the fewest asks first, at most as many as wanted', async () => {
      const refs = ['u-1', 'u-2', 'u-3'];
      const batch = await scenario.run(refs, 3);
      for (const ref of refs) await batch.send(ref, accepted(scenario.serviceId(ref)));
      await recordDeliveries(
        ledger,
        refs.map((ref) => delivery(scenario.serviceId(ref), 'failed')),
      );
      const [first] = await ledger.unconfirmedFailures(batch.batchId, 1, 1);
      if (first === undefined) throw new Error('a failure to confirm was expected');
      await ledger.recordStatus([{ ...first, status: 'processing', reason: null, now: NOW }]);

      const asked = await ledger.unconfirmedFailures(batch.batchId, 1, 2);

      expect([first, ...asked].map(({ serviceId }) => serviceId)).toEqual(refs.map((ref) => scenario.serviceId(ref)));
      expect(await ledger.unconfirmedFailures(batch.batchId, 1, 9)).toHaveLength(3);
    });

    it('say since when a POST may have arrived only of one that may have', async () => {
      const batch = await scenario.run(['since-none']);
      await batch.send('since-none', { kind: 'pending', reason: LATER, mayExist: false });

      expect(await batch.one('since-none')).toMatchObject({ state: 'sending', mayExist: false, mayExistSince: null });
    });

    it('are not asked of a file that is still being read, though its invoice settles', async () => {
      const owner = await scenario.run(['settles-early']);
      const reading = await scenario.begin();
      await reading.read('settles-early');
      const serviceId = scenario.serviceId('settles-early');
      await owner.send('settles-early', accepted(serviceId));

      const { settled } = await recordDeliveries(ledger, [delivery(serviceId, 'issued')]);

      expect(settled.map(({ batchId }) => batchId)).toEqual([owner.batchId]);
    });
  });

  it('a cancelled batch keeps the time of its end, whatever a late pause says', async () => {
    const batch = await scenario.run([]);
    await ledger.setBatchState(batch.batchId, 'cancelled', NOW + 5);

    await ledger.setBatchState(batch.batchId, 'paused', NOW + 6);
    await ledger.setBatchState(batch.batchId, 'running', NOW + 7);

    expect(await batch.record()).toMatchObject({ state: 'cancelled', finishedAt: NOW + 5 });
  });

  it('two addresses that were registered at once are told apart, the later one first', async () => {
    const { application } = scenario;
    const baseUrl = `https://${randomUUID()}.example`;
    const endpoint = (name: string) => ({ baseUrl, application, url: `https://${name}.example/`, secret: name });
    for (const name of ['one', 'two', 'three']) await ledger.saveEndpoint(endpoint(name), NOW);

    expect(await ledger.webhookSecrets(baseUrl, application)).toEqual(['three', 'two', 'one']);
  });

  describe('a purge', () => {
    const purge = () => ledger.purge({ before: BEFORE, dryRun: false, now: NOW, application: null });
    const idsOf = (purged: Awaited<ReturnType<typeof purge>>) => purged.batches.map(({ batchId }) => batchId);

    const end = (batch: TestBatch) => ledger.setBatchState(batch.batchId, 'finished', ENDED);

    async function words(batch: TestBatch) {
      const details = await ledger.invoiceDetails(batch.batchId, 1);
      return { content: details?.content?.ref ?? null, bodies: details?.generations.map(({ body }) => body) };
    }

    it('reaches batches that were cancelled and files that were refused', async () => {
      const cancelled = await scenario.run(['purge-cancelled']);
      await cancelled.issue('purge-cancelled');
      await ledger.setBatchState(cancelled.batchId, 'cancelled', ENDED);
      const refused = await scenario.begin();
      const finding: Finding = { row: 1, column: null, code: 'x', message: 'Maria', severity: 'error' };
      await ledger.refuseBatch(refused, { rows: 1, fileFindings: [finding], proof: {}, now: ENDED });

      const ids = idsOf(await purge());

      expect(ids).toEqual(expect.arrayContaining([cancelled.batchId, refused.batchId]));
      expect(await words(cancelled)).toEqual({ content: null, bodies: [null] });
      expect(await ledger.fileFindings(refused.batchId)).toEqual([]);
    });

    it('comes again for a batch that ran again after it', async () => {
      const batch = await scenario.run(['ran-again']);
      await batch.fail('ran-again');
      await end(batch);
      await purge();
      await reopen(batch);
      await ledger.setBatchState(batch.batchId, 'finished', NOW + 500);

      const again = await ledger.purge({ before: NOW + 501, dryRun: true, now: NOW + 900, application: null });

      expect(idsOf(again)).toContain(batch.batchId);
    });

    it('does not wait for what a later batch has corrected', async () => {
      const first = await scenario.run(['corrected']);
      await first.fail('corrected');
      await end(first);
      const second = await scenario.run([{ ref: 'corrected', unitPrice: '99' }]);

      expect(idsOf(await purge())).toContain(first.batchId);
      expect((await words(second)).content).toBe('corrected');
    });

    it('removes what two batches held once both are gone, whichever went first', async () => {
      const old = await scenario.run(['held-by-two']);
      await old.issue('held-by-two');
      await end(old);
      const young = await scenario.run(['held-by-two']);
      await purge();
      const between = await words(young);
      await end(young);
      await purge();

      expect(between.content).toBe('held-by-two');
      expect(between.bodies).toEqual(['{"ref":"held-by-two"}']);
      expect(await words(young)).toEqual({ content: null, bodies: [null] });
    });

    it('removes the earlier content of a corrected invoice, and keeps the one that may be retried', async () => {
      const first = await scenario.run(['two-contents']);
      await first.fail('two-contents');
      const second = await scenario.run([{ ref: 'two-contents', unitPrice: '99' }]);
      await second.fail('two-contents');
      await end(first);
      await end(second);

      await purge();

      expect(await words(first)).toEqual({ content: null, bodies: [null, null] });
      expect(await words(second)).toEqual({ content: 'two-contents', bodies: [null, null] });
    });

    it('touches neither findings nor words of a batch that stays', async () => {
      const gone = await scenario.run(['gone']);
      await gone.issue('gone');
      await end(gone);
      const stays = await scenario.begin();
      const finding: Finding = { row: 9, column: null, code: 'totals-row', message: 'A totals row', severity: 'info' };
      await ledger.stageInvoices(stays, [invalidInvoice(1)], NOW);
      const counts = { rows: 2, rowsWithoutInvoice: 1, invoices: 1, pageSize: 2, proof: {} };
      await ledger.finishStaging(stays, { ...counts, fileFindings: [finding] });
      const before = await stays.lines();

      await purge();

      expect(await ledger.purgedAt(gone.batchId)).toBe(NOW);
      expect(await ledger.purgedAt(stays.batchId)).toBeNull();
      expect(await ledger.fileFindings(stays.batchId)).toEqual([finding]);
      expect(await stays.lines()).toEqual(before);
    });

    it('keeps why an invalid invoice was invalid, without the words of the file', async () => {
      const batch = await scenario.begin();
      await ledger.stageInvoices(batch, [invalidInvoice(1)], NOW);
      await batch.finishStaging(1);
      await end(batch);

      await purge();

      expect((await batch.lines())[0]).toMatchObject({
        state: 'invalid',
        findings: [],
        reason: { code: 'quantity-unreadable' },
      });
    });
  });
}
