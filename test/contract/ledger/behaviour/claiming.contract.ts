import { describe, expect, it } from 'vitest';
import { totalsDiffer, totalsFinding } from '../../../../src/domain/control-totals.ts';
import type { Finding } from '../../../../src/domain/invoice.ts';
import { createScenario, NOW, REASON } from '../scenario.ts';
import type { Ledger } from '../../../../src/ledger/ledger.ts';

const OTHER_RUN = { runId: 'run-2', workflowId: 'workflow-2' };
const STOPS = [
  ['paused', { paused: true, cancelled: false }],
  ['cancelled', { paused: false, cancelled: true }],
] as const;
const FINDING: Finding = { row: 3, column: null, code: 'totals-row', message: 'Not an invoice', severity: 'warning' };

export function claimingContract(ledger: Ledger): void {
  describe('claimBatch', () => {
    const scenario = createScenario(ledger);

    it('claims a new file in state staging', async () => {
      const batch = await scenario.begin();

      const { batchId, sha256 } = batch;
      expect(await batch.record()).toEqual({
        ...{ batchId, application: scenario.application, file: 'invoices.csv', sha256, state: 'staging' },
        ...{ workflowId: `workflow-of-${batchId}`, runId: 'run-1', fencingToken: 1 },
        ...{ pageSize: 0, pages: 0, rows: 0, rowsWithoutInvoice: 0, invoices: 0, proof: {} },
        ...{ startedAt: NOW, finishedAt: null, revision: 0, stopped: null },
      });
    });

    it('lets the same run claim its staging batch again, and another one only when it takes over', async () => {
      const batch = await scenario.begin();

      expect((await batch.claim()).kind).toBe('claimed');
      expect((await batch.claim(OTHER_RUN)).kind).toBe('owned');
      expect((await batch.record()).runId).toBe('run-1');
      const taken = await batch.claim({ ...OTHER_RUN, takeOver: true });
      expect(taken).toMatchObject({ kind: 'claimed', batch: { runId: 'run-2' } });
      expect((await batch.claim()).kind).toBe('owned');
    });

    it.each(['running', 'paused'] as const)(
      'keeps a %s batch with its run, and resumes it for a run that takes over, also one that orders nothing',
      async (state) => {
        const batch = await scenario.run([`kept-${state}`]);
        await batch.setState(state);

        expect((await batch.claim()).kind).toBe('resumed');
        expect((await batch.claim(OTHER_RUN)).kind).toBe('owned');
        expect(await batch.claim({ ...OTHER_RUN, takeOver: true })).toMatchObject({
          ...{ kind: 'resumed', batch: { state: 'running', ...OTHER_RUN } },
        });
        expect((await batch.claim({ runId: 'run-3', takeOver: true, order: 'none' })).kind).toBe('resumed');
      },
    );

    it('knows a file by application and bytes, whatever it is called', async () => {
      const batch = await scenario.begin();
      const { batchId } = batch;
      const other = { application: `${scenario.application}-other`, batchId: `${batchId}-other` };

      expect(await batch.claim({ ...OTHER_RUN, batchId: 'under-another-name', file: 'copy.csv' })).toMatchObject({
        ...{ kind: 'owned', batch: { batchId, file: 'invoices.csv' } },
      });
      await expect(batch.claim({ sha256: 'f'.repeat(64) })).rejects.toMatchObject({ code: 'ledger-conflict' });
      expect(await batch.claim(other)).toMatchObject({ kind: 'claimed', batch: other });
      expect(await batch.claim(other)).toMatchObject({ kind: 'claimed', batch: other });
      expect((await batch.claim()).batch.batchId).toBe(batchId);
    });

    it.each(STOPS)(
      'gives a batch that an operator has %s to a person, and to another order only to close it',
      async (what, control) => {
        const batch = await scenario.run([`stopped-${what}`]);
        const { workflowId, runId } = await batch.record();
        const takeOver = { ...OTHER_RUN, takeOver: true, closedRun: { workflowId, runId } };
        await ledger.recordControl({ batchId: batch.batchId, workflowId, runId, version: 1, ...control });
        expect(await ledger.sendingBatches([batch.batchId])).toEqual([]);

        for (const by of ['drop', 'none'] as const)
          expect((await batch.claim({ ...takeOver, ...(by === 'none' && OTHER_RUN), order: by })).kind).toBe('stopped');
        expect(await batch.claim({ ...takeOver, runId: 'run-3', closedRun: OTHER_RUN })).toMatchObject({
          ...{ kind: 'resumed', batch: { state: 'running', stopped: null } },
        });
      },
    );

    it.each(STOPS)(
      'keeps a batch %s for the next run of the same work, which sends none of it',
      async (what, control) => {
        const batch = await scenario.run([`restarted-${what}`]);
        const { batchId } = batch;
        const { workflowId, runId } = await batch.record();
        await ledger.recordControl({ batchId, workflowId, runId, version: 7, ...control });
        const { state, stopped } = await batch.record();
        const restart = { workflowId, runId: 'run-2', order: 'restart', takeOver: true } as const;

        const result = await batch.claim({ ...restart, closedRun: { workflowId, runId } });

        expect(result).toMatchObject({ kind: 'resumed', batch: { state, stopped, runId: 'run-2' } });
        expect(stopped).toMatchObject({ what });
        expect(await ledger.sendingBatches([batchId])).toEqual([]);
        const resume = { batchId, workflowId, version: 1, paused: false, cancelled: false };
        expect(await ledger.recordControl({ ...resume, runId })).toBe(false);
        expect(await ledger.recordControl({ ...resume, runId: 'run-2' })).toBe(true);
        expect(await batch.record()).toMatchObject({ state: 'running', stopped: null });
      },
    );

    it('leaves a finished batch closed when everything in it is final', async () => {
      const batch = await scenario.run(['final']);
      await batch.reject('final');
      await batch.finish();

      const closed = { state: 'finished', runId: 'run-1', finishedAt: NOW + 9 };
      expect(await batch.claim(OTHER_RUN)).toMatchObject({ kind: 'closed', batch: closed });
    });

    it.each(['finished', 'cancelled'] as const)(
      'opens a %s batch again for a held invoice, but not for the next run of the same work, nor for one that has waited',
      async (state) => {
        const batch = await scenario.run([`held-${state}`]);
        await batch.hold();
        await batch.setState(state);

        for (const order of ['restart', 'none'] as const)
          expect(await batch.claim({ ...OTHER_RUN, order, takeOver: order === 'restart' })).toMatchObject({
            ...{ kind: 'closed', batch: { state, runId: 'run-1' } },
          });
        const opened = { state: 'running', runId: 'run-2', finishedAt: null };
        expect(await batch.claim(OTHER_RUN)).toMatchObject({ kind: 'resumed', batch: opened });
        expect((await batch.claim()).kind).toBe('owned');
      },
    );

    it.each(['staged', 'sending', 'accepted', 'unknown', 'unsettled'] as const)(
      'opens a finished batch again for an %s invoice',
      async (state) => {
        const ref = `open-${state}`;
        const batch = await scenario.run([ref]);
        if (state === 'sending') await batch.freeze(ref);
        if (state === 'unknown') await batch.lose(ref);
        if (state === 'accepted' || state === 'unsettled') await batch.accept(ref);
        if (state === 'unsettled') await batch.closePage();
        await batch.finish();
        expect((await batch.line(ref)).state).toBe(state);

        expect((await batch.claim(OTHER_RUN)).kind).toBe('resumed');
      },
    );

    it('leaves a refused batch closed, unless another run is ordered to read it again', async () => {
      const batch = await scenario.begin();
      await batch.refuse();

      expect((await batch.claim({ ...OTHER_RUN, takeOver: true, order: 'none' })).kind).toBe('closed');
      expect((await batch.claim({})).kind).toBe('closed');
      const again = await batch.claim({ ...OTHER_RUN });
      expect(again).toMatchObject({ kind: 'claimed', batch: { state: 'staging', finishedAt: null } });
      expect((await batch.claim({ runId: 'run-3' })).kind).toBe('owned');
    });

    it('is taken over from a closed run by one of those who saw it closed', async () => {
      const batch = await scenario.run(['orphan']);
      const { workflowId, runId } = await batch.record();
      const claims = await Promise.all(
        ['run-2', 'run-3', 'run-4'].map((taker) =>
          batch.claim({ runId: taker, takeOver: true, closedRun: { workflowId, runId } }),
        ),
      );

      expect(claims.map(({ kind }) => kind).toSorted()).toEqual(['owned', 'owned', 'resumed']);
    });

    it('gives a file to exactly one of many runs that claim it at once', async () => {
      const batch = await scenario.begin();
      const claims = await Promise.all(
        Array.from({ length: 12 }, (_, index) =>
          batch.claim({ batchId: `race-${batch.batchId}`, sha256: `race-${batch.sha256}`, runId: `run-${index}` }),
        ),
      );

      const others = Array.from({ length: 11 }, () => 'owned');
      expect(claims.map(({ kind }) => kind).toSorted()).toEqual(['claimed', ...others]);
    });
  });

  describe('batch states', () => {
    const scenario = createScenario(ledger);

    it.each([
      [['paused'], 'paused', null],
      [['paused', 'running'], 'running', null],
      [['finished'], 'finished', NOW],
      [['cancelled', 'finished'], 'cancelled', NOW + 1],
      [['finished', 'running'], 'finished', NOW],
      [['cancelled', 'paused', 'running'], 'cancelled', NOW],
    ] as const)('after %s are %s: only a claim opens a closed batch again', async (states, state, finishedAt) => {
      const batch = await scenario.run([]);

      for (const [index, next] of states.entries()) await batch.setState(next, NOW + index);

      expect(await batch.record()).toMatchObject({ state, finishedAt });
    });

    it('cannot be ended while the file is being staged: its run has read it before, so the ledger is older than the run', async () => {
      const { batchId, fencingToken, ...batch } = await scenario.begin();
      const end = { state: 'finished', unsent: REASON, left: REASON, now: NOW, fencingToken } as const;

      for (const ended of [() => batch.setState('finished'), () => ledger.endBatch(batchId, end)])
        await expect(ended()).rejects.toMatchObject({ code: 'ledger-conflict' });

      expect((await batch.record()).state).toBe('staging');
    });

    it('are an error for a batch that is not there', async () => {
      const asked = [
        () => ledger.setBatchState('no-such-batch', 'paused', NOW),
        () => ledger.nextRevision('no-such-batch'),
        () => ledger.restartStaging({ batchId: 'no-such-batch', fencingToken: 1 }),
      ];
      for (const ask of asked) await expect(ask()).rejects.toMatchObject({ code: 'batch-not-found' });
      expect(await ledger.findBatch('no-such-batch')).toBeNull();
    });

    it('counts revisions from one', async () => {
      const { batchId, record } = await scenario.run([]);

      for (const revision of [1, 2]) expect(await ledger.nextRevision(batchId)).toBe(revision);
      expect((await record()).revision).toBe(2);
    });

    it('are listed by when their batches began, not by when they came into the ledger', async () => {
      const [early, late] = [await scenario.begin(), await scenario.begin()];
      const far = NOW + 9_000_000_000;
      await late.claim({ batchId: `${late.batchId}-b`, sha256: `${late.sha256}-b`, now: far + 2 });
      await early.claim({ batchId: `${early.batchId}-b`, sha256: `${early.sha256}-b`, now: far + 1 });

      expect((await ledger.listBatches(2)).map(({ startedAt }) => startedAt)).toEqual([far + 2, far + 1]);
    });
  });

  describe('the end of staging', () => {
    const scenario = createScenario(ledger);

    it('starts the batch with its counts, pages, proof and findings, once', async () => {
      const batch = await scenario.reading({ ...scenario.valid('six-rows'), rows: [2, 3, 4, 5, 6, 7] });
      await (await scenario.begin()).refuse({ rows: 0 });
      await (await scenario.begin()).stage('elsewhere');
      const fileFindings = [FINDING, { ...FINDING, row: null }];
      const proof = { encoding: 'utf-8', marks: { quantity: ',' } };

      const record = await batch.finishStaging(1, 2_000, { rows: 7, rowsWithoutInvoice: 1, fileFindings, proof });

      const counts = { state: 'running', rows: 7, rowsWithoutInvoice: 1, pageSize: 2_000, pages: 1 };
      expect(record).toMatchObject(counts);
      expect(record.proof).toEqual(proof);
      expect(await ledger.fileFindings(batch.batchId)).toEqual(fileFindings);
      expect(await batch.finishStaging(1, 50)).toMatchObject(counts);
    });

    it('tells of many batches which findings decide whether their whole files went out', async () => {
      const finding = (code: string, message = code): Finding => ({ ...FINDING, row: null, code, message });
      const fileFindings = [
        finding('totals-row'),
        finding('nif-checksum', '"code":"totals-row"'),
        finding('rows-lost'),
      ];
      const batches = [await scenario.begin(), await scenario.begin(), await scenario.begin()] as const;
      const [first, second, third] = batches;
      for (const batch of batches)
        await batch.finishStaging(0, 2, {
          ...{ rows: 1, rowsWithoutInvoice: 1, fileFindings: batch === third ? [] : fileFindings },
        });
      const differ = totalsFinding(totalsDiffer(['expected 2 invoices, found 0'], false));
      await ledger.noteTotals(second, differ);

      expect(await ledger.decidingFindings(batches.map(({ batchId }) => batchId))).toEqual(
        new Map([
          [first.batchId, [finding('totals-row')]],
          [second.batchId, [differ, finding('totals-row')]],
        ]),
      );
      expect((await ledger.fileFindings(second.batchId))[0]).toEqual(differ);
      await second.setState('finished');
      expect((await second.claim(OTHER_RUN)).kind).toBe('resumed');
      await ledger.overruleTotals({ batchId: second.batchId, fencingToken: undefined }, 'start');
      expect((await ledger.decidingFindings([second.batchId])).get(second.batchId)).toEqual([finding('totals-row')]);
      await second.setState('finished');
      expect((await second.claim({ ...OTHER_RUN, runId: 'run-3' })).kind).toBe('closed');
    });

    it('divides the invoices into pages by their ordinal', async () => {
      const batch = await scenario.run(['p1', 'p2', 'p3', 'p4', 'p5'], 2);

      expect((await batch.record()).pages).toBe(3);
      const pages = (await batch.lines()).map(({ ordinal, page }) => `${ordinal} ${page}`);
      expect(pages).toEqual(['1 1', '2 1', '3 2', '4 2', '5 3']);
    });

    it('is refused when an invoice that was read is not in the ledger', async () => {
      const batch = await scenario.begin();

      await expect(batch.finishStaging(1)).rejects.toMatchObject({ code: 'ledger-conflict' });

      expect((await batch.record()).state).toBe('staging');
    });

    it('with a refusal keeps findings and row count, and no invoice', async () => {
      const batch = await scenario.reading('refused');

      const record = await batch.refuse({ rows: 9, fileFindings: [FINDING], proof: { a: 1 }, now: NOW + 1 });

      const refused = { state: 'refused', rows: 9, rowsWithoutInvoice: 9, invoices: 0, finishedAt: NOW + 1 };
      expect(record).toMatchObject(refused);
      expect(await ledger.fileFindings(batch.batchId)).toEqual([FINDING]);
      expect(await batch.lines()).toEqual([]);
    });
  });
}
