import { describe, expect, it } from 'vitest';
import { createScenario, invalidInvoice, LATER, NOW, REASON, type TestBatch } from '../scenario.ts';
import type { Ledger } from '../../../../src/ledger/ledger.ts';

interface Corrected {
  readonly first: TestBatch;
  /** The document that failed. */
  readonly serviceId: string;
  readonly second: TestBatch;
}

/** What a batch does to its own invoices must never reach those of another batch, another generation, another application. */
export function neighboursContract(ledger: Ledger): void {
  const scenario = createScenario(ledger);

  /** A batch with a failed invoice, and another one that has corrected it. */
  async function corrected(ref: string): Promise<Corrected> {
    const first = await scenario.run([ref, `${ref}-beside`]);
    const { serviceId } = await first.fail(ref);
    return { first, serviceId, second: await scenario.run([{ ref, unitPrice: '99' }]) };
  }

  const correcting = (ref: string) => scenario.reading({ ref, unitPrice: '99' });

  /** A failed invoice, and a batch in staging that has corrected it. */
  async function beginCorrection(ref: string): Promise<Corrected> {
    const first = await scenario.run([ref]);
    const { serviceId } = await first.fail(ref);
    return { first, serviceId, second: await correcting(ref) };
  }

  const generationsOf = async (batch: TestBatch) => (await batch.sendable()).map(({ generation }) => generation);

  describe('a correction', () => {
    it('changes nothing of the other invoices of the batch whose invoice it corrects, nor its balance', async () => {
      const { first, second } = await corrected('balance');

      expect(await first.line('balance-beside')).toMatchObject({ state: 'staged', generation: 1 });
      expect((await first.sendable()).map(({ invoice }) => invoice.ref)).toEqual(['balance-beside']);
      await second.issue('balance');
      expect(await ledger.countOutcomes(first.batchId)).toMatchObject([
        { outcome: 'failed', invoices: 1, net: '21' },
        { outcome: 'staged', invoices: 1, net: '21' },
      ]);
      const issued = { outcome: 'issued', invoices: 1, net: '198' };
      expect(await ledger.countOutcomes(second.batchId)).toMatchObject([issued]);
    });

    it('is not closed, waited for or asked about by the page of the earlier batch', async () => {
      const { first, second } = await corrected('page');
      await second.accept('page');

      await first.closePage({ reason: LATER });

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
      await second.hold();
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
  });

  describe('a correction of a file that was refused in the end', () => {
    it('leaves what it had replaced as it was, and goes out with the next such file', async () => {
      const first = await scenario.run(['refused-later']);
      await first.fail('refused-later');
      const before = await first.line('refused-later');
      await (await correcting('refused-later')).refuse();

      expect(await first.line('refused-later')).toEqual(before);
      expect(await (await scenario.run(['refused-later'])).states()).toEqual(['failed']);
      const third = await scenario.run([{ ref: 'refused-later', unitPrice: '99' }]);

      expect(await generationsOf(third)).toEqual([2]);
      expect(await first.line('refused-later')).toEqual({ ...before, flags: ['corrected-by-later-batch'] });
    });

    it('does not keep an operator from a retry of what it had replaced', async () => {
      const { first, second } = await beginCorrection('refused-retry');
      await second.refuse();

      const { moved } = await first.retry({ selection: { rows: [2] } });

      expect(moved.regenerate).toBe(1);
      const invoice = { lines: [{ unitPrice: '10.5' }] };
      expect(await first.one('refused-retry')).toMatchObject({ generation: 2, invoice });
    });

    it('is held no more when the earlier document was issued after all', async () => {
      const { first, serviceId, second } = await beginCorrection('refused-risen');
      await scenario.hear(serviceId, 'issued');
      await second.refuse();

      expect(await first.line('refused-risen')).toMatchObject({ state: 'issued', serviceId, generation: 1 });
      const again = await scenario.run(['refused-risen']);
      expect(await again.lines()).toMatchObject([{ state: 'already-issued', serviceId }]);
    });

    it('goes to another file that is being read with the same content', async () => {
      const { first, second } = await beginCorrection('refused-shared');
      const third = await correcting('refused-shared');
      await second.refuse();
      await third.finishStaging(1);

      expect(await generationsOf(third)).toEqual([2]);
      expect(await first.line('refused-shared')).toMatchObject({ state: 'failed', generation: 1, reason: REASON });
    });

    it.each(['held', 'rejected'] as const)('brings back what was %s', async (state) => {
      const ref = `refused-${state}`;
      const first = await scenario.run([ref]);
      await (state === 'rejected' ? first.reject(ref) : first.hold());
      await first.finish();
      const before = await first.line(ref);
      await (await correcting(ref)).refuse();

      expect(await first.line(ref)).toEqual(before);
      expect((await first.claim({ runId: 'run-2' })).kind).toBe(state === 'held' ? 'resumed' : 'closed');
    });
  });

  describe('a staging that starts again', () => {
    it.each<[string, (batch: TestBatch) => Promise<TestBatch>]>([
      [
        'forgets what was staged, so that the next try starts from nothing',
        (batch) => ledger.restartStaging(batch).then(() => batch),
      ],
      ['forgets it in a refusal, too', (batch) => batch.refuse().then(() => scenario.begin())],
    ])('%s', async (title, next) => {
      const batch = await scenario.reading(title, invalidInvoice(2));

      const again = await next(batch);
      expect(await batch.lines()).toEqual([]);
      await again.stage({ ref: title, unitPrice: '77' });

      expect(await again.one(title)).toMatchObject({ generation: 1, invoice: { lines: [{ unitPrice: '77' }] } });
    });

    it('touches nothing of a batch that runs', async () => {
      const batch = await scenario.run(['running']);

      await ledger.restartStaging(batch);

      expect(await batch.sendable()).toHaveLength(1);
    });

    it('keeps the earlier life of what it corrected: the key of the first generation never comes back', async () => {
      const first = await scenario.run(['kept-life']);
      await first.fail('kept-life');
      const uncorrected = await first.line('kept-life');
      const second = await correcting('kept-life');
      const before = await first.line('kept-life');

      await ledger.restartStaging(second);
      const between = await first.line('kept-life');
      await second.stage({ ref: 'kept-life', unitPrice: '98' });

      expect(between).toEqual(uncorrected);
      const [sendable] = await second.sendable();
      expect(sendable).toMatchObject({ generation: 2, state: 'staged', invoice: { lines: [{ unitPrice: '98' }] } });
      expect(await first.line('kept-life')).toEqual(before);
      expect(await first.sendable()).toEqual([]);
    });

    it('gives what it took over back to the batch that it came from', async () => {
      const first = await scenario.run(['given-back']);
      await first.send('given-back', { kind: 'pending', reason: REASON, mayExist: false });
      await first.hold();
      await first.finish();
      const second = await scenario.reading('given-back');

      await ledger.restartStaging(second);

      // Nobody sends it until that batch runs again: it must not look as if somebody did.
      const held = { state: 'held', attempts: 1, generation: 1, reason: { code: 'not-sent' } };
      expect(await first.line('given-back')).toMatchObject(held);
      expect((await first.claim({ runId: 'run-2' })).kind).toBe('resumed');
      await ledger.releaseHeld(first.batchId, NOW);
      expect((await first.sendable()).map(({ invoice }) => invoice.ref)).toEqual(['given-back']);
    });

    it('takes nothing to which it was only attached from its owner, also not for an older batch that waits', async () => {
      const older = await scenario.begin();
      const owner = await scenario.run(['attached']);
      await older.stage('attached');
      const dying = await scenario.reading('attached');
      const other = await scenario.run(['attached']);

      await ledger.restartStaging(dying);

      expect(await owner.sendable()).toHaveLength(1);
      expect([await older.sendable(), await other.sendable()]).toEqual([[], []]);
    });
  });

  describe('an invoice that other batches wait for', () => {
    it('is kept by a file that is stopped and read anew, which sends it, once', async () => {
      const stopped = await scenario.reading('kept');
      const waiting = await scenario.run(['kept']);
      for (const _ of ['first', 'again']) await ledger.restartStaging(stopped);
      expect(await waiting.sendable()).toEqual([]);
      expect(await ledger.openPages(waiting.batchId)).toEqual([1]);
      await stopped.stage('kept');

      expect(await waiting.sendable()).toEqual([]);
      expect(await stopped.sendable()).toHaveLength(1);
      for (const batch of [stopped, waiting])
        expect(await batch.line('kept')).toMatchObject({ state: 'staged', reason: null });
    });

    it.each<[string, (stopped: TestBatch, ref: string) => Promise<unknown>, readonly string[]]>([
      ['is refused then', (stopped) => stopped.refuse(), []],
      ['has it no more then', (stopped, ref) => stopped.stage(`${ref}, another`), ['staged']],
      ['has other content for it then', (stopped, ref) => stopped.stage({ ref, unitPrice: '7' }), ['conflict']],
    ])(
      'is held in the batch that waits, also in one that ended, where the file that is read anew %s',
      async (title, go, states) => {
        const stopped = await scenario.reading(title);
        const waiting = await scenario.run([title]);
        const ended = await scenario.run([title]);
        await ended.finish();
        await ledger.restartStaging(stopped);
        await go(stopped, title);

        expect(await stopped.states()).toEqual(states);
        const held = { state: 'held', generation: 1, reason: { code: 'not-sent' } };
        for (const batch of [waiting, ended]) expect(await batch.lines()).toMatchObject([held]);
        expect(await waiting.sendable()).toEqual([]);
      },
    );

    it.each<[string, (dying: TestBatch) => Promise<unknown>]>([
      ['is refused', (dying) => dying.refuse()],
      ['is read anew and has it no more', (dying) => ledger.restartStaging(dying).then(() => dying.stage('gone'))],
    ])('goes to the oldest of those that are being read where the file that would send it %s', async (title, go) => {
      const dying = await scenario.reading(title);
      const running = await scenario.run([title]);
      const [oldest, younger] = [await scenario.begin(), await scenario.begin()];
      for (const batch of [younger, oldest]) await batch.read(title);

      await go(dying);
      for (const batch of [younger, oldest]) await batch.finishStaging(1);

      expect(await oldest.sendable()).toHaveLength(1);
      for (const batch of [running, younger]) expect(await batch.sendable()).toEqual([]);
      for (const batch of [running, younger, oldest])
        expect(await batch.line(title)).toMatchObject({ state: 'staged', reason: null });
    });

    it('is forgotten when nobody waits any more', async () => {
      const [stopped, waiting] = [await scenario.reading('alone'), await scenario.reading('alone')];
      await ledger.restartStaging(stopped);
      await waiting.refuse();
      await stopped.refuse();

      const next = await scenario.run([{ ref: 'alone', unitPrice: '5' }]);

      expect(await next.line('alone')).toMatchObject({ state: 'staged', generation: 1 });
    });

    it('leaves nothing waiting in a batch that ended attached, or that ends while it is passed on to it', async () => {
      const [first, heir] = [await scenario.reading('ending'), await scenario.reading('ending')];
      const reading = await scenario.reading('ended');
      const ended = await scenario.run(['ended']);
      await ended.finish();
      for (const batch of [first, reading]) await batch.refuse();
      await heir.finishStaging(1);

      const { batchId, fencingToken } = heir;
      await ledger.endBatch(batchId, { state: 'finished', unsent: REASON, left: REASON, now: NOW, fencingToken });

      expect(await heir.lines()).toMatchObject([{ state: 'held', reason: REASON }]);
      expect(await ended.outcomes()).toEqual(['held not-sent']);
    });

    it('is sent by no batch to which it comes after all of that was held', async () => {
      const dying = await scenario.reading('held-heir');
      const heir = await scenario.run(['held-heir', 'held-heir-own']);
      await heir.hold();

      await dying.refuse();

      expect(await heir.sendable()).toEqual([]);
      expect(await heir.line('held-heir')).toMatchObject({ state: 'held', reason: { code: 'not-sent' } });
    });
  });
}
