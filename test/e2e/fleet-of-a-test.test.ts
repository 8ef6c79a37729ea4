import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, inject, it } from 'vitest';
import { withFleet } from '../support/lote/worker-fleet.ts';

describe.skipIf(inject('postgresUrl') === null)('the processes of a test', () => {
  let started = -1;

  it.fails('whose time is over while it waits', { timeout: 10_000 }, async () => {
    await withFleet({ workers: 0 }, async ({ receiver }) => {
      started = receiver.pid;
      await sleep(3_600_000, undefined, { ref: false });
    });
  });

  it('have ended before the next test begins', () => {
    expect(started).toBeGreaterThan(0);
    expect(() => process.kill(started, 0)).toThrow('ESRCH');
  });

  it('run their own batch of a file of which the processes of another test run one, too', async () => {
    await withFleet({ workers: 0 }, async (one) => {
      await withFleet({ workers: 0 }, async (other) => {
        const [first, second] = [await one.startFile('night.csv', 1), await other.startFile('night.csv', 1)];

        expect(first.workflowId).not.toBe(second.workflowId);
        await Promise.all([first.terminate(), second.terminate()]);
      });
    });
  });
});
