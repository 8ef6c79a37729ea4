import { ApplicationFailure } from '@temporalio/activity';
import { describe, expect, it } from 'vitest';
import {
  reopenBatch,
  sendAgain,
  type ReopenInput,
  type Reopened,
  type SendAgainInput,
} from '../../../../activities/batch/retry.ts';
import { totalsDiffer, totalsFinding } from '../../../../src/domain/control-totals.ts';
import { accepted, NOW, REASON, serviceIdOf, type TestBatch } from '../../../contract/ledger/scenario.ts';
import { activityPlaces, asActivity, outcomesOf, RETRY, runsThatAre, type ActivityPlace } from '../activity-place.ts';

const placeOf = activityPlaces();

/** A finished batch with one failed, one rejected and one held invoice. */
async function finished(parts: Parameters<typeof placeOf>[0] = {}) {
  const place = placeOf(parts);
  const batch = await place.scenario.run([{ ref: 'failed' }, { ref: 'rejected' }, { ref: 'held' }], 2);
  const serviceId = serviceIdOf(place.scenario, 'failed');
  await batch.send('failed', accepted(serviceId));
  const { ledger } = place.deps;
  const [open] = await ledger.pendingInvoices(batch.batchId, 1, NOW + 1, 10);
  await ledger.recordStatus([
    {
      ...{ invoiceId: open?.invoiceId ?? 0, serviceId, status: 'failed', now: NOW },
      reason: { code: 'engine-busy', message: 'The tax engine was busy' },
    },
  ]);
  await batch.send('rejected', { kind: 'rejected', reason: REASON });
  await ledger.holdUnsent(batch.batchId, { reason: REASON, now: NOW });
  await batch.finish();
  return { place, batch };
}

/** Temporal counts the attempts of a run's step. */
let attempts = 0;

function reopen(place: ActivityPlace, batch: TestBatch, over: Partial<ReopenInput> = {}): Promise<Reopened> {
  attempts += 1;
  const input: ReopenInput = {
    ...{ ledgerId: place.deps.ledger.id, batchId: batch.batchId, workflowId: `retry-${batch.batchId}`, runId: 'run-2' },
    request: { states: ['failed', 'rejected', 'held'], reason: 'the engine is back', who: 'ana' },
    ...over,
  };
  return asActivity(reopenBatch, place.deps, input, attempts);
}

function again(place: ActivityPlace, batch: TestBatch, over: Partial<SendAgainInput> = {}): Promise<Reopened> {
  return sendAgain(place.deps, {
    ...{ ledgerId: place.deps.ledger.id, batchId: batch.batchId, actionId: `${batch.batchId}/round-1` },
    ...{ requests: [], automatic: false },
    ...over,
  });
}

