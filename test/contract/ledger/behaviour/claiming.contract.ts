import { describe, expect, it } from 'vitest';
import { totalsDiffer, totalsFinding } from '../../../../src/domain/control-totals.ts';
import type { Finding } from '../../../../src/domain/invoice.ts';
import { accepted, createScenario, NOW, REASON } from '../scenario.ts';
import type { Ledger } from '../../../../src/ledger/ledger.ts';

const OTHER_RUN = { runId: 'run-2', workflowId: 'workflow-2' };

export function claimingContract(ledger: Ledger): void {
  describe('claimBatch', () => {
    const scenario = createScenario(ledger);

    it('claims a new file in state staging', async () => {
      const batch = await scenario.begin();

      expect(await batch.record()).toEqual({
        batchId: batch.batchId,
        application: scenario.application,
        file: 'invoices.csv',
        sha256: batch.sha256,
        state: 'staging',
        workflowId: `workflow-of-${batch.batchId}`,
        runId: 'run-1',
        temporalId: null,
        pageSize: 0,
        pages: 0,
        rows: 0,
        rowsWithoutInvoice: 0,
        invoices: 0,
        startedAt: NOW,
        finishedAt: null,
        revision: 0,
        fencingToken: 1,
        stopped: null,
        proof: {},
      });
    });

    it('lets the same run claim its staging batch again, and refuses another', async () => {
      const batch = await scenario.begin();

      expect((await batch.claim()).kind).toBe('claimed');
      expect((await batch.claim(OTHER_RUN)).kind).toBe('owned');
      expect((await batch.record()).runId).toBe('run-1');
    });

    it('hands a staging batch to a run that takes over, which ingests from the start', async () => {
      const batch = await scenario.begin();

      const result = await batch.claim({ ...OTHER_RUN, takeOver: true });

      expect(result.kind).toBe('claimed');
      expect(result.batch.runId).toBe('run-2');
      expect((await batch.claim()).kind).toBe('owned');
    });

    it.each(['running', 'paused'] as const)(
      'keeps a %s batch with its run, and resumes it for a run that takes over',
      async (state) => {
        const batch = await scenario.run([`kept-${state}`]);
        await ledger.setBatchState(batch.batchId, state, NOW);

        expect((await batch.claim()).kind).toBe('resumed');
        expect((await batch.claim(OTHER_RUN)).kind).toBe('owned');
        const taken = await batch.claim({ ...OTHER_RUN, takeOver: true });

        expect(taken).toMatchObject({
          kind: 'resumed',
          batch: { state: 'running', runId: 'run-2', workflowId: 'workflow-2' },
        });
      },
    );

    it('remembers in which database of Temporal the run works that holds the claim', async () => {
      const batch = await scenario.begin({ temporalId: 'temporal-1' });
      const first = await batch.record();
      await batch.claim({ ...OTHER_RUN, temporalId: 'temporal-2' });
      const owned = await batch.record();
      await batch.claim({ ...OTHER_RUN, takeOver: true, temporalId: 'temporal-2' });
      const taken = await batch.record();
      await batch.claim({ ...OTHER_RUN, attempt: 99, temporalId: null });
      const again = await batch.record();
      await batch.claim({ ...OTHER_RUN, runId: 'run-3', takeOver: true, attempt: 1, temporalId: null });

      expect([first, owned, taken, again].map(({ temporalId }) => temporalId)).toEqual([
        ...['temporal-1', 'temporal-1', 'temporal-2'],
        // The same run asked once more, and Temporal did not say it then.
        'temporal-2',
      ]);
      expect((await batch.record()).temporalId).toBeNull();
    });

    it('knows a file by application and bytes, whatever it is called', async () => {
      const batch = await scenario.begin();

      const result = await batch.claim({ ...OTHER_RUN, batchId: 'batch-under-another-name', file: 'copy.csv' });

      expect(result.kind).toBe('owned');
      expect(result.batch).toMatchObject({ batchId: batch.batchId, file: 'invoices.csv' });
    });

    it('refuses an id that another file has', async () => {
      const batch = await scenario.begin();

      await expect(batch.claim({ sha256: 'f'.repeat(64) })).rejects.toMatchObject({ code: 'ledger-conflict' });
    });

    it.each([
      ['paused', true],
      ['cancelled', false],
    ] as const)(
      'gives a batch that an operator has %s to a person, and to another order only to close it',
      async (stop, paused) => {
        const batch = await scenario.run([`stopped-${stop}`]);
        const { workflowId, runId } = await batch.record();
        const takeOver = { ...OTHER_RUN, takeOver: true, closedRun: { workflowId, runId } };
        const order = { batchId: batch.batchId, workflowId, runId, version: 1, paused, cancelled: !paused };
        await ledger.recordControl(order);
        expect(await ledger.sendingBatches([batch.batchId])).toEqual([]);

        for (const by of ['drop', 'none'] as const)
          expect((await batch.claim({ ...takeOver, ...(by === 'none' && OTHER_RUN), order: by })).kind).toBe('stopped');
        const person = { ...takeOver, runId: 'run-3', closedRun: OTHER_RUN };
        expect(await batch.claim(person)).toMatchObject({
          kind: 'resumed',
          batch: { state: 'running', stopped: null },
        });
      },
    );

    it.each([
      ['paused', true],
      ['cancelled', false],
    ] as const)('keeps a batch %s for the next run of the same work, which sends none of it', async (what, paused) => {
      const batch = await scenario.run([`restarted-${what}`]);
      const { workflowId, runId } = await batch.record();
      await ledger.recordControl({ batchId: batch.batchId, workflowId, runId, version: 7, paused, cancelled: !paused });
      const before = await batch.record();
      const restart = { workflowId, runId: 'run-2', order: 'restart', takeOver: true } as const;

      const result = await batch.claim({ ...restart, closedRun: { workflowId, runId } });

      const { state, stopped } = before;
      expect(result).toMatchObject({ kind: 'resumed', batch: { state, stopped, runId: 'run-2' } });
      expect(stopped).toMatchObject({ what });
      expect(await ledger.sendingBatches([batch.batchId])).toEqual([]);
      const resume = { batchId: batch.batchId, workflowId, version: 1, paused: false, cancelled: false };
      expect(await ledger.recordControl({ ...resume, runId })).toBe(false);
      expect(await ledger.recordControl({ ...resume, runId: 'run-2' })).toBe(true);
      expect(await batch.record()).toMatchObject({ state: 'running', stopped: null });
    });

    it('opens no finished batch again for the next run of the same work', async () => {
      const batch = await scenario.run(['held-and-restarted']);
      await batch.finish();

      expect((await batch.claim({ ...OTHER_RUN, order: 'restart', takeOver: true })).kind).toBe('closed');
    });

    it('hands a batch that nobody has stopped to a run that orders nothing', async () => {
      const batch = await scenario.run(['not-stopped']);

      expect((await batch.claim({ ...OTHER_RUN, takeOver: true, order: 'none' })).kind).toBe('resumed');
    });

    it('leaves a finished batch closed when everything in it is final', async () => {
      const batch = await scenario.run(['final']);
      await batch.send('final', { kind: 'rejected', reason: REASON });
      await batch.finish();

      const result = await batch.claim(OTHER_RUN);

      expect(result).toMatchObject({
        kind: 'closed',
        batch: { state: 'finished', runId: 'run-1', finishedAt: NOW + 9 },
      });
    });

    it.each(['finished', 'cancelled'] as const)('opens a %s batch again for a held invoice', async (state) => {
      const batch = await scenario.run([`held-${state}`]);
      await batch.hold();
      await ledger.setBatchState(batch.batchId, state, NOW);

      const result = await batch.claim(OTHER_RUN);

      expect(result).toMatchObject({ kind: 'resumed', batch: { state: 'running', runId: 'run-2', finishedAt: null } });
      expect((await batch.claim()).kind).toBe('owned');
    });

    it('opens nothing again for a run that has waited for the one that had the file', async () => {
      const batch = await scenario.run(['held-waited']);
      await batch.hold();
      await batch.finish();

      expect(await batch.claim({ ...OTHER_RUN, order: 'none' })).toMatchObject({
        kind: 'closed',
        batch: { state: 'finished', runId: 'run-1' },
      });
    });

    it.each(['staged', 'sending', 'accepted', 'unknown', 'unsettled'] as const)(
      'opens a finished batch again for an %s invoice',
      async (state) => {
        const ref = `open-${state}`;
        const batch = await scenario.run([ref]);
        if (state === 'sending') await batch.freeze(ref);
        if (state === 'unknown') await batch.send(ref, { kind: 'unknown', reason: REASON });
        if (state === 'accepted' || state === 'unsettled') await batch.send(ref, accepted(scenario.serviceId(ref)));
        if (state === 'unsettled')
          await ledger.closePage(batch.batchId, 1, { acceptedBefore: NOW + 1, reason: REASON, now: NOW });
        await batch.finish();
        expect((await batch.line(ref)).state).toBe(state);

        expect((await batch.claim(OTHER_RUN)).kind).toBe('resumed');
      },
    );

    it('leaves a refused batch closed, unless another run is ordered to read it again', async () => {
      const batch = await scenario.begin();
      await ledger.refuseBatch(batch, { rows: 3, fileFindings: [], proof: {}, now: NOW });

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

      expect(claims.filter(({ kind }) => kind === 'resumed')).toHaveLength(1);
      expect(claims.filter(({ kind }) => kind === 'owned')).toHaveLength(2);
    });

    it('gives a file to exactly one of many runs that claim it at once', async () => {
      const batch = await scenario.begin();
      const claims = Array.from({ length: 12 }, (_, index) =>
        batch.claim({ batchId: `race-${batch.batchId}`, sha256: `race-${batch.sha256}`, runId: `run-${index}` }),
      );

      const kinds = (await Promise.all(claims)).map((result) => result.kind);

      expect(kinds.filter((kind) => kind === 'claimed')).toHaveLength(1);
      expect(kinds.filter((kind) => kind === 'owned')).toHaveLength(11);
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
      [['cancelled', 'paused'], 'cancelled', NOW],
    ] as const)('after %s are %s: only a claim opens a closed batch again', async (states, state, finishedAt) => {
      const batch = await scenario.run([]);

      for (const [index, next] of states.entries()) await ledger.setBatchState(batch.batchId, next, NOW + index);

      expect(await batch.record()).toMatchObject({ state, finishedAt });
    });

    it('cannot be ended while the file is being staged: its run has read it before, so the ledger is older than the run', async () => {
      const batch = await scenario.begin();
      const { batchId, fencingToken } = batch;
      const end = { state: 'finished', unsent: REASON, now: NOW, fencingToken } as const;

      const ends = [() => ledger.setBatchState(batchId, 'finished', NOW), () => ledger.endBatch(batchId, end)];
      for (const ended of ends) await expect(ended()).rejects.toMatchObject({ code: 'ledger-conflict' });

      expect((await batch.record()).state).toBe('staging');
    });

    it('is an error for a batch that is not there', async () => {
      await expect(ledger.setBatchState('no-such-batch', 'paused', NOW)).rejects.toMatchObject({
        code: 'batch-not-found',
      });
      await expect(ledger.nextRevision('no-such-batch')).rejects.toMatchObject({ code: 'batch-not-found' });
      await expect(ledger.restartStaging({ batchId: 'no-such-batch', fencingToken: 1 })).rejects.toMatchObject({
        code: 'batch-not-found',
      });
      expect(await ledger.findBatch('no-such-batch')).toBeNull();
    });

    it('counts revisions from one', async () => {
      const batch = await scenario.run([]);

      expect(await ledger.nextRevision(batch.batchId)).toBe(1);
      expect(await ledger.nextRevision(batch.batchId)).toBe(2);
      expect((await batch.record()).revision).toBe(2);
    });
  });

  describe('the end of staging', () => {
    const scenario = createScenario(ledger);

    it('starts the batch with its counts, pages, proof and findings', async () => {
      const batch = await scenario.begin();
      await ledger.refuseBatch(await scenario.begin(), { rows: 0, fileFindings: [], proof: {}, now: NOW });
      await (await scenario.begin()).stage('elsewhere');
      const finding = {
        row: 3,
        column: null,
        code: 'totals-row',
        message: 'Not an invoice',
        severity: 'info',
      } as const;

      const invoice = scenario.valid('six-rows');
      await ledger.stageInvoices(batch, [{ ...invoice, rows: [2, 3, 4, 5, 6, 7] }], NOW);

      const record = await ledger.finishStaging(batch, {
        rows: 7,
        rowsWithoutInvoice: 1,
        invoices: 1,
        pageSize: 2_000,
        fileFindings: [finding, { ...finding, row: null }],
        proof: { encoding: 'utf-8', marks: { quantity: ',' } },
      });

      expect(record).toMatchObject({ state: 'running', rows: 7, rowsWithoutInvoice: 1, pageSize: 2_000, pages: 1 });
      expect(record.proof).toEqual({ encoding: 'utf-8', marks: { quantity: ',' } });
      expect(await ledger.fileFindings(batch.batchId)).toEqual([finding, { ...finding, row: null }]);
    });

    it('tells of many batches which findings decide whether their whole files went out', async () => {
      const finding = (code: string, message = code): Finding => ({
        ...{ row: null, column: null, severity: 'warning' },
        ...{ code, message },
      });
      const fileFindings = [
        finding('totals-row'),
        finding('nif-checksum', '"code":"totals-row"'),
        finding('rows-lost'),
      ];
      const batches = [await scenario.begin(), await scenario.begin(), await scenario.begin()] as const;
      for (const batch of batches)
        await ledger.finishStaging(batch, {
          ...{ rows: 1, rowsWithoutInvoice: 1, invoices: 0, pageSize: 2, proof: {} },
          fileFindings: batch === batches[2] ? [] : fileFindings,
        });
      const [first, second, third] = batches;
      const differ = totalsFinding(totalsDiffer(['expected 2 invoices, found 0'], false));
      await ledger.noteTotals(second, differ);

      expect(await ledger.decidingFindings([first.batchId, second.batchId, third.batchId])).toEqual(
        new Map([
          [first.batchId, [finding('totals-row')]],
          [second.batchId, [differ, finding('totals-row')]],
        ]),
      );
      expect((await ledger.fileFindings(second.batchId))[0]).toEqual(differ);
      await ledger.setBatchState(second.batchId, 'finished', NOW);
      expect((await second.claim(OTHER_RUN)).kind).toBe('resumed');
      await ledger.overruleTotals({ batchId: second.batchId, fencingToken: undefined }, 'start');
      expect((await ledger.decidingFindings([second.batchId])).get(second.batchId)).toEqual([finding('totals-row')]);
      await ledger.setBatchState(second.batchId, 'finished', NOW);
      expect((await second.claim({ ...OTHER_RUN, runId: 'run-3' })).kind).toBe('closed');
    });

    it('divides the invoices into pages by their ordinal', async () => {
      const batch = await scenario.run(['p1', 'p2', 'p3', 'p4', 'p5'], 2);

      expect((await batch.record()).pages).toBe(3);
      expect((await batch.lines()).map((line) => [line.ordinal, line.page].join(' '))).toEqual([
        '1 1',
        '2 1',
        '3 2',
        '4 2',
        '5 3',
      ]);
    });

    it('is refused when an invoice that was read is not in the ledger', async () => {
      const batch = await scenario.begin();

      await expect(batch.finishStaging(1)).rejects.toMatchObject({
        code: 'ledger-conflict',
      });

      expect((await batch.record()).state).toBe('staging');
    });

    it('repeated changes nothing', async () => {
      const batch = await scenario.run(['once'], 2);

      const again = await batch.finishStaging(1, 50);

      expect(again).toMatchObject({ state: 'running', pageSize: 2, pages: 1 });
    });

    it('with a refusal keeps findings and row count, and no invoice', async () => {
      const batch = await scenario.begin();
      const finding = {
        row: null,
        column: 'invoice_ref',
        code: 'column-missing',
        message: 'Missing',
        severity: 'error',
      } as const;

      const record = await ledger.refuseBatch(batch, {
        rows: 9,
        fileFindings: [finding],
        proof: { a: 1 },
        now: NOW + 1,
      });

      expect(record).toMatchObject({
        state: 'refused',
        rows: 9,
        rowsWithoutInvoice: 9,
        invoices: 0,
        finishedAt: NOW + 1,
      });
      expect(await ledger.fileFindings(batch.batchId)).toEqual([finding]);
      expect(await batch.lines()).toEqual([]);
    });
  });
}
