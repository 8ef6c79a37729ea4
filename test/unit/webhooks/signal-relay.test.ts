import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createSignalRelay, type SignalRelayOptions } from '../../../src/webhooks/signal-relay.ts';
import type { SettledInvoice } from '../../../src/ledger/settling/settling.ts';

function settled(page: number, ordinal: number, batchId = 'b'): SettledInvoice {
  return { batchId, page, ordinal };
}

function relayOf(options: Partial<SignalRelayOptions> = {}) {
  const sent: [string, readonly number[]][] = [];
  const logged: string[] = [];
  const relay = createSignalRelay({
    pageWorkflowIdOf: ({ batchId, page }) => `wf-${batchId}-p${page}`,
    send: async (pageId, ordinals) => {
      sent.push([pageId, ordinals]);
    },
    log: { warn: (message, fields) => logged.push(`${message} ${JSON.stringify(fields)}`) },
    ...options,
  });
  return { relay, sent, logged };
}

describe('createSignalRelay', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('tells each page when its burst is over, in one signal, each ordinal once', async () => {
    const { relay, sent } = relayOf();
    relay.add([settled(1, 1), settled(2, 9)]);
    await vi.advanceTimersByTimeAsync(250);
    relay.add([settled(1, 2), settled(1, 1), settled(1, 1, 'other')]);

    await vi.advanceTimersByTimeAsync(400);
    expect(sent).toEqual([['wf-b-p2', [9]]]);
    await vi.advanceTimersByTimeAsync(150);

    expect(sent.slice(1)).toEqual([
      ['wf-b-p1', [1, 2]],
      ['wf-other-p1', [1]],
    ]);
  });

  it('notifies a page whose news comes seldom ever more seldom, and in the end of all', async () => {
    const { relay, sent } = relayOf();
    for (let ordinal = 1; ordinal <= 100; ordinal += 1) {
      relay.add([settled(1, ordinal)]);
      await vi.advanceTimersByTimeAsync(4_000);
    }
    expect(sent.length).toBeLessThan(16);
    await vi.advanceTimersByTimeAsync(200_000);

    expect(sent.flatMap(([, ordinals]) => ordinals)).toHaveLength(100);
  });

  it('notifies a page of a long burst once, when it has ended, and of what comes late as soon', async () => {
    const { relay, sent } = relayOf();
    for (let ordinal = 1; ordinal <= 1_000; ordinal += 1) {
      relay.add([settled(1, ordinal)]);
      await vi.advanceTimersByTimeAsync(100);
    }
    expect(sent).toEqual([]);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(sent.map(([, ordinals]) => ordinals.length)).toEqual([1_000]);
    await vi.advanceTimersByTimeAsync(1_000);
    relay.add([settled(1, 1_001)]);
    await vi.advanceTimersByTimeAsync(1_000);

    expect(sent.map(([, ordinals]) => ordinals.length)).toEqual([1_000, 1]);
  });

  it('begins anew after each round', async () => {
    const { relay, sent } = relayOf();
    relay.add([settled(1, 1)]);
    await vi.advanceTimersByTimeAsync(1_000);
    relay.add([settled(1, 1)]);
    await vi.advanceTimersByTimeAsync(1_000);

    expect(sent).toEqual([
      ['wf-b-p1', [1]],
      ['wf-b-p1', [1]],
    ]);
  });

  it('sends nothing while there is no news', async () => {
    const { relay, sent } = relayOf();
    relay.add([]);

    await vi.runAllTimersAsync();

    expect(sent).toEqual([]);
  });

  it('goes on after a failure, and says so without the reason that may hold data', async () => {
    const notified: string[] = [];
    const { relay, logged } = relayOf({
      send: async (pageId) => {
        if (pageId.endsWith('p1')) throw new Error('secret detail');
        notified.push(pageId);
      },
    });
    relay.add([settled(1, 1), settled(2, 2)]);

    await relay.flush();

    expect(notified).toEqual(['wf-b-p2']);
    expect(logged.join()).toContain('wf-b-p1');
    expect(logged.join()).not.toContain('secret detail');
  });

  it('sends what is pending at once when flushed, and not again later', async () => {
    const { relay, sent } = relayOf();
    relay.add([settled(1, 1)]);

    await relay.flush();
    await vi.runAllTimersAsync();

    expect(sent).toEqual([['wf-b-p1', [1]]]);
  });

  it('gathers while a slow round is under way: one round at a time', async () => {
    let finish: (() => void) | undefined;
    const sent: (readonly number[])[] = [];
    const { relay } = relayOf({
      send: async (_pageId, ordinals) => {
        sent.push(ordinals);
        if (sent.length === 1) await new Promise<void>((resolve) => (finish = resolve));
      },
    });
    relay.add([settled(1, 1)]);
    await vi.advanceTimersByTimeAsync(1_000);
    relay.add([settled(1, 2)]);
    await vi.advanceTimersByTimeAsync(1_000);
    relay.add([settled(1, 3)]);
    await vi.advanceTimersByTimeAsync(1_000);
    const during = [...sent];

    finish?.();
    await relay.flush();

    expect(during).toEqual([[1]]);
    expect(sent).toEqual([[1], [2, 3]]);
  });

  it('drops news beyond its bound and says how much', async () => {
    const { relay, sent, logged } = relayOf({ maxPending: 2 });
    relay.add([settled(1, 1), settled(1, 2), settled(1, 3), settled(2, 4)]);

    await relay.flush();

    expect(sent).toEqual([['wf-b-p1', [1, 2]]]);
    expect(logged.join()).toContain('"dropped":2');
  });

  it('tells at most eight pages at the same time', async () => {
    let open = 0;
    let most = 0;
    const { relay } = relayOf({
      send: async () => {
        open += 1;
        most = Math.max(most, open);
        await new Promise((resolve) => setTimeout(resolve, 5));
        open -= 1;
      },
    });
    relay.add(Array.from({ length: 40 }, (_unused, page) => settled(page, 1)));

    const flushed = relay.flush();
    await vi.runAllTimersAsync();
    await flushed;

    expect(most).toBe(8);
  });
});
