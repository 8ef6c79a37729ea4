import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Finding } from '../../../../src/domain/invoice.ts';
import type { Ledger } from '../../../../src/domain/ports/ledger/ledger.ts';
import type { RepeatInvoice, TakeUnknown } from '../../../../src/domain/ports/ledger/reconciling-ledger.ts';
import type { InvoiceText, OpenLedger, Scenario, TestBatch } from '../scenario.ts';
import {
  accepted,
  createScenario,
  delivery,
  finishStaging,
  invalidInvoice,
  invoiceOf,
  NOW,
  REASON,
  serviceIdOf,
  stage,
  validInvoice,
} from '../scenario.ts';

const HOUR = 3_600_000;
/** Long before anything that another test of the same ledger does. */
const ENDED = 1_000;
const BEFORE = 2_000;
const LATER = { code: 'later', message: 'Later' };

const TAKE: Omit<TakeUnknown, 'application'> = {
  now: NOW + HOUR,
  retentionMs: 24 * HOUR,
  staleMs: 600_000,
  all: true,
  afterInvoiceId: 0,
  limit: 10_000,
};

/** What is left when batches have ended: to be settled, reported again, and one day forgotten. */
export function afterBatchesContract(open: OpenLedger): void {
  let ledger: Ledger;
  let scenario: Scenario;
  beforeAll(async () => {
    ledger = await open();
    scenario = createScenario(ledger);
  });

  async function report(batch: TestBatch): Promise<void> {
    const { flags, revision } = await ledger.sinceReport(batch.batchId);
    const left = (await batch.lines()).filter(({ state }) => state !== 'issued');
    await ledger.noteReported(batch.batchId, { revision: revision + 1, writtenAt: NOW, flags, open: left });
  }

  async function unknownOnes(texts: readonly InvoiceText[]): Promise<TestBatch> {
    const batch = await scenario.run(texts);
    for (const { ref } of texts) await batch.send(ref, { kind: 'unknown', reason: REASON });
    await batch.finish();
    await report(batch);
    return batch;
  }

  async function take(batch: TestBatch, over: Partial<TakeUnknown> = {}): Promise<readonly RepeatInvoice[]> {
    const keys = (await batch.lines()).map(({ idempotencyKey }) => idempotencyKey);
    const taken = await ledger.takeUnknown({ ...TAKE, application: scenario.application, ...over });
    return taken.filter(({ idempotencyKey }) => keys.includes(idempotencyKey));
  }

  describe('reconciliation', () => {
    it('goes through the unknown ones in portions, each after the last of the one before', async () => {
      const batch = await unknownOnes([{ ref: 'portion-1' }, { ref: 'portion-2' }, { ref: 'portion-3' }]);
      const all = await take(batch);
      const ids = all.map(({ invoiceId }) => invoiceId);
      for (const { invoiceId, generation } of all)
        await ledger.recordSends([
          { invoiceId, generation, attempts: 1, sentAt: NOW, outcome: { kind: 'unknown', reason: REASON } },
        ]);

      const second = await ledger.takeUnknown({
        ...TAKE,
        application: scenario.application,
        afterInvoiceId: ids[0] ?? 0,
        limit: 1,
      });
      const third = await ledger.takeUnknown({
        ...TAKE,
        application: scenario.application,
        afterInvoiceId: ids[1] ?? 0,
        limit: 1,
      });

      expect(ids).toEqual(ids.toSorted((a, b) => a - b));
      expect([...second, ...third].map(({ invoiceId }) => invoiceId)).toEqual(ids.slice(1));
    });

    it('repeats what a cancelled batch left unknown', async () => {
      const batch = await scenario.run([{ ref: 'of-cancelled' }]);
      await batch.send('of-cancelled', { kind: 'unknown', reason: REASON });
      await ledger.setBatchState(batch.batchId, 'cancelled', NOW);
      await report(batch);

      expect(await take(batch)).toHaveLength(1);
    });

    it('never takes a refusal for proof after a POST whose answer a crash may have lost', async () => {
      const batch = await scenario.run([{ ref: 'crashed-open' }]);
      await batch.freeze('crashed-open');
      await ledger.closePage(batch.batchId, 1, { acceptedBefore: NOW, reason: REASON, now: NOW });
      await batch.finish();
      await report(batch);
      const [{ invoiceId, generation }] = (await take(batch)) as [RepeatInvoice];

      await ledger.recordSends([
        { invoiceId, generation, attempts: 1, sentAt: NOW, outcome: { kind: 'rejected', reason: LATER } },
      ]);

      expect(await batch.line('crashed-open')).toMatchObject({ state: 'unknown', reason: LATER });
    });

    it('leaves what it had begun alone once the batch runs again', async () => {
      const batch = await unknownOnes([{ ref: 'runs-again' }]);
      await take(batch);
      await ledger.reopenBatch({ batchId: batch.batchId, workflowId: 'w', runId: 'r', attempt: 1, takeOver: false });

      await take(batch, { now: NOW + 48 * HOUR });

      expect((await batch.line('runs-again')).state).toBe('sending');
    });

    it('asks for the documents of closed batches only, in portions', async () => {
      const refs = ['doc-1', 'doc-2', 'doc-3'];
      const batch = await scenario.run(refs.map((ref) => ({ ref })));
      const ids = refs.map((ref) => serviceIdOf(scenario, ref));
      for (const [index, ref] of refs.entries()) await batch.send(ref, accepted(ids[index] ?? ''));
      await report(batch);
      const ask = { application: scenario.application, now: TAKE.now, all: true, afterInvoiceId: 0, limit: 10_000 };
      const whileRunning = (await ledger.openDocuments(ask)).filter(({ serviceId }) => ids.includes(serviceId));
      await batch.finish();

      const all = (await ledger.openDocuments(ask)).filter(({ serviceId }) => ids.includes(serviceId));
      const second = await ledger.openDocuments({ ...ask, afterInvoiceId: all[0]?.invoiceId ?? 0, limit: 1 });

      expect(whileRunning).toEqual([]);
      expect(all.map(({ serviceId }) => serviceId).toSorted()).toEqual(ids);
      expect(second).toEqual(all.slice(1, 2));
    });

    it('asks at once when a failed event waits, however young the last ask is, and hands its last reason over', async () => {
      const batch = await scenario.run([{ ref: 'waiting-failed' }, { ref: 'waiting-nothing' }]);
      const [failed, nothing] = [serviceIdOf(scenario, 'waiting-failed'), serviceIdOf(scenario, 'waiting-nothing')];
      await batch.send('waiting-failed', accepted(failed));
      await batch.send('waiting-nothing', accepted(nothing));
      await batch.finish();
      await report(batch);
      const silent = await ledger.pendingInvoices(batch.batchId, 1, NOW + 1, 9);
      await ledger.recordStatus(
        silent.map(({ invoiceId, serviceId }) => ({
          invoiceId,
          serviceId,
          status: 'processing',
          reason: null,
          now: NOW + HOUR,
        })),
      );
      const event = (serviceId: string, verdict: 'failed' | null, code: string) =>
        delivery(serviceId, verdict, { bytes: `${serviceId} ${code}`, reason: { code, message: code } });
      await ledger.recordDeliveries([event(failed, 'failed', 'first'), event(nothing, null, 'viewed')]);
      await ledger.recordDeliveries([event(failed, 'failed', 'last')]);

      const asked = await ledger.openDocuments({
        application: scenario.application,
        now: NOW + HOUR + 1,
        all: false,
        afterInvoiceId: 0,
        limit: 10_000,
      });
      const mine = asked.filter(({ serviceId }) => serviceId === failed || serviceId === nothing);

      expect(mine.map(({ serviceId, failedEvent }) => [serviceId, failedEvent?.reason?.code])).toEqual([
        [failed, 'last'],
      ]);
      expect(await ledger.unconfirmedFailures(batch.batchId, 1, 9)).toMatchObject([
        { serviceId: failed, reason: { code: 'last' } },
      ]);
    });

    it('calls silent only what was accepted before the given moment, and only in closed batches', async () => {
      const closed = await scenario.run([{ ref: 'silent-closed' }]);
      const running = await scenario.run([{ ref: 'silent-running' }]);
      for (const [batch, ref] of [
        [closed, 'silent-closed'],
        [running, 'silent-running'],
      ] as const) {
        await batch.send(ref, accepted(serviceIdOf(scenario, ref)), { sentAt: NOW + 77 });
        if (batch === closed) await batch.finish();
        await report(batch);
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
      const first = await scenario.run([{ ref: 'not-unmatched' }]);
      const serviceId = serviceIdOf(scenario, 'not-unmatched');
      const { invoiceId } = await first.freeze('not-unmatched');
      await ledger.recordSends([{ invoiceId, generation: 1, attempts: 1, sentAt: NOW, outcome: accepted(serviceId) }]);
      await ledger.recordStatus([{ invoiceId, serviceId, status: 'failed', reason: REASON, now: NOW }]);
      await scenario.run([{ ref: 'not-unmatched', unitPrice: '99' }]);
      const before = await ledger.unmatchedDeliveries();

      await ledger.recordDeliveries([
        delivery(serviceId, 'failed'),
        delivery(null, 'issued', { bytes: randomUUID() }),
        delivery(serviceIdOf(scenario, 'nobody-viewed'), null),
      ]);
      const still = await ledger.unmatchedDeliveries();
      await ledger.recordDeliveries([delivery(serviceIdOf(scenario, 'nobody'), 'issued')]);

      expect(still).toBe(before);
      expect(await ledger.unmatchedDeliveries()).toBe(before + 1);
    });
  });

  describe('a page of several batches', () => {
    it('waits for what a closed batch sent, and not for what a cancelled one did not', async () => {
      const owner = await scenario.run([{ ref: 'sent-by-other' }, { ref: 'left-by-other' }]);
      const batch = await scenario.run([{ ref: 'sent-by-other' }, { ref: 'left-by-other' }]);
      await owner.send('sent-by-other', accepted(serviceIdOf(scenario, 'sent-by-other')));
      expect(await ledger.pageProgress(batch.batchId, 1)).toMatchObject({ accepted: 1, attached: 1 });

      await ledger.setBatchState(owner.batchId, 'cancelled', NOW);

      expect(await ledger.pageProgress(batch.batchId, 1)).toMatchObject({ accepted: 1, attached: 0, unsent: 0 });
      expect(await ledger.openPages(batch.batchId)).toEqual([1]);
      await ledger.recordDeliveries([delivery(serviceIdOf(scenario, 'sent-by-other'), 'issued')]);
      expect(await ledger.openPages(batch.batchId)).toEqual([]);
    });

    it('knows its oldest and its newest acceptance', async () => {
      const batch = await scenario.run([{ ref: 'age-1' }, { ref: 'age-2' }, { ref: 'age-3' }], 3);
      for (const [index, ref] of ['age-2', 'age-3', 'age-1'].entries())
        await batch.send(ref, accepted(serviceIdOf(scenario, ref)), { sentAt: NOW + index * 10 });

      expect(await ledger.pageProgress(batch.batchId, 1)).toMatchObject({
        oldestAcceptedAt: NOW,
        newestAcceptedAt: NOW + 20,
      });
    });

    it('is handed out to another batch, or to another slice, without making an open POST a lost one', async () => {
      const owner = await scenario.run([{ ref: 'open-here' }, { ref: 'beside-it' }]);
      const attached = await scenario.run([{ ref: 'open-here' }]);
      const { invoiceId } = await owner.freeze('open-here');

      await attached.sendable();
      await ledger.sendable(owner.batchId, 2, 2);
      await ledger.recordSends([
        { invoiceId, generation: 1, attempts: 1, sentAt: NOW, outcome: { kind: 'rejected', reason: REASON } },
      ]);

      expect((await owner.line('open-here')).state).toBe('rejected');
    });

    it('takes the name and address that the file gives first, each by itself', async () => {
      const nif = `5${Date.now()}`;
      const batch = await scenario.run([
        { ref: 'name-0', nif },
        { ref: 'name-1', nif, legalName: 'First, Lda' },
        { ref: 'name-2', nif, legalName: 'Second, Lda', email: 'second@example.pt' },
        { ref: 'name-3', nif, legalName: 'Third, Lda', email: 'third@example.pt' },
      ]);

      expect(await ledger.merchantsNeeded(batch.batchId)).toEqual([
        { nif, legalName: 'First, Lda', email: 'second@example.pt' },
      ]);
    });
  });

  describe('questions of a page', () => {
    it('name as silent only what waits for a final word', async () => {
      const batch = await scenario.run([{ ref: 'q-issued' }, { ref: 'q-unsettled' }, { ref: 'q-waits' }], 3);
      for (const ref of ['q-issued', 'q-unsettled', 'q-waits'])
        await batch.send(ref, accepted(serviceIdOf(scenario, ref)), { sentAt: ref === 'q-waits' ? NOW + 10 : NOW });
      await ledger.recordDeliveries([delivery(serviceIdOf(scenario, 'q-issued'), 'issued')]);
      await ledger.closePage(batch.batchId, 1, { acceptedBefore: NOW + 1, reason: REASON, now: NOW });

      const silent = await ledger.pendingInvoices(batch.batchId, 1, NOW + 99, 9);

      expect(silent.map(({ serviceId }) => serviceId)).toEqual([serviceIdOf(scenario, 'q-waits')]);
    });

    it('name failures to be confirmed with the fewest asks first, at most as many as wanted', async () => {
      const refs = ['u-1', 'u-2', 'u-3'];
      const batch = await scenario.run(
        refs.map((ref) => ({ ref })),
        3,
      );
      for (const ref of refs) await batch.send(ref, accepted(serviceIdOf(scenario, ref)));
      await ledger.recordDeliveries(refs.map((ref) => delivery(serviceIdOf(scenario, ref), 'failed')));
      const [first] = await ledger.unconfirmedFailures(batch.batchId, 1, 1);
      if (first === undefined) throw new Error('a failure to confirm was expected');
      await ledger.recordStatus([{ ...first, status: 'processing', reason: null, now: NOW }]);

      const asked = await ledger.unconfirmedFailures(batch.batchId, 1, 2);

      expect([first, ...asked].map(({ serviceId }) => serviceId)).toEqual(
        refs.map((ref) => serviceIdOf(scenario, ref)),
      );
      expect(await ledger.unconfirmedFailures(batch.batchId, 1, 9)).toHaveLength(3);
    });

    it('say since when a POST may have arrived only of one that may have', async () => {
      const batch = await scenario.run([{ ref: 'since-none' }]);
      await batch.send('since-none', { kind: 'pending', reason: LATER, mayExist: false });

      expect(await batch.one('since-none')).toMatchObject({ state: 'sending', mayExist: false, mayExistSince: null });
    });

    it('are not asked of a file that is still being read, though its invoice settles', async () => {
      const owner = await scenario.run([{ ref: 'settles-early' }]);
      const reading = await scenario.begin();
      await ledger.stageInvoices(
        reading,
        [validInvoice(scenario.application, invoiceOf({ ref: 'settles-early' }), 1)],
        NOW,
      );
      const serviceId = serviceIdOf(scenario, 'settles-early');
      await owner.send('settles-early', accepted(serviceId));

      const { settled } = await ledger.recordDeliveries([delivery(serviceId, 'issued')]);

      expect(settled.map(({ batchId }) => batchId)).toEqual([owner.batchId]);
    });
  });

  it('a held invoice that the next file takes over leaves its reason behind', async () => {
    const first = await scenario.run([{ ref: 'reason-behind' }]);
    await ledger.holdUnsent(first.batchId, { reason: REASON, now: NOW });
    await first.finish();

    const second = await scenario.run([{ ref: 'reason-behind' }]);

    expect(await second.line('reason-behind')).toMatchObject({ state: 'staged', reason: null });
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

    expect(await ledger.findEndpoint(baseUrl, application, endpoint('two').url)).toEqual(endpoint('two'));
    expect(await ledger.webhookSecrets(baseUrl, application)).toEqual(['three', 'two', 'one']);
  });

  describe('a purge', () => {
    const purge = () => ledger.purge({ before: BEFORE, dryRun: false, now: NOW, application: null });
    const idsOf = (purged: Awaited<ReturnType<typeof purge>>) => purged.batches.map(({ batchId }) => batchId);

    async function issue(batch: TestBatch, ref: string): Promise<void> {
      const serviceId = serviceIdOf(scenario, `${ref}-${randomUUID()}`);
      await batch.send(ref, accepted(serviceId));
      await ledger.recordDeliveries([delivery(serviceId, 'issued')]);
    }

    async function failedIn(batch: TestBatch, ref: string): Promise<void> {
      const serviceId = serviceIdOf(scenario, `${ref}-${randomUUID()}`);
      const { invoiceId, generation } = await batch.freeze(ref);
      await ledger.recordSends([{ invoiceId, generation, attempts: 1, sentAt: NOW, outcome: accepted(serviceId) }]);
      await ledger.recordStatus([{ invoiceId, serviceId, status: 'failed', reason: REASON, now: NOW }]);
    }

    const end = (batch: TestBatch) => ledger.setBatchState(batch.batchId, 'finished', ENDED);

    async function words(batch: TestBatch) {
      const details = await ledger.invoiceDetails(batch.batchId, 1);
      return { content: details?.content?.ref ?? null, bodies: details?.generations.map(({ body }) => body) };
    }

    it('waits for the end of a batch that runs, however old it is', async () => {
      const running = await scenario.run([{ ref: 'runs' }]);
      await issue(running, 'runs');
      const finished = await scenario.run([{ ref: 'ran' }]);
      await issue(finished, 'ran');
      await finished.finish();

      const { batches } = await ledger.purge({ before: NOW * 2, dryRun: true, now: NOW, application: null });

      const ids = batches.map(({ batchId }) => batchId);
      expect(ids).toContain(finished.batchId);
      expect(ids).not.toContain(running.batchId);
    });

    it('reaches batches that were cancelled and files that were refused', async () => {
      const cancelled = await scenario.run([{ ref: 'purge-cancelled' }]);
      await issue(cancelled, 'purge-cancelled');
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
      const batch = await scenario.run([{ ref: 'ran-again' }]);
      await failedIn(batch, 'ran-again');
      await end(batch);
      await purge();
      await ledger.reopenBatch({ batchId: batch.batchId, workflowId: 'w', runId: 'r', attempt: 1, takeOver: false });
      await ledger.setBatchState(batch.batchId, 'finished', NOW + 500);

      const again = await ledger.purge({ before: NOW + 501, dryRun: true, now: NOW + 900, application: null });

      expect(idsOf(again)).toContain(batch.batchId);
    });

    it('does not wait for what a later batch has corrected', async () => {
      const first = await scenario.run([{ ref: 'corrected' }]);
      await failedIn(first, 'corrected');
      await end(first);
      const second = await scenario.run([{ ref: 'corrected', unitPrice: '99' }]);

      expect(idsOf(await purge())).toContain(first.batchId);
      expect((await words(second)).content).toBe('corrected');
    });

    it('removes what two batches held once both are gone, whichever went first', async () => {
      const old = await scenario.run([{ ref: 'held-by-two' }]);
      await issue(old, 'held-by-two');
      await end(old);
      const young = await scenario.run([{ ref: 'held-by-two' }]);
      await purge();
      const between = await words(young);
      await end(young);
      await purge();

      expect(between.content).toBe('held-by-two');
      expect(between.bodies).toEqual(['{"ref":"held-by-two"}']);
      expect(await words(young)).toEqual({ content: null, bodies: [null] });
    });

    it('removes the earlier content of a corrected invoice, and keeps the one that may be retried', async () => {
      const first = await scenario.run([{ ref: 'two-contents' }]);
      await failedIn(first, 'two-contents');
      const second = await scenario.run([{ ref: 'two-contents', unitPrice: '99' }]);
      await failedIn(second, 'two-contents');
      await end(first);
      await end(second);

      await purge();

      expect(await words(first)).toEqual({ content: null, bodies: [null, null] });
      expect(await words(second)).toEqual({ content: 'two-contents', bodies: [null, null] });
    });

    it('touches neither findings nor words of a batch that stays', async () => {
      const gone = await scenario.run([{ ref: 'gone' }]);
      await issue(gone, 'gone');
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
      await finishStaging(ledger, batch, { invoices: 1, pageSize: 2 });
      await end(batch);

      await purge();

      expect((await batch.lines())[0]).toMatchObject({
        state: 'invalid',
        findings: [],
        reason: { code: 'quantity-unreadable' },
      });
    });

    it('lets nobody issue again what it has forgotten, under a retry neither', async () => {
      const batch = await scenario.run([{ ref: 'forgotten' }]);
      await issue(batch, 'forgotten');
      await end(batch);
      await purge();
      const later = await scenario.begin();
      await stage(ledger, later, { application: scenario.application, texts: [{ ref: 'forgotten' }] });
      const policy = { maxGenerations: 9, retentionMs: 1, rejectionIsProof: true, acceptDuplicateRisk: true, now: NOW };
      const action = { actionId: randomUUID(), who: null, why: 'test' };

      for (const { batchId } of [batch, later]) {
        const { moved } = await ledger.retryInvoices({ batchId, selection: { rows: [2] }, policy, action });
        expect(moved).toEqual({ release: 0, regenerate: 0, repeat: 0, abandon: 0 });
        expect(await ledger.sendable(batchId, 1, 9)).toEqual([]);
      }
    });
  });
}
