import { afterEach, describe, expect, it, vi } from 'vitest';
import type { RecordDelivery } from '../../../src/domain/ports/ledger/delivery-ledger.ts';
import { createDeliveryGroup, type DeliveryGroupOptions } from '../../../src/webhooks/delivery-group.ts';

function deliveryOf(n: number): RecordDelivery {
  return { sha256: String(n), raw: new Uint8Array([n]), receivedAt: n, event: null };
}

/** Writes wait until the test lets them go. */
function held(options: Partial<DeliveryGroupOptions> = {}) {
  const groups: string[][] = [];
  const releases: ((error?: Error) => void)[] = [];
  const watchers: (() => void)[] = [];
  const failures: [unknown, number][] = [];
  const group = createDeliveryGroup({
    store: async (deliveries) =>
      await new Promise((resolve, reject) => {
        groups.push(deliveries.map(({ sha256 }) => sha256));
        releases.push((error) => (error === undefined ? resolve(deliveries.length) : reject(error)));
        watchers.shift()?.();
      }),
    onStored: () => undefined,
    onFailure: (error, deliveries) => failures.push([error, deliveries]),
    ...options,
  });
  const nextWrite = async (): Promise<void> => await new Promise((resolve) => watchers.push(resolve));
  return { group, groups, releases, failures, nextWrite };
}

afterEach(() => {
  vi.useRealTimers();
});

describe('createDeliveryGroup', () => {
  it('writes a burst at once, and what comes during the write with the next one', async () => {
    const { group, groups, releases, nextWrite } = held();
    const writing = nextWrite();
    const burst = [group.add(deliveryOf(1)), group.add(deliveryOf(2))];
    await writing;
    const late = [group.add(deliveryOf(3)), group.add(deliveryOf(4))];

    const second = nextWrite();
    releases[0]?.();
    await second;
    releases[1]?.();

    expect(await Promise.all([...burst, ...late])).toEqual(['stored', 'stored', 'stored', 'stored']);
    expect(groups).toEqual([
      ['1', '2'],
      ['3', '4'],
    ]);
  });

  it('gives the senders of a dense group the time to send their next ones together', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    const { group, groups, releases } = held();
    const numbers = Array.from({ length: 8 }, (_, at) => at);
    const first = numbers.map((n) => group.add(deliveryOf(n)));
    await vi.advanceTimersByTimeAsync(100);
    releases[0]?.();
    await Promise.all(first);

    const early = group.add(deliveryOf(8));
    await vi.advanceTimersByTimeAsync(1);
    const late = group.add(deliveryOf(9));
    await vi.advanceTimersByTimeAsync(100);
    releases[1]?.();

    expect(await Promise.all([early, late])).toEqual(['stored', 'stored']);
    expect(groups).toEqual([numbers.map(String), ['8', '9']]);
  });

  it('writes again as soon as all who were answered have sent their next one, beside those that waited', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    const { group, groups, releases } = held();
    const numbers = Array.from({ length: 8 }, (_, at) => at);
    const first = numbers.map((n) => group.add(deliveryOf(n)));
    await vi.advanceTimersByTimeAsync(100);
    const meanwhile = group.add(deliveryOf(8));
    releases[0]?.();
    await Promise.all(first);

    const next = numbers.map((n) => group.add(deliveryOf(9 + n)));
    const before = groups.length;
    await vi.advanceTimersByTimeAsync(0);
    releases[1]?.();

    expect(before).toBe(1);
    expect(await Promise.all([meanwhile, ...next])).toEqual(Array.from({ length: 9 }, () => 'stored'));
    expect(groups[1]).toHaveLength(9);
  });

  it('acknowledges nobody before the write ends', async () => {
    const { group, releases, nextWrite } = held();
    let acknowledged = false;
    const writing = nextWrite();
    const added = group.add(deliveryOf(1)).then((recorded) => {
      acknowledged = true;
      return recorded;
    });
    await writing;

    expect(acknowledged).toBe(false);
    releases[0]?.();
    expect(await added).toBe('stored');
  });

  it('sends one sender that repeats itself once to the ledger and answers both', async () => {
    const { group, groups, releases, nextWrite } = held();
    const writing = nextWrite();
    const both = [group.add(deliveryOf(1)), group.add(deliveryOf(1))];
    await writing;
    releases[0]?.();

    expect(await Promise.all(both)).toEqual(['stored', 'stored']);
    expect(groups).toEqual([['1']]);
  });

  it('tells the whole group of a failed write, and goes on with the next', async () => {
    const { group, releases, failures, nextWrite } = held();
    const writing = nextWrite();
    const failing = [group.add(deliveryOf(1)), group.add(deliveryOf(2))];
    await writing;
    const error = new Error('down');
    releases[0]?.(error);
    expect(await Promise.all(failing)).toEqual(['ledger-failed', 'ledger-failed']);

    const again = nextWrite();
    const added = group.add(deliveryOf(1));
    await again;
    releases[1]?.();

    expect(await added).toBe('stored');
    expect(failures).toEqual([[error, 2]]);
  });

  it('counts what is being written towards its bound', async () => {
    const { group, releases, nextWrite } = held({ maxWaiting: 2 });
    const writing = nextWrite();
    const first = [group.add(deliveryOf(1)), group.add(deliveryOf(2))];
    await writing;

    expect(await group.add(deliveryOf(3))).toBe('full');
    releases[0]?.();
    await Promise.all(first);
    const again = nextWrite();
    const later = group.add(deliveryOf(3));
    await again;
    releases[1]?.();
    expect(await later).toBe('stored');
  });

  it('splits what has piled up into writes of at most 500', async () => {
    const { group, groups, releases, nextWrite } = held();
    const first = nextWrite();
    const all = Promise.all(Array.from({ length: 1_100 }, async (_unused, n) => await group.add(deliveryOf(n))));
    for (const write of [0, 1, 2]) {
      await (write === 0 ? first : undefined);
      const next = nextWrite();
      releases[write]?.();
      if (write < 2) await next;
    }
    await all;

    expect(groups.map(({ length }) => length)).toEqual([500, 500, 100]);
  });

  it('is idle when everything is written', async () => {
    const { group, releases, nextWrite } = held();
    await group.idle();
    const writing = nextWrite();
    const added = group.add(deliveryOf(1));
    await writing;
    let idle = false;
    const waiting = group.idle().then(() => {
      idle = true;
    });

    expect(idle).toBe(false);
    releases[0]?.();
    await waiting;
    expect(await added).toBe('stored');
  });

  it('does not call a stored group failed because a listener throws', async () => {
    const { group, releases, failures, nextWrite } = held({
      onStored: () => {
        throw new Error('listener');
      },
    });
    const writing = nextWrite();
    const added = group.add(deliveryOf(1));
    await writing;
    releases[0]?.();

    expect(await added).toBe('stored');
    expect(failures).toHaveLength(1);
  });
});
