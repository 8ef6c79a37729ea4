import { describe, expect, it } from 'vitest';
import type { Finding } from '../../../../src/domain/invoice.ts';
import {
  createScenario,
  delivery,
  invalidInvoice,
  NOW,
  REASON,
  type TestBatch,
  recordDeliveries,
} from '../scenario.ts';
import type { Ledger } from '../../../../src/ledger/ledger.ts';

/** Long before anything that another test of the same ledger does. */
const ENDED = 1_000;
const BEFORE = 2_000;
/** After all that was settled. */
const PURGED = NOW + 60_000;
const FINDING: Finding = { row: null, column: null, code: 'rows-lost', message: '1 of 3 rows', severity: 'error' };

export function purgeContract(ledger: Ledger): void {
  const scenario = createScenario(ledger);

  const end = (batch: TestBatch): Promise<void> => batch.setState('finished', ENDED);

  const purge = (over: Partial<Parameters<Ledger['purge']>[0]> = {}) =>
    ledger.purge({ before: BEFORE, dryRun: false, now: PURGED, application: null, ...over });

  const purgedIds = async (over?: Parameters<typeof purge>[0]): Promise<readonly string[]> =>
    (await purge(over)).batches.map(({ batchId }) => batchId);

  /** The reference and the bytes that people can still read of the first line. */
  const wordsOf = async (batch: TestBatch) => {
    const details = await ledger.invoiceDetails(batch.batchId, 1);
    return { content: details?.content?.ref ?? null, bodies: details?.generations.map(({ body }) => body) };
  };
  const GONE = { content: null, bodies: [null] };

  /** A batch that has ended with its one invoice issued. */
  async function ended(ref: string): Promise<TestBatch> {
    const batch = await scenario.run([ref]);
    await batch.issue(ref);
    await end(batch);
    return batch;
  }

  /** The same file, of another application. */
  function claimElsewhere(batch: TestBatch, application: string) {
    return batch.claim({ batchId: `${batch.batchId}-${application}`, application, workflowId: 'w', runId: 'r' });
  }

  describe('purge', () => {
    it('removes contents and bytes of what went out and keeps key, fingerprint, state and service id', async () => {
      const batch = await ended('gone');
      const before = await batch.line('gone');

      const { batches, contents, bodies } = await purge();

      expect(batches.map(({ batchId }) => batchId)).toContain(batch.batchId);
      expect(contents).toBeGreaterThan(0);
      expect(bodies).toBeGreaterThan(0);
      expect(await wordsOf(batch)).toEqual(GONE);
      expect(await batch.line('gone')).toEqual(before);
      expect(await ledger.purgedAt(batch.batchId)).toBe(PURGED);
    });

    it('changes nothing in a dry run, says the same as the real one, and is not done twice', async () => {
      const batch = await ended('dry');
      const before = await wordsOf(batch);

      const dry = await purge({ dryRun: true });

      expect(dry.batches.map(({ batchId }) => batchId)).toContain(batch.batchId);
      expect(await wordsOf(batch)).toEqual(before);
      expect(await ledger.purgedAt(batch.batchId)).toBeNull();
      expect(await purge()).toEqual(dry);
      const { staying: _, ...again } = await purge();
      expect(again).toEqual({ batches: [], contents: 0, bodies: 0, findings: 0, deliveries: 0 });
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

      await scenario.hear(serviceId ?? '', 'issued');
      expect((await ledger.invoiceDetails(batch.batchId, 1))?.deliveries).toHaveLength(1);
      expect(await batch.line('redelivered')).toMatchObject({ state: 'issued' });
    });

    it('leaves the content of what is not confirmed as issued: it may be retried', async () => {
      const batch = await scenario.run(['refused']);
      await batch.reject('refused');
      await end(batch);

      await purge();

      expect(await wordsOf(batch)).toEqual({ content: 'refused', bodies: [null] });
      expect(await batch.line('refused')).toMatchObject({ state: 'rejected', reason: REASON });
    });

    it.each(['unknown', 'pending'] as const)('leaves a batch with an invoice that is %s as it is', async (kind) => {
      const ref = `open-${kind}`;
      const batch = await scenario.run([ref]);
      await batch.send(ref, kind === 'unknown' ? { kind, reason: REASON } : { kind, reason: REASON, mayExist: true });
      await end(batch);

      expect(await purgedIds()).not.toContain(batch.batchId);
      expect((await wordsOf(batch)).bodies).toEqual([`{"ref":"${ref}"}`]);
    });

    it('reaches batches that were cancelled and files that were refused, and not what ended later, or runs', async () => {
      const cancelled = await scenario.run(['cancelled']);
      await cancelled.issue('cancelled');
      await cancelled.setState('cancelled', ENDED);
      const refused = await scenario.begin();
      await refused.refuse({ fileFindings: [{ ...FINDING, code: 'x', message: 'Maria' }], now: ENDED });
      const later = await scenario.run(['later']);
      await later.issue('later');
      await later.setState('finished', BEFORE);
      const running = await scenario.run(['running']);

      const ids = await purgedIds();

      expect(ids).toEqual(expect.arrayContaining([cancelled.batchId, refused.batchId]));
      for (const { batchId } of [later, running]) expect(ids).not.toContain(batchId);
      expect(await wordsOf(cancelled)).toEqual(GONE);
      expect(await ledger.fileFindings(refused.batchId)).toEqual([]);
    });

    it('says that a kept file is no longer needed only when every batch of it is purged and none was opened again', async () => {
      const batch = await ended('kept');
      const unneeded = () => ledger.purgedFiles([batch.sha256, 'never-seen']);
      expect(await unneeded()).toEqual([]);
      await purge();
      expect(await unneeded()).toEqual([batch.sha256]);

      await claimElsewhere(batch, `${scenario.application}-2`);

      expect(await unneeded(), 'another application reads it').toEqual([]);
    });

    it('of one application leaves those of another one as they are, and the copy of a file while the other one needs it', async () => {
      const batch = await ended('mine');
      const other = `${scenario.application}-3`;
      await claimElsewhere(batch, other);

      expect(await purgedIds({ application: other }), 'still open').toEqual([]);
      expect((await wordsOf(batch)).content).not.toBeNull();
      expect(await ledger.purgedFiles([batch.sha256])).toEqual([]);
      expect(await purgedIds({ application: scenario.application })).toContain(batch.batchId);
      expect(await ledger.purgedFiles([batch.sha256]), 'still open there').toEqual([]);
    });

    it('keeps which rows are in no invoice, without their words', async () => {
      const batch = await scenario.begin();
      const total: Finding = {
        ...FINDING,
        row: 3,
        code: 'totals-row',
        severity: 'warning',
        message: 'Row 3 ("A \\ "row":9")',
      };
      const secret = { ...FINDING, row: 2, column: 'x', code: 'other', message: '"code":"totals-row"' };
      const counts = { rows: 3, rowsWithoutInvoice: 3, fileFindings: [FINDING, secret, total] };
      await batch.finishStaging(0, 2, counts);
      await end(batch);
      const before = (await purge({ dryRun: true })).findings;

      expect((await purge()).findings).toBe(before);

      const message = 'It is a totals row and not part of an invoice';
      expect(await ledger.fileFindings(batch.batchId)).toEqual([FINDING, { ...total, message }]);
    });

    it('keeps why an invalid invoice was invalid, without the words of the file, and all words of a batch that stays', async () => {
      const [batch, stays] = [await scenario.run([invalidInvoice(1)]), await scenario.reading(invalidInvoice(1))];
      await end(batch);
      await stays.finishStaging(1, 2, { rows: 2, rowsWithoutInvoice: 1, fileFindings: [FINDING] });
      const before = await stays.lines();

      await purge();

      const invalid = { state: 'invalid', findings: [], reason: { code: 'quantity-unreadable' } };
      expect(await batch.lines()).toMatchObject([invalid]);
      expect(await ledger.purgedAt(stays.batchId)).toBeNull();
      expect(await ledger.fileFindings(stays.batchId)).toEqual([FINDING]);
      expect(await stays.lines()).toEqual(before);
    });

    it('removes the content of what is issued after the purge of its batch', async () => {
      const batch = await scenario.run(['late']);
      const { serviceId } = await batch.fail('late');
      await end(batch);
      await purge();
      expect((await wordsOf(batch)).content).toBe('late');
      await scenario.hear(serviceId, 'issued', { bytes: 'issued after all', receivedAt: PURGED + 1 });
      const again = { now: PURGED + 2, application: scenario.application };

      expect(await purge(again)).toMatchObject({ batches: [{ batchId: batch.batchId }], contents: 1 });
      expect(await purge(again)).toMatchObject({ batches: [], contents: 0 });
      expect(await wordsOf(batch)).toEqual(GONE);
      expect(await batch.line('late')).toMatchObject({ state: 'issued' });
    });

    it('removes old bytes of what could not be read, and knows every delivery for ever', async () => {
      const serviceId = scenario.serviceId('nobody');
      const at = BEFORE - 1;
      const unread = { ...delivery(null, null, { bytes: `Maria ${serviceId}`, receivedAt: at }), event: null };
      const young = { ...delivery(null, null, { bytes: `Olga ${serviceId}`, receivedAt: BEFORE }), event: null };
      const all = [unread, young, delivery(serviceId, 'issued', { receivedAt: at })];
      await recordDeliveries(ledger, all);

      expect((await purge({ dryRun: true })).deliveries).toBe(1);
      expect((await purge()).deliveries).toBe(1);
      expect((await purge()).deliveries).toBe(0);
      await recordDeliveries(ledger, all);
      expect((await purge()).deliveries, 'a repeat is not stored again').toBe(0);

      const batch = await scenario.run(['nobody']);
      await batch.accept('nobody', { serviceId });
      expect(await batch.line('nobody')).toMatchObject({ state: 'issued' });
    });

    it('names what is old and stays: what has not ended, and what has invoices that may still go', async () => {
      const own = createScenario(ledger);
      const open = await own.run(['open']);
      const held = await own.run(['held-1', 'held-2', 'gone-too']);
      await held.issue('gone-too');
      await held.hold();
      await end(held);
      const old = await own.run(['old']);
      await old.issue('old');
      await end(old);
      const { application } = own;

      expect((await purge({ before: NOW + 1, application })).staying).toEqual([
        { batchId: open.batchId, state: 'running', invoices: 1 },
        { batchId: held.batchId, state: 'finished', invoices: 2 },
      ]);
      expect((await purge({ before: 0, application })).staying, 'not that old').toEqual([]);
    });

    it('comes again for a batch that ran again after it', async () => {
      const batch = await scenario.run(['ran-again']);
      await batch.fail('ran-again');
      await end(batch);
      await purge({ now: NOW });
      const { batchId } = batch;
      await ledger.reopenBatch({ batchId, workflowId: 'w', runId: 'r', attempt: 1, takeOver: false, endsStop: true });
      await batch.setState('finished', NOW + 500);

      expect(await purgedIds({ before: NOW + 501, dryRun: true, now: NOW + 900 })).toContain(batchId);
    });

    it('does not wait for what a later batch has corrected', async () => {
      const first = await scenario.run(['corrected']);
      await first.fail('corrected');
      await end(first);
      const second = await scenario.run([{ ref: 'corrected', unitPrice: '99' }]);

      expect(await purgedIds()).toContain(first.batchId);
      expect((await wordsOf(second)).content).toBe('corrected');
    });

    it('removes what two batches held once both are gone, whichever went first', async () => {
      await ended('held-by-two');
      const young = await scenario.run(['held-by-two']);
      await purge();
      expect(await wordsOf(young)).toEqual({ content: 'held-by-two', bodies: ['{"ref":"held-by-two"}'] });
      await end(young);
      await purge();

      expect(await wordsOf(young)).toEqual(GONE);
    });

    it('removes the earlier content of a corrected invoice, and keeps the one that may be retried', async () => {
      const first = await scenario.run(['two-contents']);
      await first.fail('two-contents');
      const second = await scenario.run([{ ref: 'two-contents', unitPrice: '99' }]);
      await second.fail('two-contents');
      for (const batch of [first, second]) await end(batch);

      await purge();

      expect(await wordsOf(first)).toEqual({ content: null, bodies: [null, null] });
      expect(await wordsOf(second)).toEqual({ content: 'two-contents', bodies: [null, null] });
    });
  });
}
