import { describe, expect, it } from 'vitest';
import {
  accepted,
  createScenario,
  delivery,
  LATER,
  NOW,
  REASON,
  type TestBatch,
  recordDeliveries,
} from '../scenario.ts';
import type { Ledger } from '../../../../src/ledger/ledger.ts';

/** What a batch does to its own invoices must never reach those of another batch, another generation, another application. */
export function neighboursContract(ledger: Ledger): void {
  const scenario = createScenario(ledger);

  /** A batch with a failed invoice, and another one that has corrected it. */
  async function corrected(ref: string): Promise<{ readonly first: TestBatch; readonly second: TestBatch }> {
    const first = await scenario.run([ref, `${ref}-beside`]);
    await first.fail(ref);
    return { first, second: await scenario.run([{ ref, unitPrice: '99' }]) };
  }

  describe('a correction', () => {
    it('changes nothing of the other invoices of the batch whose invoice it corrects', async () => {
      const { first } = await corrected('beside');

      expect(await first.line('beside-beside')).toMatchObject({ state: 'staged', generation: 1 });
      expect((await first.sendable()).map(({ invoice }) => invoice.ref)).toEqual(['beside-beside']);
    });

    it('leaves the earlier batch its balance, whatever becomes of the corrected one', async () => {
      const { first, second } = await corrected('balance');
      const serviceId = scenario.serviceId('balance');
      await second.send('balance', accepted(serviceId));
      await recordDeliveries(ledger, [delivery(serviceId, 'issued')]);

      expect(await ledger.countOutcomes(first.batchId)).toMatchObject([
        { outcome: 'failed', invoices: 1, net: '21' },
        { outcome: 'staged', invoices: 1, net: '21' },
      ]);
      expect(await ledger.countOutcomes(second.batchId)).toMatchObject([
        { outcome: 'issued', invoices: 1, net: '198' },
      ]);
    });

    it('is not closed, waited for or asked about by the page of the earlier batch', async () => {
      const { first, second } = await corrected('page');
      await second.send('page', accepted(scenario.serviceId('page-2')));

      await ledger.closePage(first.batchId, 1, { acceptedBefore: NOW + 1, reason: LATER, now: NOW });

      expect((await second.line('page')).state).toBe('accepted');
      expect(await ledger.pendingInvoices(first.batchId, 1, NOW + 9, 10)).toEqual([]);
      expect(await ledger.unconfirmedFailures(first.batchId, 1, 10)).toEqual([]);
      expect(await ledger.pageProgress(first.batchId, 1)).toMatchObject({ accepted: 0 });
      expect(await first.states()).toEqual(expect.arrayContaining(['failed', 'held']));
      expect(await ledger.isPageOpen(first.batchId, 1)).toBe(false);
      expect(await ledger.openPages(first.batchId)).toEqual([]);
    });

    it('does not open the earlier batch again when its file is dropped once more', async () => {
      const first = await scenario.run(['closed']);
      await first.fail('closed');
      await first.finish();
      await scenario.run([{ ref: 'closed', unitPrice: '99' }]);

      expect((await first.claim({ runId: 'run-2', workflowId: 'workflow-2' })).kind).toBe('closed');
    });

    it('is no longer retried or released by the earlier batch', async () => {
      const { first, second } = await corrected('not-mine');
      await ledger.holdUnsent(second.batchId, { reason: LATER, now: NOW });
      await second.finish();

      const { moved } = await first.retry({ selection: { rows: [2] }, policy: { acceptDuplicateRisk: true } });

      expect(moved).toEqual({ release: 0, regenerate: 0, repeat: 0, abandon: 0 });
      expect(await ledger.releaseHeld(first.batchId, NOW)).toBe(0);
      expect((await second.line('not-mine')).state).toBe('held');
    });

    it("needs the merchant's details of its own file, not those of the earlier content", async () => {
      const nif = `7${Date.now()}`;
      const first = await scenario.run([{ ref: 'details', nif, legalName: 'Old, Lda', email: 'old@example.pt' }]);
      await first.fail('details');

      const second = await scenario.run([{ ref: 'details', nif, unitPrice: '99' }]);

      expect(await ledger.merchantsNeeded(second.batchId)).toEqual([{ nif, legalName: null, email: null }]);
    });

    it('of a file that was refused in the end leaves what it had replaced as it was, and goes out with the next such file', async () => {
      const first = await scenario.run(['refused-later']);
      await first.fail('refused-later');
      const before = await first.line('refused-later');
      const second = await beginCorrectionOf('refused-later');
      await second.refuse();

      expect(await first.line('refused-later')).toEqual(before);
      expect(await (await scenario.run(['refused-later'])).lines()).toMatchObject([{ state: 'failed' }]);
      const third = await scenario.run([{ ref: 'refused-later', unitPrice: '99' }]);

      expect((await third.sendable()).map(({ generation }) => generation)).toEqual([2]);
      expect(await first.line('refused-later')).toEqual({ ...before, flags: ['corrected-by-later-batch'] });
    });

    it('of a file that was refused does not keep an operator from a retry of what it had replaced', async () => {
      const { first, second } = await beginCorrection('refused-retry');
      await second.refuse();

      const { moved } = await first.retry({ selection: { rows: [2] } });

      expect(moved.regenerate).toBe(1);
      expect(await first.one('refused-retry')).toMatchObject({
        generation: 2,
        invoice: { lines: [{ unitPrice: '10.5' }] },
      });
    });

    it('of a file that was refused is held no more when the earlier document was issued after all', async () => {
      const first = await scenario.run(['refused-risen']);
      const { serviceId } = await first.fail('refused-risen');
      const second = await beginCorrectionOf('refused-risen');
      await recordDeliveries(ledger, [delivery(serviceId, 'issued')]);
      await second.refuse();

      expect(await first.line('refused-risen')).toMatchObject({ state: 'issued', serviceId, generation: 1 });
      expect(await (await scenario.run(['refused-risen'])).lines()).toMatchObject([
        { state: 'already-issued', serviceId },
      ]);
    });

    it('of a file that was refused goes to another file that is being read with the same content', async () => {
      const { first, second } = await beginCorrection('refused-shared');
      const third = await beginCorrectionOf('refused-shared');
      await second.refuse();
      await third.finishStaging(1, 1);

      expect((await third.sendable()).map(({ generation }) => generation)).toEqual([2]);
      expect(await first.line('refused-shared')).toMatchObject({ state: 'failed', generation: 1, reason: REASON });
    });

    it.each(['held', 'rejected'] as const)('of a file that was refused brings back what was %s', async (state) => {
      const ref = `refused-${state}`;
      const first = await scenario.run([ref]);
      if (state === 'rejected') await first.send(ref, { kind: 'rejected', reason: REASON });
      else await first.hold();
      await first.finish();
      const before = await first.line(ref);
      const second = await beginCorrectionOf(ref);
      await second.refuse();

      expect(await first.line(ref)).toEqual(before);
      expect((await first.claim({ runId: 'run-2' })).kind).toBe(state === 'held' ? 'resumed' : 'closed');
    });
  });

  /** A failed invoice, and a batch in staging that has corrected it. */
  async function beginCorrection(ref: string): Promise<{ readonly first: TestBatch; readonly second: TestBatch }> {
    const first = await scenario.run([ref]);
    await first.fail(ref);
    return { first, second: await beginCorrectionOf(ref) };
  }

  async function beginCorrectionOf(ref: string): Promise<TestBatch> {
    const batch = await scenario.begin();
    await batch.read({ ref, unitPrice: '99' });
    return batch;
  }

  describe('a staging that starts again', () => {
    it('keeps the earlier life of what it corrected: the key of the first generation never comes back', async () => {
      const first = await scenario.run(['kept-life']);
      await first.fail('kept-life');
      const uncorrected = await first.line('kept-life');
      const second = await beginCorrectionOf('kept-life');
      const before = await first.line('kept-life');

      await ledger.restartStaging(second);
      const between = await first.line('kept-life');
      await second.stage({ ref: 'kept-life', unitPrice: '99' });

      expect(between).toEqual(uncorrected);
      expect((await second.sendable()).map(({ generation }) => generation)).toEqual([2]);
      expect(await first.line('kept-life')).toEqual(before);
      expect(await first.sendable()).toEqual([]);
    });

    it('reads what it had corrected anew: other content then stands where its own did, which was never sent', async () => {
      const { first, second } = await beginCorrection('read-anew');
      const before = await first.line('read-anew');

      await ledger.restartStaging(second);
      await second.stage({ ref: 'read-anew', unitPrice: '98' });

      const [sendable] = await second.sendable();
      expect(sendable).toMatchObject({ generation: 2, state: 'staged' });
      expect(sendable?.invoice.lines[0]?.unitPrice).toBe('98');
      expect(await first.line('read-anew')).toEqual(before);
    });

    it('gives what it took over back to the batch that it came from', async () => {
      const first = await scenario.run(['given-back']);
      await first.send('given-back', { kind: 'pending', reason: REASON, mayExist: false });
      await first.hold();
      await first.finish();
      const second = await scenario.begin();
      await second.read('given-back');

      await ledger.restartStaging(second);

      // Nobody sends it until that batch runs again: it must not look as if somebody did.
      expect(await first.line('given-back')).toMatchObject({
        ...{ state: 'held', attempts: 1, generation: 1 },
        reason: { code: 'not-sent' },
      });
      expect((await first.claim({ runId: 'run-2' })).kind).toBe('resumed');
      await ledger.releaseHeld(first.batchId, NOW);
      expect((await first.sendable()).map(({ invoice }) => invoice.ref)).toEqual(['given-back']);
    });

    it('leaves nothing waiting in a batch that ended attached to what is then refused', async () => {
      const reading = await scenario.begin();
      await reading.read('refused-owner');
      const other = await scenario.begin();
      await other.read('refused-owner');
      await other.finishStaging(1, 1);
      await other.finish();

      await reading.refuse();

      expect(await other.lines()).toMatchObject([{ state: 'held', reason: { code: 'not-sent' } }]);
    });

    it('leaves nothing waiting in a batch that ends while an invoice is passed on to it', async () => {
      const [first, heir] = [await scenario.begin(), await scenario.begin()];
      await first.read('ending-heir');
      await heir.read('ending-heir');
      await first.refuse();
      await heir.finishStaging(1, 1);

      const { batchId, fencingToken } = heir;
      await ledger.endBatch(batchId, { state: 'finished', unsent: REASON, now: NOW, fencingToken });

      expect(await heir.lines()).toMatchObject([{ state: 'held', reason: REASON }]);
    });

    it('leaves an invoice that it was only attached to with its owner', async () => {
      const owner = await scenario.run(['attached']);
      const dying = await scenario.begin();
      await dying.read('attached');
      const other = await scenario.run(['attached']);

      await ledger.restartStaging(dying);

      expect(await owner.sendable()).toHaveLength(1);
      expect(await other.sendable()).toEqual([]);
    });

    it('takes no invoice from its owner to give it to an older batch that waits for it', async () => {
      const older = await scenario.begin();
      const owner = await scenario.run(['older-waits']);
      await older.stage('older-waits');
      const dying = await scenario.begin();
      await dying.read('older-waits');

      await ledger.restartStaging(dying);

      expect(await owner.sendable()).toHaveLength(1);
      expect(await older.sendable()).toEqual([]);
    });

    it('passes an invoice of a refused file on to the oldest of those that are being read and wait for it', async () => {
      const dying = await scenario.begin();
      await dying.read('heirs');
      const running = await scenario.run(['heirs']);
      const [oldest, younger] = [await scenario.begin(), await scenario.begin()];
      for (const batch of [younger, oldest]) await batch.read('heirs');

      await dying.refuse();
      for (const batch of [younger, oldest]) await batch.finishStaging(1, 1);

      expect(await oldest.sendable()).toHaveLength(1);
      for (const batch of [running, younger]) {
        expect(await batch.sendable()).toEqual([]);
        expect(await batch.line('heirs')).toMatchObject({ state: 'staged', reason: null });
      }
    });

    it('lets no batch send what comes to it after all of it was held', async () => {
      const dying = await scenario.begin();
      await dying.read('held-heir');
      const heir = await scenario.run(['held-heir', 'held-heir-own']);
      await heir.hold();

      await dying.refuse();

      expect(await heir.sendable()).toEqual([]);
      expect(await heir.line('held-heir')).toMatchObject({ state: 'held', reason: { code: 'not-sent' } });
    });
  });

  describe('bytes that are frozen a second time', () => {
    it('are the new ones, from now on: the first ones never arrived', async () => {
      const batch = await scenario.run(['second-bytes']);
      const { invoiceId } = await batch.freeze('second-bytes', 'first bytes');
      const pending = { kind: 'pending', reason: LATER, mayExist: false } as const;
      await scenario.answer(invoiceId, pending);
      await batch.hold();
      await ledger.releaseHeld(batch.batchId, NOW);
      expect((await batch.one('second-bytes')).body).toBeNull();

      await ledger.freeze(batch.batchId, [{ invoiceId, generation: 1, body: 'second bytes' }], NOW + 100);
      await batch.sendable();

      expect(await batch.one('second-bytes')).toMatchObject({
        body: 'second bytes',
        mayExist: true,
        mayExistSince: NOW + 100,
      });
    });
  });

  describe('two events in one delivery of many', () => {
    it.each([
      [['failed', 'issued'], 'issued-after-failed'],
      [['issued', 'failed'], 'failed-after-issued'],
    ] as const)('are stored in the order in which they came: %s', async (verdicts, flag) => {
      const ref = `together-${verdicts.join('-')}`;
      const batch = await scenario.run([ref]);
      const serviceId = scenario.serviceId(ref);
      await batch.send(ref, accepted(serviceId));

      await recordDeliveries(
        ledger,
        verdicts.map((verdict) => delivery(serviceId, verdict)),
      );

      expect((await batch.line(ref)).flags).toEqual([flag]);
    });
  });

  describe('another application', () => {
    it('has a batch of its own for the same file', async () => {
      const mine = await scenario.begin();
      const other = { application: `${scenario.application}-other`, batchId: `${mine.batchId}-other` };

      const first = await mine.claim(other);
      const again = await mine.claim(other);

      expect([first.kind, again.kind]).toEqual(['claimed', 'claimed']);
      expect(again.batch).toMatchObject(other);
      expect((await mine.claim()).batch.batchId).toBe(mine.batchId);
    });
  });

  it('an attached batch needs no merchant for what another one sends', async () => {
    const nif = `6${Date.now()}`;
    await scenario.run([{ ref: 'owned', nif }]);
    const attached = await scenario.run([{ ref: 'owned', nif }]);

    expect(await ledger.merchantsNeeded(attached.batchId)).toEqual([]);
  });

  it('a cancelled batch lets its unsent invoices go with the next file, as a finished one does', async () => {
    const first = await scenario.run(['cancelled']);
    await first.hold();
    await ledger.setBatchState(first.batchId, 'cancelled', NOW);

    const second = await scenario.run(['cancelled']);

    expect(await second.sendable()).toHaveLength(1);
    expect(await first.sendable()).toEqual([]);
  });

  it('lists batches by when they began, not by when they came into the ledger', async () => {
    const early = await scenario.begin();
    const late = await scenario.begin();
    const far = NOW + 9_000_000_000;
    await late.claim({ batchId: `${late.batchId}-b`, sha256: `${late.sha256}-b`, now: far + 2 });
    await early.claim({ batchId: `${early.batchId}-b`, sha256: `${early.sha256}-b`, now: far + 1 });

    expect((await ledger.listBatches(2)).map(({ startedAt }) => startedAt)).toEqual([far + 2, far + 1]);
  });
}
