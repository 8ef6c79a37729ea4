import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import type { RecordDelivery } from '../../../../src/domain/ports/ledger/delivery-ledger.ts';
import type { Ledger } from '../../../../src/domain/ports/ledger/ledger.ts';
import type { OpenLedger, Scenario, TestBatch } from '../scenario.ts';
import { accepted, createScenario, delivery, NOW, REASON, serviceIdOf, stage } from '../scenario.ts';

/** Long before anything that another test of the same ledger does. */
const ENDED = 1_000;
const BEFORE = 2_000;

export function purgeContract(open: OpenLedger): void {
  let ledger: Ledger;
  let scenario: Scenario;

  beforeAll(async () => {
    ledger = await open();
    scenario = createScenario(ledger);
  });

  const issue = async (batch: TestBatch, ref: string): Promise<void> => {
    const id = serviceIdOf(scenario, ref);
    await batch.send(ref, accepted(id));
    await ledger.recordDeliveries([delivery(id, 'issued')]);
  };

  const end = (batch: TestBatch): Promise<void> => ledger.setBatchState(batch.batchId, 'finished', ENDED);

  const purge = (dryRun = false) => ledger.purge({ before: BEFORE, dryRun, now: NOW, application: null });

  const idsOf = (purged: Awaited<ReturnType<typeof purge>>): readonly string[] =>
    purged.batches.map(({ batchId }) => batchId);

  /** What people can still read of a line. */
  const wordsOf = async (batch: TestBatch, ordinal = 1) => {
    const details = await ledger.invoiceDetails(batch.batchId, ordinal);
    return { content: details?.content ?? null, bodies: details?.generations.map(({ body }) => body) };
  };

  describe('purge', () => {
    it('removes contents and bytes of what went out and keeps key, fingerprint, state and service id', async () => {
      const batch = await scenario.run([{ ref: 'gone' }]);
      await issue(batch, 'gone');
      await end(batch);
      const before = await batch.line('gone');

      const purged = await purge();

      expect(idsOf(purged)).toContain(batch.batchId);
      expect(purged.contents).toBeGreaterThan(0);
      expect(purged.bodies).toBeGreaterThan(0);
      expect(purged.deliveries).toBeGreaterThan(0);
      expect(await wordsOf(batch)).toEqual({ content: null, bodies: [null] });
      expect(await batch.line('gone')).toEqual(before);
      expect(await ledger.purgedAt(batch.batchId)).toBe(NOW);
    });

    it('changes nothing in a dry run, and says the same as the real one', async () => {
      const batch = await scenario.run([{ ref: 'dry' }]);
      await issue(batch, 'dry');
      await end(batch);
      const before = await wordsOf(batch);

      const dry = await purge(true);

      expect(idsOf(dry)).toContain(batch.batchId);
      expect(await wordsOf(batch)).toEqual(before);
      expect(await ledger.purgedAt(batch.batchId)).toBeNull();
      expect(await purge()).toEqual(dry);
    });

    it('knows the same file after it: closed, nothing to send', async () => {
      const batch = await scenario.run([{ ref: 'same-file' }]);
      await issue(batch, 'same-file');
      await end(batch);
      await purge();

      const claim = await batch.claim({ workflowId: 'later', runId: 'later', batchId: `${batch.batchId}-renamed` });

      expect(claim).toMatchObject({ kind: 'closed', batch: { batchId: batch.batchId } });
      expect(await batch.sendable()).toEqual([]);
    });

    it('knows the same invoice in another file after it: already issued, not sent', async () => {
      const batch = await scenario.run([{ ref: 'again' }]);
      await issue(batch, 'again');
      await end(batch);
      await purge();

      const later = await scenario.run([{ ref: 'again' }]);

      expect(await later.line('again')).toMatchObject({ state: 'already-issued' });
      expect(await later.sendable()).toEqual([]);
    });

    it('knows other content under the same reference after it: conflict, not sent', async () => {
      const batch = await scenario.run([{ ref: 'other' }]);
      await issue(batch, 'other');
      await end(batch);
      await purge();

      const later = await scenario.run([{ ref: 'other', unitPrice: '99' }]);

      expect(await later.line('other')).toMatchObject({ state: 'conflict' });
      expect(await later.sendable()).toEqual([]);
    });

    it('takes a delivery that comes once more for the duplicate that it is', async () => {
      const batch = await scenario.run([{ ref: 'redelivered' }]);
      await issue(batch, 'redelivered');
      await end(batch);
      await purge();

      const again = await ledger.recordDeliveries([delivery(serviceIdOf(scenario, 'redelivered'), 'issued')]);

      expect(again).toMatchObject({ stored: 0, duplicates: 1 });
      expect(await batch.line('redelivered')).toMatchObject({ state: 'issued' });
    });

    it('leaves the content of what is not confirmed as issued: it may be retried', async () => {
      const batch = await scenario.run([{ ref: 'refused' }]);
      await batch.send('refused', { kind: 'rejected', reason: REASON });
      await end(batch);

      await purge();

      const words = await wordsOf(batch);
      expect(words.content).toMatchObject({ ref: 'refused' });
      expect(words.bodies).toEqual([null]);
      expect(await batch.line('refused')).toMatchObject({ state: 'rejected', reason: REASON });
    });

    it.each(['unknown', 'pending'] as const)('leaves a batch with an invoice that is %s as it is', async (kind) => {
      const batch = await scenario.run([{ ref: `open-${kind}` }]);
      const outcome = kind === 'unknown' ? { kind, reason: REASON } : { kind, reason: REASON, mayExist: true };
      await batch.send(`open-${kind}`, outcome);
      await end(batch);

      expect(idsOf(await purge())).not.toContain(batch.batchId);
      expect((await wordsOf(batch)).bodies).toEqual([`{"ref":"open-${kind}"}`]);
    });

    it('leaves what ended later, and what runs', async () => {
      const later = await scenario.run([{ ref: 'later' }]);
      await issue(later, 'later');
      await ledger.setBatchState(later.batchId, 'finished', BEFORE);
      const running = await scenario.run([{ ref: 'running' }]);

      const purged = idsOf(await purge());

      expect(purged).not.toContain(later.batchId);
      expect(purged).not.toContain(running.batchId);
    });

    it('leaves an invoice that a younger batch holds as well', async () => {
      const old = await scenario.run([{ ref: 'shared' }]);
      await issue(old, 'shared');
      await end(old);
      const young = await scenario.begin();
      await stage(ledger, young, { application: scenario.application, texts: [{ ref: 'shared' }] });

      expect(idsOf(await purge())).toContain(old.batchId);
      expect((await wordsOf(young)).content).toMatchObject({ ref: 'shared' });
    });

    it('says that a kept file is no longer needed only when every batch of it is purged and none was opened again', async () => {
      const batch = await scenario.run([{ ref: 'kept' }]);
      await issue(batch, 'kept');
      await end(batch);
      const needed = await ledger.purgedFiles([batch.sha256, 'never-seen'], null);
      await purge();
      const purged = await ledger.purgedFiles([batch.sha256, 'never-seen'], null);

      await ledger.claimBatch({
        ...{ batchId: `${batch.batchId}-elsewhere`, application: `${scenario.application}-2`, file: 'same.csv' },
        ...{ sha256: batch.sha256, workflowId: 'w', runId: 'r', attempt: 1, now: NOW, takeOver: false },
      });

      expect([needed, purged]).toEqual([[], [batch.sha256]]);
      expect(await ledger.purgedFiles([batch.sha256], null), 'another application reads it').toEqual([]);
    });

    it('of one application leaves those of another one as they are, and needs no word of it for the copy of a file', async () => {
      const batch = await scenario.run([{ ref: 'mine' }]);
      await issue(batch, 'mine');
      await end(batch);
      const of = (application: string) => ledger.purge({ before: BEFORE, dryRun: false, now: NOW, application });
      await ledger.claimBatch({
        ...{ batchId: `${batch.batchId}-theirs`, application: `${scenario.application}-3`, file: 'same.csv' },
        ...{ sha256: batch.sha256, workflowId: 'w', runId: 'r', attempt: 1, now: NOW, takeOver: false },
      });

      const theirs = await of(`${scenario.application}-3`);
      expect(idsOf(theirs), 'still open').toEqual([]);
      expect(theirs.others, 'named, and left').toContain(scenario.application);
      expect((await wordsOf(batch)).content).not.toBeNull();
      expect(await ledger.purgedFiles([batch.sha256], scenario.application)).toEqual([]);
      expect(idsOf(await of(scenario.application))).toContain(batch.batchId);
      expect((await of(`${scenario.application}-3`)).others, 'purged').not.toContain(scenario.application);
      expect(await ledger.purgedFiles([batch.sha256], scenario.application)).toEqual([batch.sha256]);
      expect(await ledger.purgedFiles([batch.sha256], `${scenario.application}-3`)).toEqual([]);
    });

    it('keeps which rows are in no invoice, without their words', async () => {
      const batch = await scenario.begin();
      const lost = { row: null, column: null, code: 'rows-lost', message: '1 of 3 rows', severity: 'error' } as const;
      const total = {
        row: 3,
        column: null,
        code: 'totals-row',
        message: `Row 3 ("A \\ "row":9")`,
        severity: 'warning',
      } as const;
      const secret = { row: 2, column: 'x', code: 'other', message: '"code":"totals-row"', severity: 'error' } as const;
      await ledger.finishStaging(batch, {
        ...{ rows: 3, rowsWithoutInvoice: 3, invoices: 0, pageSize: 2, proof: {} },
        fileFindings: [lost, secret, total],
      });
      await end(batch);
      const before = (await purge(true)).findings;

      const { findings } = await purge();

      expect(findings).toBe(before);
      const message = 'It is a totals row and not part of an invoice';
      expect(await ledger.fileFindings(batch.batchId)).toEqual([lost, { ...total, message }]);
    });

    /** How many raw bytes it counts, and how many the next one still finds. */
    const bytesGone = async (): Promise<readonly number[]> => {
      const of = { before: BEFORE, now: NOW, application: scenario.application };
      const counts: number[] = [];
      for (const dryRun of [true, false, true]) {
        // oxlint-disable-next-line no-await-in-loop
        counts.push((await ledger.purge({ ...of, dryRun })).deliveries);
      }
      return counts;
    };

    it('removes bytes that came after the purge of their batch once they are that old, and knows them for ever', async () => {
      const batch = await scenario.run([{ ref: 'told' }]);
      await issue(batch, 'told');
      await end(batch);
      await purge();
      const [young, later] = [BEFORE, BEFORE - 1].map((receivedAt) => [
        delivery(serviceIdOf(scenario, 'told'), 'issued', { bytes: `Maria, at ${receivedAt}`, receivedAt }),
      ]) as [RecordDelivery[], RecordDelivery[]];

      await ledger.recordDeliveries(young);
      expect(await bytesGone()).toEqual([0, 0, 0]);
      await ledger.recordDeliveries(later);
      expect(await bytesGone(), 'all of an invoice go together').toEqual([2, 2, 0]);
      expect(await ledger.recordDeliveries([...young, ...later])).toMatchObject({ stored: 0, duplicates: 2 });
    });

    it('removes the content of what is issued after the purge of its batch, with the bytes that said so', async () => {
      const batch = await scenario.run([{ ref: 'late' }]);
      const id = serviceIdOf(scenario, 'late');
      const { invoiceId } = await batch.freeze('late');
      await ledger.recordSends([{ invoiceId, generation: 1, attempts: 1, sentAt: NOW, outcome: accepted(id) }]);
      await ledger.recordStatus([{ invoiceId, serviceId: id, status: 'failed', reason: REASON, now: NOW }]);
      await end(batch);
      await purge();
      const kept = (await wordsOf(batch)).content;
      await ledger.recordDeliveries([delivery(id, 'issued', { bytes: 'issued after all', receivedAt: BEFORE - 1 })]);

      expect(kept).toMatchObject({ ref: 'late' });
      expect(await bytesGone()).toEqual([1, 1, 0]);
      expect(await wordsOf(batch)).toEqual({ content: null, bodies: [null] });
      expect(await batch.line('late')).toMatchObject({ state: 'issued' });
    });

    it('leaves bytes about an invoice that a batch holds whose words stay, also one that was purged and opened again', async () => {
      const old = await scenario.run([{ ref: 'reopened' }, { ref: 'reopened-refused' }]);
      await issue(old, 'reopened');
      await old.send('reopened-refused', { kind: 'rejected', reason: REASON });
      await end(old);
      await purge();
      const over = { bytes: 'of a batch that was opened again', receivedAt: BEFORE - 1 };
      await ledger.recordDeliveries([delivery(serviceIdOf(scenario, 'reopened'), 'issued', over)]);
      const policy = { maxGenerations: 9, retentionMs: 1, rejectionIsProof: true, acceptDuplicateRisk: true, now: NOW };
      const action = { actionId: randomUUID(), who: null, why: 'test' };
      await ledger.retryInvoices({ batchId: old.batchId, selection: {}, policy, action });
      expect(await old.claim({ runId: 'run-2', now: NOW + 1 })).toMatchObject({ kind: 'resumed' });

      expect(await bytesGone()).toEqual([0, 0, 0]);
    });

    it('removes old bytes that are of no invoice or unreadable, and matches them later all the same', async () => {
      const own = createScenario(ledger);
      const id = serviceIdOf(own, 'nobody');
      const ofOwn = { application: own.application };
      const unread = { ...delivery(null, null, { bytes: `Maria ${id}`, receivedAt: BEFORE - 1 }), event: null };
      const strange = delivery(id, 'issued', { receivedAt: BEFORE - 1 });
      const young = delivery(`${id}-young`, 'issued', { receivedAt: BEFORE });
      const others = delivery(`${id}-others`, 'issued', { receivedAt: BEFORE - 1 });
      await ledger.recordDeliveries([unread, strange, young].map((one) => ({ ...one, ...ofOwn })));
      await ledger.recordDeliveries([{ ...others, application: `${own.application}-2` }]);
      const of = { before: BEFORE, now: NOW, ...ofOwn };

      expect((await ledger.purge({ ...of, dryRun: true })).deliveries).toBe(2);
      expect((await ledger.purge({ ...of, dryRun: false })).deliveries).toBe(2);
      expect((await ledger.purge({ ...of, dryRun: true })).deliveries).toBe(0);

      const batch = await own.run([{ ref: 'nobody' }]);
      await batch.send('nobody', accepted(id));
      expect(await batch.line('nobody')).toMatchObject({ state: 'issued' });
    });

    it.each(['accepted', 'unknown'] as const)(
      'leaves bytes that may be about an invoice that is %s and was frozen before they came',
      async (state) => {
        const own = createScenario(ledger);
        const batch = await own.run([{ ref: 'waits' }]);
        const id = serviceIdOf(own, 'waits');
        await batch.send('waits', state === 'accepted' ? accepted(id) : { kind: 'unknown', reason: REASON });
        const unread = [NOW - 1, NOW + 1].map((receivedAt) => ({
          ...delivery(null, null, { bytes: `${id} ${receivedAt}`, receivedAt }),
          ...{ event: null, application: own.application },
        }));
        await ledger.recordDeliveries(unread);
        const of = { before: NOW + 5, now: NOW + 9, application: own.application };

        expect((await ledger.purge({ ...of, dryRun: false })).deliveries).toBe(1);
        expect((await ledger.purge({ ...of, dryRun: true })).deliveries).toBe(0);
      },
    );

    it('names what is old and stays: what has not ended, and what has invoices that may still go', async () => {
      const open = await scenario.run([{ ref: 'open' }]);
      const held = await scenario.run([{ ref: 'held-1' }, { ref: 'held-2' }, { ref: 'gone-too' }]);
      await issue(held, 'gone-too');
      await ledger.holdUnsent(held.batchId, { reason: REASON, now: NOW });
      await end(held);
      const old = await scenario.run([{ ref: 'old' }]);
      await issue(old, 'old');
      await end(old);
      const of = { before: NOW + 1, now: NOW, application: scenario.application };

      const { staying } = await ledger.purge({ ...of, dryRun: false });

      const own = staying.filter(({ batchId }) => [open, held, old].some((batch) => batch.batchId === batchId));
      expect(own).toEqual([
        { batchId: open.batchId, state: 'running', invoices: 1 },
        { batchId: held.batchId, state: 'finished', invoices: 2 },
      ]);
      expect((await ledger.purge({ ...of, before: 0, dryRun: false })).staying, 'not that old').toEqual([]);
    });

    it('does not purge twice', async () => {
      const batch = await scenario.run([{ ref: 'once' }]);
      await issue(batch, 'once');
      await end(batch);

      expect(idsOf(await purge())).toContain(batch.batchId);
      const { staying: _, ...again } = await purge();
      expect(again).toEqual({ batches: [], contents: 0, bodies: 0, findings: 0, deliveries: 0, others: [] });
    });
  });
}
