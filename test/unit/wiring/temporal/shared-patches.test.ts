import { describe, expect, it, onTestFinished } from 'vitest';
import { PATCHES } from '../../../../src/contract/patches.ts';
import type { QueuePoller } from '../../../../src/wiring/temporal/queue-pollers.ts';
import { watchSharedPatches } from '../../../../src/wiring/temporal/shared-patches.ts';
import { until } from '../../../support/until.ts';

const NEWEST = PATCHES.at(-1) ?? '';
const [OLDEST] = PATCHES;

function poller(patches: number | null): QueuePoller {
  return { scope: 'mine', identity: `patches=${patches}`, lastPolledAt: 1, patches };
}

/** A watch of a queue whose workers a test changes. */
function watch(first: readonly QueuePoller[]) {
  const queue = { pollers: first, isAway: false, looks: 0 };
  const said: string[] = [];
  const shared = watchSharedPatches({
    first,
    async pollers() {
      queue.looks += 1;
      if (queue.isAway) throw new Error('away');
      return queue.pollers;
    },
    everyMs: 1,
    log: { info: (message) => void said.push(message) },
  });
  onTestFinished(() => shared.stop());
  return { queue, said, shared };
}

describe('a patch of the workflows', () => {
  it.each([
    ['nobody else polls', []],
    ['workers of the same patches poll', [poller(PATCHES.length)]],
    ['a newer worker polls', [poller(PATCHES.length + 1)]],
    ['a worker that counts no patches polls', [poller(null)]],
  ])('is in use at once when %s', async (_, pollers) => {
    const { shared, said } = watch(pollers);

    expect(PATCHES.every((name) => shared.isShared(name))).toBe(true);
    expect(said).toEqual([]);
  });

  it('waits for the end of a worker that does not know it; those that it knows do not', async () => {
    const { queue, shared, said } = watch([poller(PATCHES.length), poller(PATCHES.length - 1)]);
    expect([shared.isShared(OLDEST), shared.isShared(NEWEST)]).toEqual([true, false]);

    queue.pollers = [poller(PATCHES.length)];

    await until(() => shared.isShared(NEWEST));
    expect(said).toEqual([expect.stringContaining('an older worker is on'), expect.stringContaining('in use')]);
  });

  it('is out of use again when an older worker comes back', async () => {
    const { queue, shared } = watch([]);
    queue.pollers = [poller(1)];

    await until(() => !shared.isShared(NEWEST));
  });

  it('stays as it was while Temporal is away', async () => {
    const { queue, shared } = watch([poller(1)]);
    queue.isAway = true;
    const before = queue.looks;

    await until(() => queue.looks > before + 2);

    expect(shared.isShared(NEWEST)).toBe(false);
  });
});
