import { describe, expect, it } from 'vitest';
import { finishBatch } from '../../../../activities/batch/finish.ts';
import { closeOrphans } from '../../../../activities/settling/close-orphans.ts';
import type { ActivityDeps } from '../../../../activities/deps.ts';
import { LoteError } from '../../../../src/domain/errors.ts';
import { NOW, REASON } from '../../../contract/ledger/scenario.ts';
import { activityPlaces, asActivity, type ActivityPlace } from '../activity-place.ts';

const placeOf = activityPlaces();
const ENDED_FOR_MS = 3_600_000;

/** Every run has ended but that of the reconciliation itself, which the test's environment calls `test`. */
const runs: ActivityDeps['runs'] = {
  isOpen: (workflowId) => Promise.resolve(workflowId === 'test'),
  endedForMs: (workflowId) => Promise.resolve(workflowId === 'test' ? null : ENDED_FOR_MS),
  wasStopped: () => Promise.resolve(true),
  temporalId: () => Promise.resolve('temporal-1'),
};

/** Temporal has lost its database. */
const forgotten: ActivityDeps['runs'] = { ...runs, wasStopped: () => Promise.resolve(false) };

function closing(place: ActivityPlace, attempt = 1, over: Partial<ActivityDeps> = {}): Promise<readonly string[]> {
  return asActivity(closeOrphans, { ...place.deps, ...over }, { all: true }, attempt);
}

describe('closing batches whose run was lost', () => {
  it('leaves a batch cancelled that its run cancelled while Temporal was asked for it', async () => {
    const place = placeOf();
    const batch = await place.scenario.run([{ ref: 'A' }]);
    const endedForMs: ActivityDeps['runs']['endedForMs'] = async () => {
      const input = { ledgerId: place.deps.ledger.id, batchId: batch.batchId, cancelled: true, actions: [] };
      await finishBatch(place.deps, input);
      return ENDED_FOR_MS;
    };

    const closed = await closing(place, 1, { runs: { ...runs, endedForMs } });

    expect(closed).toEqual([]);
    expect(await batch.record()).toMatchObject({ state: 'cancelled' });
    expect(await batch.line('A')).toMatchObject({ state: 'held', reason: { code: 'batch-cancelled' } });
  });

  it('leaves one whose lost report cannot be read, says so, and closes the others', async () => {
    const place = placeOf({ over: { runs } });
    const doubtful = await place.scenario.run([{ ref: 'A' }]);
    const other = await place.scenario.run([{ ref: 'B' }]);
    const damaged = new LoteError('folder-unusable', 'Reading report.json: found an empty file');
    const reports: ActivityDeps['reports'] = {
      ...place.deps.reports,
      rowsNotSent: (batchId) =>
        batchId === doubtful.batchId ? Promise.reject(damaged) : place.deps.reports.rowsNotSent(batchId),
    };

    const closed = await closing(place, 1, { reports });

    expect(closed).toEqual([other.batchId]);
    expect(await doubtful.record()).toMatchObject({ state: 'running' });
    expect(place.logged).toContainEqual(
      expect.objectContaining({ level: 'error', fields: { batchId: doubtful.batchId, err: damaged } }),
    );
  });

  it('closes at its next attempt what an attempt claimed that died before it had closed it', async () => {
    const place = placeOf({ over: { runs } });
    const batch = await place.scenario.run([{ ref: 'A' }]);
    const died = () => Promise.reject(new Error('killed'));
    const ledger = { ...place.deps.ledger, holdUnsent: died };
    await expect(closing(place, 1, { ledger })).rejects.toThrow('killed');

    const closed = await closing(place, 2);

    expect(closed).toEqual([batch.batchId]);
    expect(await batch.record()).toMatchObject({ state: 'finished', temporalId: 'temporal-1' });
    expect(await batch.line('A')).toMatchObject({ state: 'held', reason: { code: 'run-lost' } });
  });

  it('names at its next attempt what an attempt closed that failed at a later batch', async () => {
    const place = placeOf({ over: { runs } });
    const first = await place.scenario.run([{ ref: 'A' }]);
    const later = await place.scenario.run([{ ref: 'B' }]);
    const { workflowId } = await later.record();
    const endedForMs: ActivityDeps['runs']['endedForMs'] = (asked) =>
      asked === workflowId ? Promise.reject(new Error('Temporal is away')) : Promise.resolve(ENDED_FOR_MS);
    await expect(closing(place, 1, { runs: { ...runs, endedForMs } })).rejects.toThrow('Temporal is away');
    expect(await first.record()).toMatchObject({ state: 'finished' });

    expect(await closing(place, 2)).toEqual([first.batchId, later.batchId]);
  });

  it('leaves to a person what a process had to send and may not have sent, and not what it sent', async () => {
    const place = placeOf({ over: { runs } });
    const batch = await place.scenario.run([{ ref: 'frozen' }, { ref: 'sent' }]);
    const [frozen, sent] = await batch.sendable();
    if (frozen === undefined || sent === undefined) throw new Error('two are to be sent');
    const ids = [frozen, sent].map(({ invoiceId, generation }) => ({ invoiceId, generation, body: '{}' }));
    await place.deps.ledger.freeze(batch.batchId, ids, NOW);
    const outcome = { kind: 'pending', reason: REASON, mayExist: true } as const;
    const { invoiceId, generation } = sent;
    await place.deps.ledger.recordSends([{ invoiceId, generation, attempts: 1, sentAt: NOW, outcome }]);

    await closing(place);

    expect(await batch.line('frozen')).toMatchObject({ state: 'unknown', reason: { code: 'cancelled-unanswered' } });
    expect((await batch.line('frozen')).reason?.message).toMatch(/^The run of this batch ended while /);
    expect(await batch.line('sent')).toMatchObject({ state: 'unknown', reason: { code: REASON.code } });
  });

  it('leaves to the schedule what a process had to send where Temporal has lost the run and nobody stopped it', async () => {
    const place = placeOf({ over: { runs: forgotten } });
    const batch = await place.scenario.run([{ ref: 'A' }]);
    await batch.freeze('A');

    await closing(place);

    expect(await batch.line('A')).toMatchObject({ state: 'unknown', reason: { code: 'run-lost' } });
  });

  it.each([
    ['paused', true],
    ['cancelled', false],
  ] as const)('leaves it to a person where an operator had %s the batch before', async (order, paused) => {
    const place = placeOf({ over: { runs: forgotten } });
    const batch = await place.scenario.run([{ ref: 'A' }]);
    await batch.freeze('A');
    const { workflowId, runId } = await batch.record();
    const run = { batchId: batch.batchId, workflowId, runId };
    await place.deps.ledger.recordControl({ ...run, version: 1, paused, cancelled: order === 'cancelled' });

    await closing(place);

    expect(await batch.line('A')).toMatchObject({ state: 'unknown', reason: { code: 'cancelled-unanswered' } });
  });

  it('leaves it to a person where an attempt has died that knew how the run had ended', async () => {
    const place = placeOf({ over: { runs: forgotten } });
    const batch = await place.scenario.run([{ ref: 'A' }]);
    await batch.freeze('A');
    const ledger = { ...place.deps.ledger, holdUnsent: () => Promise.reject(new Error('killed')) };
    await expect(closing(place, 1, { ledger })).rejects.toThrow('killed');

    await closing(place, 2);

    expect(await batch.line('A')).toMatchObject({ state: 'unknown', reason: { code: 'cancelled-unanswered' } });
  });
});
