import { describe, expect, it } from 'vitest';
import { assertOwnership } from '../../../activities/assert-ownership.ts';
import { LoteError } from '../../../src/domain/errors.ts';
import { activityPlaces } from './activity-place.ts';

const open = activityPlaces();

describe('the work that a worker is asked for', () => {
  it('is its own when it names this ledger, and a batch of its application, or nothing', async () => {
    const { deps, scenario } = open();
    const { batchId } = await scenario.run([{ ref: 'own' }]);

    await assertOwnership(deps, {});
    await assertOwnership(deps, { ledgerId: deps.ledger.id });
    await assertOwnership(deps, { ledgerId: deps.ledger.id, batchId });
  });

  it.each(['other', ''])(
    'is refused when it belongs to another ledger, with both names and what to do: %j',
    async (asked) => {
      const { deps } = open();

      await expect(assertOwnership(deps, { ledgerId: asked })).rejects.toMatchObject({
        code: 'ledger-foreign',
        message: `This work belongs to ledger ${asked}, and this worker keeps ledger ${deps.ledger.id}. Stop the worker, or give it a task queue of its own (LOTE_TASK_QUEUE).`,
      });
    },
  );

  it('is refused when its batch belongs to another application of the same ledger: it would go into another account', async () => {
    const first = open();
    const second = open();
    const { batchId } = await first.scenario.run([{ ref: 'foreign' }]);

    await expect(assertOwnership(second.deps, { ledgerId: second.deps.ledger.id, batchId })).rejects.toMatchObject({
      code: 'application-foreign',
      message: expect.stringContaining(`LOTE_APPLICATION=${first.scenario.application}`) as unknown,
    });
  });

  it('is refused once the account of the application has been changed under a running worker', async () => {
    const changed = new LoteError('interlock', 'the API key is another one');
    const { deps, scenario } = open({ over: { requireAccount: () => Promise.reject(changed) } });
    const { batchId } = await scenario.run([{ ref: 'changed' }]);

    await expect(assertOwnership(deps, { ledgerId: deps.ledger.id, batchId })).rejects.toBe(changed);
  });
});
