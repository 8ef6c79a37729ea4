import { describe, expect, it } from 'vitest';
import { totalsDiffer, totalsFinding } from '../../../../src/domain/control-totals.ts';
import { collect, createScenario, NOW, REASON, RETRY_POLICY, type TestBatch } from '../scenario.ts';
import type { BatchClaim } from '../../../../src/domain/records/batch-record.ts';
import type { Ledger } from '../../../../src/ledger/ledger.ts';

const TOTALS = totalsFinding(totalsDiffer(['expected 2 invoices, found 1'], false));
const ENDING = { acceptedBefore: NOW + 1, reason: REASON, now: NOW };
const BATCH_END = { state: 'finished', unsent: REASON, left: REASON, now: NOW } as const;
const RETRY = { selection: {}, policy: RETRY_POLICY, action: { actionId: 'fenced', who: null, why: 'x' } };
const OTHER_RUN = { workflowId: 'workflow-2', runId: 'run-2' };

export function fencingContract(ledger: Ledger): void {
  describe('the fencing token', () => {
    const scenario = createScenario(ledger);

    const row = (nth: number, ref: string) => ({ row: nth, ref, nif: '1', object: null, cells: [ref] });
    const invoice = (ref: string, ordinal = 1) => scenario.valid(ref, ordinal);

    it('rises with each claim that is won, and with no other', async () => {
      const batch = await scenario.begin();
      const first = batch.fencingToken;
      await batch.claim(OTHER_RUN);
      expect((await batch.record()).fencingToken).toBe(first);

      await batch.claim();
      expect(batch.fencingToken).toBe(first + 1);
      await batch.claim({ ...OTHER_RUN, takeOver: true });
      expect(batch.fencingToken).toBe(first + 2);
      await batch.finishStaging(0);
      await batch.claim(OTHER_RUN);

      expect(batch.fencingToken).toBe(first + 3);
    });

    it('is refused to an attempt that was stopped before its claim, once a later attempt of its run has claimed', async () => {
      const batch = await scenario.begin();
      await batch.claim({ attempt: 5 });
      const held = batch.fencingToken;

      await expect(batch.claim({ attempt: 4 })).rejects.toMatchObject({ code: 'claim-lost' });
      await batch.finishStaging(0);
      await expect(batch.claim({ attempt: 5 })).rejects.toMatchObject({ code: 'claim-lost' });

      expect(await batch.record()).toMatchObject({ state: 'running', fencingToken: held });
    });

    // [what a stale attempt writes when it goes on]
    const WRITES: readonly [string, (claim: BatchClaim) => Promise<unknown>][] = [
      ['rows', (claim) => ledger.rowStore(claim).append([row(9, 'stale')])],
      ['no row at all, but their order', (claim) => collect(ledger.rowStore(claim).groups())],
      ['invoices', (claim) => ledger.stageInvoices(claim, [invoice('stale', 9)], NOW)],
      ['a new beginning', (claim) => ledger.restartStaging(claim)],
      ['the end of the staging', (claim) => end(claim)],
      ['a refusal', (claim) => ledger.refuseBatch(claim, { rows: 3, fileFindings: [], proof: {}, now: NOW })],
    ];

    it.each(WRITES)('keeps out an attempt that has lost its claim and writes %s', async (_, write) => {
      const batch = await scenario.begin();
      const stale = claimOf(batch);
      await ledger.rowStore(stale).append([row(2, 'a')]);
      await batch.claim({ ...OTHER_RUN, takeOver: true });
      await ledger.restartStaging(batch);
      await ledger.rowStore(batch).append([row(2, 'a'), row(3, 'a')]);
      await ledger.stageInvoices(batch, [{ ...invoice(`kept-${batch.batchId}`), rows: [2, 3] }], NOW);

      await expect(write(stale)).rejects.toMatchObject({ code: 'claim-lost' });

      const groups = await collect(ledger.rowStore(batch).groups());
      expect(groups.map((group) => group.map((one) => one.row))).toEqual([[2, 3]]);
      expect((await batch.lines()).map(({ rows }) => rows)).toEqual([[2, 3]]);
      expect(await end(batch)).toMatchObject({ state: 'running', invoices: 1, rows: 2 });
    });

    it('takes no rows any more once the staging has ended', async () => {
      const batch = await scenario.begin();
      await batch.finishStaging(0);

      const writing = ledger.rowStore(batch).append([row(9, 'stale')]);

      await expect(writing).rejects.toMatchObject({ code: 'claim-lost' });
    });

    it('of a round that the ledger does not know ends the run: a token never falls, so the ledger is an older copy', async () => {
      const { batchId, ...batch } = await scenario.run(['copied']);
      const fencingToken = (await batch.record()).fencingToken + 1;

      const writes = [
        () => ledger.holdUnsent(batchId, { reason: REASON, now: NOW, fencingToken }),
        () => ledger.endBatch(batchId, { state: 'finished', unsent: REASON, left: REASON, now: NOW, fencingToken }),
        () => ledger.beginRound({ batchId, fencingToken, attempt: 2 }),
      ];

      for (const write of writes) await expect(write()).rejects.toMatchObject({ code: 'ledger-conflict' });
      await expect(
        ledger.stageInvoices({ batchId, fencingToken }, [invoice('portion', 9)], NOW),
        'the next attempt of a reading claims anew',
      ).rejects.toMatchObject({ code: 'claim-lost' });
      expect(await batch.record()).toMatchObject({ state: 'running', fencingToken: fencingToken - 1 });
    });

    it('ends a staging only when the rows under invoices and those without one are all that were read', async () => {
      const batch = await scenario.reading({ ...invoice('cut'), rows: [2, 3] });
      const finish = (rowsWithoutInvoice: number) => batch.finishStaging(1, 2, { rows: 5, rowsWithoutInvoice });

      await expect(finish(2)).rejects.toMatchObject({ code: 'ledger-conflict' });
      expect((await batch.record()).state).toBe('staging');

      expect(await finish(3)).toMatchObject({ state: 'running' });
    });

    // [what a step of an earlier round, or of a run that has lost the batch, writes when it goes on]
    it.each<[string, (batchId: string, fencingToken: number) => Promise<unknown>]>([
      ['a hold', (id, fencingToken) => ledger.holdUnsent(id, { reason: REASON, now: NOW, fencingToken })],
      ['a release', (id, fencingToken) => ledger.releaseHeld(id, NOW, fencingToken)],
      ['a repeat', (id, fencingToken) => ledger.repeatUnknown(id, 0, fencingToken)],
      ['the end of a page', (id, fencingToken) => ledger.closePage(id, 1, { ...ENDING, fencingToken })],
      ['the end of a batch', (id, fencingToken) => ledger.endBatch(id, { ...BATCH_END, fencingToken })],
      ['a state', (id, fencingToken) => ledger.setBatchState(id, 'finished', NOW, fencingToken)],
      ['a finding about totals', (batchId, fencingToken) => ledger.noteTotals({ batchId, fencingToken }, TOTALS)],
      ['the end of totals', (batchId, fencingToken) => ledger.overruleTotals({ batchId, fencingToken }, 'start')],
      ['a retry', (batchId, fencingToken) => ledger.retryInvoices({ batchId, fencingToken, ...RETRY })],
    ])('keeps out %s of an earlier round', async (what, write) => {
      const batch = await scenario.run([`${what}-held`, `${what}-staged`]);
      await batch.send(`${what}-held`, { kind: 'held', reason: REASON });
      const before = await batch.lines();
      const earlier = batch.fencingToken;
      await ledger.beginRound({ batchId: batch.batchId, attempt: 1, fencingToken: earlier });

      await expect(write(batch.batchId, earlier)).rejects.toMatchObject({ code: 'claim-lost' });

      expect(await batch.lines()).toEqual(before);
      expect((await batch.record()).state).toBe('running');
    });

    it('leaves to reconciliation what it repeats of a batch that is closed', async () => {
      const batch = await scenario.run(['repeated']);
      await batch.freeze('repeated');
      await batch.finish();

      expect(await ledger.endBatch(batch.batchId, { ...BATCH_END, fencingToken: batch.fencingToken })).toBe(0);

      expect((await batch.line('repeated')).state).toBe('sending');
    });

    function claimOf({ batchId, fencingToken }: TestBatch): BatchClaim {
      return { batchId, fencingToken };
    }

    function end(claim: BatchClaim) {
      return ledger.finishStaging(claim, {
        ...{ rows: 2, rowsWithoutInvoice: 0, invoices: 1, pageSize: 2, fileFindings: [], proof: {} },
      });
    }
  });
}
