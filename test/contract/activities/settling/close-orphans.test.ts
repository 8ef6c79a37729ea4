import { describe, expect, it } from 'vitest';
import { finishBatch } from '../../../../activities/batch/finish.ts';
import { closeOrphans } from '../../../../activities/settling/close-orphans.ts';
import type { ActivityDeps } from '../../../../activities/deps.ts';
import { NOW, REASON } from '../../../contract/ledger/scenario.ts';
import { activityPlaces, asActivity, type ActivityPlace } from '../activity-place.ts';

const placeOf = activityPlaces();

/** Every run has ended but that of the reconciliation itself, which the test's environment calls `test`. */
const runs: ActivityDeps['runs'] = {
  isOpen: (workflowId) => Promise.resolve(workflowId === 'test'),
  isSwitchedOff: () => Promise.resolve(false),
  stopOf: () => Promise.resolve({ what: 'terminated', at: NOW, who: null, why: null } as const),
};

/** Temporal has lost its database. */
const forgotten: ActivityDeps['runs'] = { ...runs, stopOf: () => Promise.resolve(null) };

function closing(place: ActivityPlace, attempt = 1, over: Partial<ActivityDeps> = {}): Promise<readonly string[]> {
  return asActivity(closeOrphans, { ...place.deps, ...over }, { all: true }, attempt);
}

describe('closing batches whose run was lost', () => {
  it('leaves a batch cancelled that its run cancelled while Temporal was asked for it', async () => {
    const place = placeOf();
    const batch = await place.scenario.run([{ ref: 'A' }]);
    const isOpen: ActivityDeps['runs']['isOpen'] = async () => {
      const input = { ledgerId: place.deps.ledger.id, batchId: batch.batchId, cancelled: true, actions: [] };
      await finishBatch(place.deps, input);
      return false;
    };

    const closed = await closing(place, 1, { runs: { ...runs, isOpen } });

    expect(closed).toEqual([]);
    expect(await batch.record()).toMatchObject({ state: 'cancelled' });
    expect(await batch.line('A')).toMatchObject({ state: 'held', reason: { code: 'batch-cancelled' } });
  });

  it('closes at its next attempt what an attempt claimed that died before it had closed it', async () => {
    const place = placeOf({ over: { runs } });
    const batch = await place.scenario.run([{ ref: 'A' }]);
    const died = () => Promise.reject(new Error('killed'));
    const ledger = { ...place.deps.ledger, endBatch: died };
    await expect(closing(place, 1, { ledger })).rejects.toThrow('killed');

    const closed = await closing(place, 2);

    expect(closed).toEqual([batch.batchId]);
    expect(await batch.record()).toMatchObject({ state: 'finished' });
    expect(await batch.line('A')).toMatchObject({ state: 'held', reason: { code: 'run-lost' } });
  });

  it('names at its next attempt what an attempt closed that failed at a later batch', async () => {
    const place = placeOf({ over: { runs } });
    const first = await place.scenario.run([{ ref: 'A' }]);
    const later = await place.scenario.run([{ ref: 'B' }]);
    const { workflowId } = await later.record();
    const isOpen: ActivityDeps['runs']['isOpen'] = (asked) =>
      asked === workflowId ? Promise.reject(new Error('Temporal is away')) : Promise.resolve(false);
    await expect(closing(place, 1, { runs: { ...runs, isOpen } })).rejects.toThrow('Temporal is away');
    expect(await first.record()).toMatchObject({ state: 'finished' });

    expect(await closing(place, 2)).toEqual([first.batchId, later.batchId]);
  });

  it('leaves to a person what a process had to send and may not have sent, and not what it sent', async () => {
    const place = placeOf({ over: { runs } });
    const batch = await place.scenario.run([{ ref: 'frozen' }, { ref: 'sent' }]);
    await batch.freeze('frozen');
    await batch.send('sent', { kind: 'pending', reason: REASON, mayExist: true });

    await closing(place);

    expect(await batch.line('frozen')).toMatchObject({ state: 'unknown', reason: { code: 'run-lost' } });
    expect((await batch.record()).stopped).toMatchObject({ what: 'terminated', at: NOW });
    expect(await batch.line('sent')).toMatchObject({ state: 'unknown', reason: { code: REASON.code } });
  });

  it.each([
    ['the schedule what a process had to send where Temporal has lost the run and no operator stopped it', null],
    ['a person what a process had to send where an operator had paused the batch before', 'paused'],
    ['a person what a process had to send where an operator had cancelled the batch before', 'cancelled'],
  ] as const)('leaves to %s', async (_, order) => {
    const place = placeOf({ over: { runs: forgotten } });
    const batch = await place.scenario.run([{ ref: 'A' }]);
    await batch.freeze('A');
    const { workflowId, runId } = await batch.record();
    const control = { batchId: batch.batchId, workflowId, runId, version: 1, paused: order === 'paused' };
    if (order !== null) await place.deps.ledger.recordControl({ ...control, cancelled: order === 'cancelled' });

    await closing(place);

    const { stopped } = await batch.record();
    expect(stopped?.what ?? null).toBe(order);
    const { state, reason } = await batch.line('A');
    expect(state).toBe('unknown');
    if (order === null) expect(reason?.code).toBe('run-lost');
  });

  it('leaves it to a person where an attempt has died that knew how the run had ended', async () => {
    const place = placeOf({ over: { runs } });
    const batch = await place.scenario.run([{ ref: 'A' }]);
    await batch.freeze('A');
    const ledger = { ...place.deps.ledger, endBatch: () => Promise.reject(new Error('killed')) };
    await expect(closing(place, 1, { ledger })).rejects.toThrow('killed');

    await closing(place, 2, { runs: forgotten });

    expect(await batch.record()).toMatchObject({ state: 'finished', stopped: { what: 'terminated' } });
  });
});
