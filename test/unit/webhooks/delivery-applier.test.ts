import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { AppliedDeliveries, RecordDelivery } from '../../../src/domain/ports/ledger/delivery-ledger.ts';
import { createDeliveryApplier } from '../../../src/webhooks/delivery-applier.ts';

const NOTHING: AppliedDeliveries = { settled: [], toConfirm: [] };

function news(serviceId: string | null, verdict: 'issued' | 'failed' | null = 'issued'): RecordDelivery {
  const event = { type: 't', eventId: null, serviceId, verdict, reason: null };
  return { sha256: String(serviceId), raw: new Uint8Array(), receivedAt: 0, event };
}

function applierOf(apply: (ids: readonly string[]) => Promise<AppliedDeliveries>) {
  const groups: (readonly string[])[] = [];
  const applied: AppliedDeliveries[] = [];
  const logged: string[] = [];
  const applier = createDeliveryApplier({
    apply: (ids) => {
      groups.push(ids);
      return apply(ids);
    },
    onApplied: (some) => applied.push(some),
    log: { warn: (message, fields) => logged.push(`${message} ${JSON.stringify(fields)}`) },
    gatherMs: 0,
  });
  return { applier, groups, applied, logged };
}

/** With its own pauses, by a clock that stands still until it is advanced. */
function applierInTime(whileApplied: (group: readonly string[]) => void = () => undefined) {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const groups: (readonly string[])[] = [];
  const applier = createDeliveryApplier({
    apply: (ids) => {
      groups.push(ids);
      whileApplied(ids);
      return Promise.resolve(NOTHING);
    },
    onApplied: () => undefined,
    log: { warn: () => undefined },
  });
  return { applier, groups };
}

describe('createDeliveryApplier', () => {
  it('applies what came together in one go, each id once, and tells what it did', async () => {
    const result: AppliedDeliveries = { settled: [], toConfirm: [{ invoiceId: 1, serviceId: 'inv_2' }] };
    const { applier, groups, applied } = applierOf(() => Promise.resolve(result));

    applier.add([news('inv_1'), news('inv_2', 'failed')]);
    applier.add([news('inv_1')]);
    await applier.idle();

    expect(groups).toEqual([['inv_1', 'inv_2']]);
    expect(applied).toEqual([result]);
  });

  it('leaves alone what says nothing final of an invoice', async () => {
    const { applier, groups } = applierOf(() => Promise.resolve(NOTHING));

    applier.add([news('inv_1', null), news(null), { ...news('inv_2'), event: null }]);
    await applier.idle();

    expect(groups).toEqual([]);
  });

  it('takes what comes while it applies with the next group', async () => {
    const { applier, groups } = applierOf((ids) => {
      if (ids.includes('inv_1')) applier.add([news('inv_2'), news('inv_3')]);
      return Promise.resolve(NOTHING);
    });

    applier.add([news('inv_1')]);
    await applier.idle();

    expect(groups).toEqual([['inv_1'], ['inv_2', 'inv_3']]);
  });

  it('applies the first after a pause at once, and few that follow in one go with those after them', async () => {
    const { applier, groups } = applierInTime();
    for (let at = 1; at <= 5; at += 1) {
      applier.add([news(`inv_${at}`)]);
      await vi.advanceTimersByTimeAsync(150);
    }
    await vi.advanceTimersByTimeAsync(500);
    await vi.advanceTimersByTimeAsync(3_000);
    applier.add([news('inv_6')]);
    await vi.advanceTimersByTimeAsync(150);

    expect(groups).toEqual([['inv_1'], ['inv_2', 'inv_3', 'inv_4', 'inv_5'], ['inv_6']]);
  });

  it('does not keep the end of a burst waiting for more', async () => {
    const { applier, groups } = applierInTime();
    applier.add([news('inv_first')]);
    await vi.advanceTimersByTimeAsync(150);
    applier.add(Array.from({ length: 20 }, (_unused, n) => news(`inv_${n}`)));
    await vi.advanceTimersByTimeAsync(150);
    await vi.advanceTimersByTimeAsync(500);
    applier.add([news('inv_last')]);
    await vi.advanceTimersByTimeAsync(150);

    expect(groups.map(({ length }) => length)).toEqual([1, 20, 1]);
  });

  it('takes what comes while a burst is written for a part of it', async () => {
    const { applier, groups } = applierInTime(({ length }) => {
      if (length === 20) applier.add([news('inv_meanwhile')]);
    });
    applier.add([news('inv_first')]);
    await vi.advanceTimersByTimeAsync(150);
    applier.add(Array.from({ length: 20 }, (_unused, n) => news(`inv_${n}`)));
    await vi.advanceTimersByTimeAsync(650);
    applier.add([news('inv_last')]);
    await vi.advanceTimersByTimeAsync(150);

    expect(groups.map(({ length }) => length)).toEqual([1, 20, 1, 1]);
  });

  it('applies at most 1,000 at once', async () => {
    const { applier, groups } = applierOf(() => Promise.resolve(NOTHING));

    applier.add(Array.from({ length: 2_100 }, (_unused, n) => news(`inv_${n}`)));
    await applier.idle();

    expect(groups.map(({ length }) => length)).toEqual([1_000, 1_000, 100]);
  });

  it('goes on after a failure, and says so without the reason that may hold data', async () => {
    const { applier, applied, logged } = applierOf((ids) =>
      ids.includes('inv_1') ? Promise.reject(new Error('secret detail')) : Promise.resolve(NOTHING),
    );

    applier.add([news('inv_1')]);
    await applier.idle();
    applier.add([news('inv_2')]);
    await applier.idle();

    expect(applied).toEqual([NOTHING]);
    expect(logged).toHaveLength(1);
    expect(logged[0]).not.toContain('secret detail');
  });
});
