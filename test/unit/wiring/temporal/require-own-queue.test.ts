import { describe, expect, it } from 'vitest';
import type { QueuePoller } from '../../../../src/wiring/temporal/queue-pollers.ts';
import { requireOwnQueue } from '../../../../src/wiring/temporal/require-own-queue.ts';

function poller(scope: string | null, lastPolledAt: number, pid = 1): QueuePoller {
  return { scope, identity: `lote ledger=${scope} pid=${pid}`, lastPolledAt, patches: null };
}

/** The queue as it looks at each moment; the last look stays. Time passes only by pausing. */
function queue(looks: readonly (readonly QueuePoller[])[]) {
  const notified: string[] = [];
  let waited = 0;
  let look = 0;
  return {
    notified,
    waited: () => waited,
    options: {
      taskQueue: 'lote',
      scope: 'mine',
      pollers: () => {
        const pollers = looks[Math.min(look, looks.length - 1)] ?? [];
        look += 1;
        return Promise.resolve(pollers);
      },
      pause: (ms: number) => {
        waited += ms;
        return Promise.resolve();
      },
      notify: (line: string) => void notified.push(line),
    },
  };
}

describe('a task queue', () => {
  it.each([
    ['nobody asks', []],
    ['workers of the same ledger ask', [poller('mine', 5), poller('mine', 6, 2)]],
    ['only strangers to Lote ask', [poller(null, 5)]],
  ])('is free at once when %s', async (_, pollers) => {
    const { options, waited, notified } = queue([pollers]);

    await requireOwnQueue(options);

    expect(waited()).toBe(0);
    expect(notified).toEqual([]);
  });

  it('is refused as soon as a worker of another ledger asks again, naming it and the way out', async () => {
    const { options, waited, notified } = queue([[poller('other', 5)], [poller('other', 5)], [poller('other', 9)]]);

    const refusal = requireOwnQueue(options);

    await expect(refusal).rejects.toMatchObject({ code: 'ledger-foreign' });
    await expect(refusal).rejects.toThrow(/"lote ledger=other pid=1" works there .* keeps mine.*LOTE_TASK_QUEUE/s);
    expect(waited()).toBe(4_000);
    expect(notified).toEqual([expect.stringContaining('looking for 90 s')]);
  });

  it('is refused when another worker of that ledger appears meanwhile', async () => {
    const { options } = queue([[poller('other', 5)], [poller('other', 5), poller('other', 3, 2)]]);

    await expect(requireOwnQueue(options)).rejects.toMatchObject({ code: 'ledger-foreign' });
  });

  it('is free when the worker of another ledger was silent for 90 s: it has stopped and is only still listed', async () => {
    const { options, waited } = queue([[poller('other', 5)]]);

    await requireOwnQueue(options);

    expect(waited()).toBe(90_000);
  });

  it('is free as soon as the server forgets the worker of another ledger', async () => {
    const { options, waited } = queue([[poller('other', 5)], []]);

    await requireOwnQueue(options);

    expect(waited()).toBe(2_000);
  });
});
