import { describe, expect, it } from 'vitest';
import type { QueuePoller } from '../../../../src/wiring/temporal/queue-pollers.ts';
import { requireListedWorker, requireLiveWorker } from '../../../../src/wiring/temporal/require-live-worker.ts';

const NEVER = new Promise<never>(() => undefined);

function poller(scope: string, lastPolledAt: number): QueuePoller {
  return { scope, identity: `lote ledger=${scope} pid=1`, lastPolledAt, patches: null };
}

function watch(looks: readonly (readonly QueuePoller[])[]) {
  let waited = 0;
  let look = 0;
  return {
    waited: () => waited,
    options: {
      taskQueue: 'lote',
      scope: 'mine',
      pollers: () => Promise.resolve(looks[Math.min(look++, looks.length - 1)] ?? []),
      pause: (ms: number) => {
        waited += ms;
        return Promise.resolve();
      },
    },
  };
}

describe('a worker that is listed', () => {
  it('is enough to hand work out', async () => {
    const { options, waited } = watch([[poller('mine', 5)]]);

    await requireListedWorker(options);

    expect(waited()).toBe(0);
  });

  it('is waited for while workers are starting', async () => {
    const { options, waited } = watch([[], [], [poller('mine', 5)]]);

    await requireListedWorker(options);

    expect(waited()).toBe(1_000);
  });

  it.each([
    ['nobody', []],
    ['a worker of another ledger', [poller('other', 5)]],
  ])('is missing after 10 s of %s, and the error says how to start one', async (_, pollers) => {
    const { options, waited } = watch([pollers]);

    const missing = requireListedWorker(options);

    await expect(missing).rejects.toMatchObject({ code: 'worker-missing' });
    await expect(missing).rejects.toThrow(/Nothing was sent\. Start one with `lote worker`/);
    expect(waited()).toBe(10_000);
  });
});

describe('a worker that lives', () => {
  it('answers for the work that was handed out', async () => {
    const { options, waited } = watch([[poller('mine', 5)]]);

    await requireLiveWorker(options, Promise.resolve());

    expect(waited()).toBeLessThan(10_000);
  });

  it('asks for more work, also when it is too busy to answer', async () => {
    const { options } = watch([[poller('mine', 5)], [poller('mine', 5)], [poller('mine', 6)]]);

    await requireLiveWorker(options, NEVER);
  });

  it('is missing when the listed one neither answers nor asks for 10 s: it was killed', async () => {
    const { options } = watch([[poller('mine', 5)]]);

    const missing = requireLiveWorker(options, Promise.reject(new Error('nobody answered')));

    await expect(missing).rejects.toMatchObject({ code: 'worker-missing' });
  });
});
