import { describe, expect, it } from 'vitest';
import { closePage } from '../../../../activities/settling/settle.ts';
import { finishBatch } from '../../../../activities/batch/finish.ts';
import { reopenBatch, sendAgain } from '../../../../activities/batch/retry.ts';
import { runningBatch, type RunningBatch } from '../../../../activities/batch/running-batch.ts';
import { NOW, REASON } from '../../../contract/ledger/scenario.ts';
import { startIngest, tinyFileReader } from '../../../support/ingest-workers.ts';
import { activityPlaces, asActivity, type ActivityPlace } from '../activity-place.ts';

const LOST = { code: 'claim-lost' };
const REJECTED = { kind: 'rejected', reason: REASON } as const;
const AGAIN = { states: ['rejected' as const], reason: 'put right' };

/** A step whose worker was stopped, and which goes on when its work has long been done by others. */
describe('an attempt that goes on too late', () => {
  const openPlace = activityPlaces();

  /** A batch of one invoice in its first round, whose end closes it; the service has refused it. */
  async function begun(ref: string, isRejected = true) {
    const place = openPlace();
    const batch = await place.scenario.run([{ ref }]);
    if (isRejected) await batch.send(ref, REJECTED);
    const first = await runningBatch(place.deps, await batch.record());
    const { ledgerId, batchId, fencingToken } = first;
    const end = { ledgerId, batchId, fencingToken, cancelled: false, actions: [] };
    return { place, batch, first, end, work: { ledgerId, batchId } };
  }

  function nextRound(place: ActivityPlace, round: RunningBatch, attempt = 1) {
    const { ledgerId, batchId, fencingToken } = round;
    const input = { ledgerId, batchId, fencingToken, actionId: 'round-1', requests: [AGAIN], automatic: false };
    return asActivity(sendAgain, place.deps, input, attempt);
  }

  it('does not close a page of the next round', async () => {
    const { place, batch, first, end } = await begun('page');
    await nextRound(place, first);

    const close = { ...end, page: 1, settleMs: 1, ending: 'sent' as const, waitedFor: null };
    await expect(closePage(place.deps, close)).rejects.toMatchObject(LOST);

    expect(await batch.line('page')).toMatchObject({ state: 'staged', generation: 2 });
  });

  it('does not end a batch that another run has opened again', async () => {
    const { place, batch, work, end } = await begun('end', false);
    await finishBatch(place.deps, end);
    const request = { reason: 'now', states: ['held' as const] };
    await asActivity(reopenBatch, place.deps, { ...work, workflowId: 'retry', runId: 'retry-1', request });

    await expect(finishBatch(place.deps, end)).rejects.toMatchObject(LOST);

    expect(await batch.record()).toMatchObject({ state: 'running', workflowId: 'retry' });
    expect((await batch.line('end')).state).toBe('staged');
  });

  it('ends a batch once, however often the step is repeated', async () => {
    const { place, batch, end } = await begun('once', false);

    const first = await finishBatch(place.deps, end);
    place.later(5);

    expect((await finishBatch(place.deps, end)).counts).toEqual(first.counts);
    expect(await batch.record()).toMatchObject({ state: 'finished', finishedAt: NOW });
  });

  it('does not let invoices go a second time', async () => {
    const { place, batch, first } = await begun('twice');
    expect(await nextRound(place, first, 2)).toMatchObject({ moved: 1 });
    await batch.send('twice', REJECTED);

    await expect(nextRound(place, first, 1)).rejects.toMatchObject(LOST);

    expect(await batch.line('twice')).toMatchObject({ state: 'rejected', generation: 2 });
  });

  it('is told from a later attempt of the same step, which goes on', async () => {
    const { place, batch, first } = await begun('later');
    const stopped = await nextRound(place, first, 1);

    const latest = await nextRound(place, first, 2);

    expect(latest.batch.fencingToken).toBe((stopped.batch.fencingToken ?? 0) + 1);
    expect((await batch.record()).fencingToken).toBe(latest.batch.fencingToken);
  });

  it('does not open a batch a second time for the same retry', async () => {
    const place = openPlace();
    const batch = await place.scenario.run([{ ref: 'reopen' }]);
    await batch.send('reopen', REJECTED);
    await batch.finish();
    const { batchId } = batch;
    const input = { batchId, workflowId: 'retry', runId: 'retry-1', request: AGAIN };
    expect(await asActivity(reopenBatch, place.deps, input, 2)).toMatchObject({ moved: 1 });
    await batch.send('reopen', REJECTED);
    await batch.finish();

    await expect(asActivity(reopenBatch, place.deps, input, 1)).rejects.toMatchObject(LOST);

    expect(await batch.line('reopen')).toMatchObject({ state: 'rejected', generation: 2 });
    expect((await batch.record()).state).toBe('finished');
  });

  it('does not release what was held when the batch was cancelled', async () => {
    const files = tinyFileReader({ sha256: `${NOW}a`, invoices: 2, lines: 1 });
    const place = openPlace({ over: { files } });
    const { deps } = place;
    const input = { file: 'tiny.csv', sha256: null, order: 'person' as const, workflowId: 'w', runId: 'r' };
    const staging = await startIngest(deps, { name: 'staging', attempt: 1, input });
    while (staging.end() === null) await staging.step();
    // Its claim, and no call more.
    const stopped = await startIngest(deps, { name: 'stopped', attempt: 2, input });
    await stopped.step();
    const taker = await startIngest(deps, { name: 'taker', attempt: 3, input });
    while (taker.end() === null) await taker.step();
    const [record] = (await deps.ledger.listBatches(50)).filter(({ application }) => application === deps.application);
    if (record === undefined) throw new Error('the file became no batch');
    await finishBatch(deps, { ledgerId: deps.ledger.id, ...record, cancelled: true, actions: [] });

    while (stopped.end() === null) await stopped.step();

    expect(stopped.end()).toEqual({ kind: 'failed', ...LOST });
    expect(await deps.ledger.countOutcomes(record.batchId)).toMatchObject([{ outcome: 'held', invoices: 2 }]);
  });
});