describe('a retry of a finished batch', () => {
  it('lets the selected invoices go, and names the pages with something to send', async () => {
    const { place, batch } = await finished();

    expect(await reopen(place, batch)).toMatchObject({
      ...{ moved: 3, refused: {} },
      batch: {
        ...{ kind: 'running', ledgerId: place.deps.ledger.id, batchId: batch.batchId, invoices: 3 },
        pages: [
          { page: 1, firstOrdinal: 1, lastOrdinal: 2 },
          { page: 2, firstOrdinal: 3, lastOrdinal: 3 },
        ],
        settings: { sliceSize: 500, settleMs: 900_000, sendMs: 1_800_000, patienceMs: 3_600_000 },
      },
    });
    expect(await outcomesOf(place, batch.batchId)).toEqual({ staged: 3 });
  });

  it('keeps the key of a failed or rejected one until it has been asked once more, and that of a held one', async () => {
    const { place, batch } = await finished();
    const keys = async () => (await batch.lines()).map(({ idempotencyKey }) => idempotencyKey);
    const before = await keys();

    await reopen(place, batch);

    const after = await keys();
    expect(after.map((key, at) => key === before[at])).toEqual([true, true, true]);
    expect((await batch.sendable()).map(({ earlier }) => earlier?.state ?? null)).toEqual(['failed', 'rejected', null]);
    expect((await batch.lines()).map(({ generation }) => generation)).toEqual([2, 2, 1]);
  });

  it.each([
    ['a state', { states: ['held'] }, { failed: 1, rejected: 1, staged: 1 }],
    ['a row of the file', { rows: [2] }, { staged: 1, rejected: 1, held: 1 }],
    ['a row and a state that it is not in', { rows: [2], states: ['held'] }, { failed: 1, rejected: 1, held: 1 }],
    ['empty lists, which say nothing', { rows: [], states: [] }, { staged: 3 }],
  ] as const)('touches only what was meant: %s', async (_, selection, outcomes) => {
    const { place, batch } = await finished();

    await reopen(place, batch, { request: { ...selection, reason: 'why' } });

    expect(await outcomesOf(place, batch.batchId)).toEqual(outcomes);
  });

  it.each([
    [['held'], 'control-totals-overruled', 'found 3. An operator then sent held invoices of it all the same'],
    [['failed', 'rejected'], 'control-totals-differ', 'found 3. Nothing of it was sent.'],
  ] as const)('of %j: what the report says of control totals that differ is %s', async (states, code, words) => {
    const { place, batch } = await finished();
    const { fencingToken } = await batch.record();
    const differ = totalsFinding(totalsDiffer(['expected 4 invoices, found 3'], false));
    await place.deps.ledger.noteTotals({ batchId: batch.batchId, fencingToken }, differ);

    await reopen(place, batch, { request: { states, reason: 'the source was wrong' } });

    const said = await place.deps.ledger.fileFindings(batch.batchId);
    expect(said.map((finding) => finding.code)).toEqual([code]);
    expect(said[0]?.message).toContain(words);
  });

  it('ends the pause of a run that has ended, also where the attempt that took the batch over died before it could', async () => {
    const { place, batch } = await finished({ over: { runs: runsThatAre('ended') } });
    await reopen(place, batch, { workflowId: 'an earlier retry' });
    await place.deps.ledger.setBatchState(batch.batchId, 'paused', NOW);
    const run = { batchId: batch.batchId, workflowId: `retry-${batch.batchId}`, runId: 'run-2' };
    await place.deps.ledger.reopenBatch({ ...run, attempt: (attempts += 1), takeOver: true, endsStop: true });

    await reopen(place, batch);

    expect((await batch.record()).state).toBe('running');
  });

  it('is written down with who and why, once for however often the step is repeated', async () => {
    const { place, batch } = await finished();

    await reopen(place, batch);
    await reopen(place, batch);

    const audit = await place.deps.ledger.auditOf(batch.batchId);
    expect(audit.every(({ who, why }) => who === 'ana' && why === 'the engine is back')).toBe(true);
    expect(audit.reduce((sum, { invoices }) => sum + invoices, 0)).toBe(3);
  });

  it('says what it left and why', async () => {
    const { place, batch } = await finished({ settings: { retry: { ...RETRY, maxGenerations: 1 } } });

    expect(await reopen(place, batch)).toMatchObject({ moved: 1, refused: { 'generations-spent': 2 } });
  });

  it.each([
    [false, { moved: 0, refused: { 'needs-accept-duplicate-risk': 1 } }],
    [true, { moved: 1, refused: {} }],
  ])('while a refusal proves nothing, a rejected one goes at the operator’s risk only: %s', async (risk, result) => {
    const { place, batch } = await finished({ settings: { retry: { ...RETRY, rejectionIsProof: false } } });
    const request = { states: ['rejected'], reason: 'asked their support', acceptDuplicateRisk: risk } as const;

    expect(await reopen(place, batch, { request })).toMatchObject(result);
  });
});

