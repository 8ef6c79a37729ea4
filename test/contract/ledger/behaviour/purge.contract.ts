import { describe, expect, it } from 'vitest';
import { accepted, createScenario, delivery, NOW, REASON, type TestBatch, recordDeliveries } from '../scenario.ts';
import type { Ledger } from '../../../../src/ledger/ledger.ts';

/** Long before anything that another test of the same ledger does. */
const ENDED = 1_000;
const BEFORE = 2_000;
/** After all that was settled. */
const PURGED = NOW + 60_000;

export function purgeContract(ledger: Ledger): void {
  const scenario = createScenario(ledger);

  const end = (batch: TestBatch): Promise<void> => ledger.setBatchState(batch.batchId, 'finished', ENDED);

  const purge = (dryRun = false) => ledger.purge({ before: BEFORE, dryRun, now: PURGED, application: null });

  const idsOf = (purged: Awaited<ReturnType<typeof purge>>): readonly string[] =>
    purged.batches.map(({ batchId }) => batchId);

  /** What people can still read of a line. */
  const wordsOf = async (batch: TestBatch, ordinal = 1) => {
    const details = await ledger.invoiceDetails(batch.batchId, ordinal);
    return { content: details?.content ?? null, bodies: details?.generations.map(({ body }) => body) };
  };

  /** A batch that has ended with its one invoice issued. */
  async function ended(ref: string): Promise<TestBatch> {
    const batch = await scenario.run([ref]);
    await batch.issue(ref);
    await end(batch);
    return batch;
  }

  /** The same file, of another application. */
  function claimElsewhere({ batchId, sha256 }: TestBatch, application: string) {
    const run = { workflowId: 'w', runId: 'r', attempt: 1, takeOver: false, order: 'person' } as const;
    return ledger.claimBatch({
      ...run,
      ...{ batchId: `${batchId}-${application}`, application, file: 'same.csv', sha256, now: NOW },
    });
  }

  describe('purge', () => {
    it('removes contents and bytes of what went out and keeps key, fingerprint, state and service id', async () => {
      const batch = await ended('gone');
      const before = await batch.line('gone');

      const purged = await purge();

      expect(idsOf(purged)).toContain(batch.batchId);
      expect(purged.contents).toBeGreaterThan(0);
      expect(purged.bodies).toBeGreaterThan(0);
      expect(await wordsOf(batch)).toEqual({ content: null, bodies: [null] });
      expect(await batch.line('gone')).toEqual(before);
      expect(await ledger.purgedAt(batch.batchId)).toBe(PURGED);
    });

    it('changes nothing in a dry run, and says the same as the real one', async () => {
      const batch = await ended('dry');
      const before = await wordsOf(batch);

      const dry = await purge(true);

      expect(idsOf(dry)).toContain(batch.batchId);
      expect(await wordsOf(batch)).toEqual(before);
      expect(await ledger.purgedAt(batch.batchId)).toBeNull();
      expect(await purge()).toEqual(dry);
    });

    it('knows after it the same file, the same invoice in another file, and other content for it: nothing is sent', async () => {
      const batch = await ended('known');
      await purge();

      const claim = await batch.claim({ workflowId: 'later', runId: 'later', batchId: `${batch.batchId}-renamed` });
      const again = await scenario.run(['known']);
      const other = await scenario.run([{ ref: 'known', unitPrice: '99' }]);

      expect(claim).toMatchObject({ kind: 'closed', batch: { batchId: batch.batchId } });
      expect(await again.states()).toEqual(['already-issued']);
      expect(await other.states()).toEqual(['conflict']);
      for (const one of [batch, again, other]) expect(await one.sendable()).toEqual([]);
    });

    it('takes a delivery that comes once more for the duplicate that it is', async () => {
      const batch = await ended('redelivered');
      await purge();

      const { serviceId } = await batch.line('redelivered');
      const again = await recordDeliveries(ledger, [delivery(serviceId, 'issued')]);

      expect(again).toMatchObject({ stored: 0 });
      expect(await batch.line('redelivered')).toMatchObject({ state: 'issued' });
    });

    it('leaves the content of what is not confirmed as issued: it may be retried', async () => {
      const batch = await scenario.run(['refused']);
      await batch.send('refused', { kind: 'rejected', reason: REASON });
      await end(batch);

      await purge();

      const words = await wordsOf(batch);
      expect(words.content).toMatchObject({ ref: 'refused' });
      expect(words.bodies).toEqual([null]);
      expect(await batch.line('refused')).toMatchObject({ state: 'rejected', reason: REASON });
    });

    it.each(['unknown', 'pending'] as const)('leaves a batch with an invoice that is %s as it is', async (kind) => {
      const batch = await scenario.run([`open-${kind}`]);
      const outcome = kind === 'unknown' ? { kind, reason: REASON } : { kind, reason: REASON, mayExist: true };
      await batch.send(`open-${kind}`, outcome);
      await end(batch);

      expect(idsOf(await purge())).not.toContain(batch.batchId);
      expect((await wordsOf(batch)).bodies).toEqual([`{"ref":"open-${kind}"}`]);
    });

    it('leaves what ended later, and what runs', async () => {
      const later = await scenario.run(['later']);
      await later.issue('later');
      await ledger.setBatchState(later.batchId, 'finished', BEFORE);
      const running = await scenario.run(['running']);

      const purged = idsOf(await purge());

      expect(purged).not.toContain(later.batchId);
      expect(purged).not.toContain(running.batchId);
    });

    it('says that a kept file is no longer needed only when every batch of it is purged and none was opened again', async () => {
      const batch = await ended('kept');
      const needed = await ledger.purgedFiles([batch.sha256, 'never-seen']);
      await purge();
      const purged = await ledger.purgedFiles([batch.sha256, 'never-seen']);

      await claimElsewhere(batch, `${scenario.application}-2`);

      expect([needed, purged]).toEqual([[], [batch.sha256]]);
      expect(await ledger.purgedFiles([batch.sha256]), 'another application reads it').toEqual([]);
    });

    it('of one application leaves those of another one as they are, and the copy of a file while the other one needs it', async () => {
      const batch = await ended('mine');
      const of = (application: string) => ledger.purge({ before: BEFORE, dryRun: false, now: PURGED, application });
      await claimElsewhere(batch, `${scenario.application}-3`);

      expect(idsOf(await of(`${scenario.application}-3`)), 'still open').toEqual([]);
      expect((await wordsOf(batch)).content).not.toBeNull();
      expect(await ledger.purgedFiles([batch.sha256])).toEqual([]);
      expect(idsOf(await of(scenario.application))).toContain(batch.batchId);
      expect(await ledger.purgedFiles([batch.sha256]), 'still open there').toEqual([]);
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

    it('removes the content of what is issued after the purge of its batch', async () => {
      const batch = await scenario.run(['late']);
      const id = scenario.serviceId('late');
      const { invoiceId } = await batch.freeze('late');
      await scenario.answer(invoiceId, accepted(id));
      await scenario.ask({ invoiceId, serviceId: id }, 'failed', { reason: REASON, now: NOW });
      await end(batch);
      await purge();
      const kept = (await wordsOf(batch)).content;
      await recordDeliveries(ledger, [delivery(id, 'issued', { bytes: 'issued after all', receivedAt: PURGED + 1 })]);
      const again = { before: BEFORE, dryRun: false, now: PURGED + 2, application: scenario.application };

      expect(kept).toMatchObject({ ref: 'late' });
      expect(await ledger.purge(again)).toMatchObject({ batches: [{ batchId: batch.batchId }], contents: 1 });
      expect(await ledger.purge(again)).toMatchObject({ batches: [], contents: 0 });
      expect(await wordsOf(batch)).toEqual({ content: null, bodies: [null] });
      expect(await batch.line('late')).toMatchObject({ state: 'issued' });
    });

    it('removes old bytes of what could not be read, and knows every delivery for ever', async () => {
      const id = scenario.serviceId('nobody');
      const unread = { ...delivery(null, null, { bytes: `Maria ${id}`, receivedAt: BEFORE - 1 }), event: null };
      const young = { ...delivery(null, null, { bytes: `Olga ${id}`, receivedAt: BEFORE }), event: null };
      const strange = delivery(id, 'issued', { receivedAt: BEFORE - 1 });
      await recordDeliveries(ledger, [unread, young, strange]);

      expect((await purge(true)).deliveries).toBe(1);
      expect((await purge()).deliveries).toBe(1);
      expect((await purge()).deliveries).toBe(0);
      const again = await recordDeliveries(ledger, [unread, young, strange]);
      expect(again).toMatchObject({ stored: 0 });

      const batch = await scenario.run(['nobody']);
      await batch.send('nobody', accepted(id));
      expect(await batch.line('nobody')).toMatchObject({ state: 'issued' });
    });

    it('names what is old and stays: what has not ended, and what has invoices that may still go', async () => {
      const open = await scenario.run(['open']);
      const held = await scenario.run(['held-1', 'held-2', 'gone-too']);
      await held.issue('gone-too');
      await held.hold();
      await end(held);
      const old = await ended('old');
      const of = { before: NOW + 1, now: PURGED, application: scenario.application };

      const { staying } = await ledger.purge({ ...of, dryRun: false });

      const own = staying.filter(({ batchId }) => [open, held, old].some((batch) => batch.batchId === batchId));
      expect(own).toEqual([
        { batchId: open.batchId, state: 'running', invoices: 1 },
        { batchId: held.batchId, state: 'finished', invoices: 2 },
      ]);
      expect((await ledger.purge({ ...of, before: 0, dryRun: false })).staying, 'not that old').toEqual([]);
    });

    it('does not purge twice', async () => {
      const batch = await ended('once');

      expect(idsOf(await purge())).toContain(batch.batchId);
      const { staying: _, ...again } = await purge();
      expect(again).toEqual({ batches: [], contents: 0, bodies: 0, findings: 0, deliveries: 0 });
    });
  });
}