describe('a retry of a batch that a run holds', () => {
  it('is refused while that run lives, and names it: the update must go there', async () => {
    const place = placeOf({ over: { runs: runsThatAre('open') } });
    const batch = await place.scenario.run([{ ref: 'A' }]);

    const error = await reopen(place, batch).catch((reason: unknown) => reason);

    expect(error).toBeInstanceOf(ApplicationFailure);
    expect(error).toMatchObject({
      ...{ type: 'batch-running', nonRetryable: true, details: [`workflow-of-${batch.batchId}`] },
      message: `Retrying invoices of batch ${batch.batchId}: it is running. Send the update retryInvoices to workflow workflow-of-${batch.batchId} instead.`,
    });
  });

  it('takes it over when that run is gone', async () => {
    const place = placeOf({ over: { runs: runsThatAre('ended') } });
    const batch = await place.scenario.run([{ ref: 'A' }]);
    await place.deps.ledger.holdUnsent(batch.batchId, { reason: REASON, now: NOW });

    expect(await reopen(place, batch)).toMatchObject({ moved: 1 });
    expect(await batch.record()).toMatchObject({
      ...{ workflowId: `retry-${batch.batchId}`, runId: 'run-2', state: 'running' },
    });
  });

  it('has nothing to do with a file that was refused', async () => {
    const place = placeOf();
    const batch = await place.scenario.begin();
    await place.deps.ledger.refuseBatch(batch, { rows: 1, fileFindings: [], proof: {}, now: NOW });

    await expect(reopen(place, batch)).rejects.toMatchObject({
      code: 'transition-refused',
      message: `Retrying invoices of batch ${batch.batchId}: its file was refused or is still being read, so it has no invoices. Nothing was done. \`lote status ${batch.batchId}\` says where it stands.`,
    });
  });
});

describe('between two rounds of a batch', () => {
  it('several requests of operators add up', async () => {
    const { place, batch } = await finished();

    const result = await again(place, batch, {
      requests: [
        { states: ['failed'], reason: 'one' },
        { states: ['held'], reason: 'two', who: 'rui' },
      ],
    });

    expect(result).toMatchObject({ moved: 2, refused: {} });
    const audit = await place.deps.ledger.auditOf(batch.batchId);
    expect(audit.map(({ who, why }) => [who, why])).toEqual([
      [null, 'one'],
      ['rui', 'two'],
    ]);
    expect(place.logged[0]).toMatchObject({ level: 'info', message: 'invoices go again' });
  });

  it.each([
    ['the profile names its reason', ['engine-busy'], true, 1],
    ['the profile names another reason', ['other'], true, 0],
    ['the profile names none', [], true, 0],
    ['it is not the time for it', ['engine-busy'], false, 0],
  ])('a failed one goes again by itself when %s', async (_, failedReasonCodes, automatic, moved) => {
    const { place, batch } = await finished({ settings: { retry: { ...RETRY, failedReasonCodes } } });

    expect((await again(place, batch, { automatic })).moved).toBe(moved);
    expect((await batch.line('failed')).state).toBe(moved === 1 ? 'staged' : 'failed');
    expect((await batch.line('rejected')).state).toBe('rejected');
  });

  it('one that went as often as the profile allows is no news', async () => {
    const retry = { ...RETRY, failedReasonCodes: ['engine-busy'], maxGenerations: 1 };
    const { place, batch } = await finished({ settings: { retry } });

    const result = await again(place, batch, { automatic: true });

    expect([result.moved, result.refused]).toEqual([0, {}]);
    expect(place.logged).toEqual([]);
  });

  it('what a worker had moved when it died counts as moved for the one that repeats its step', async () => {
    const place = placeOf();
    const batch = await place.scenario.run([{ ref: 'A' }]);
    await batch.send('A', { kind: 'rejected', reason: REASON });
    const { batchId, fencingToken } = batch;
    const input: SendAgainInput = {
      ...{ ledgerId: place.deps.ledger.id, batchId, fencingToken, actionId: `${batchId}/round-1` },
      ...{ requests: [{ states: ['rejected'], reason: 'put right' }], automatic: false },
    };

    const died = await asActivity(sendAgain, place.deps, input, 1);
    const repeated = await asActivity(sendAgain, place.deps, input, 2);

    expect([died.moved, repeated.moved]).toEqual([1, 1]);
    expect((await batch.line('A')).state).toBe('staged');
  });
});
