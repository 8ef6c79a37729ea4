import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  createRefusedShare,
  localRate,
  RateLimiter,
  type SharedRate,
} from '../../../../src/service/limits/rate-limiter.ts';
import { seededChance } from '../../../support/until.ts';

/** A shared rate that counts what is leased, told and asked. */
function watched(rate: SharedRate) {
  const seen = { leases: [] as number[], holds: [] as number[], asked: 0, slowed: 0 };
  const shared: SharedRate = {
    current: () => ((seen.asked += 1), rate.current()),
    lease: (requests) => (seen.leases.push(requests), rate.lease(requests)),
    slowDown: (taken) => ((seen.slowed += 1), rate.slowDown(taken)),
    hold: (ms) => (seen.holds.push(ms), rate.hold(ms)),
  };
  return { shared, seen };
}

/** Takes so many permits, one after the other, each at its time. Returns when, in milliseconds from now. */
async function taken(limiter: RateLimiter, count: number): Promise<readonly number[]> {
  const begin = Date.now();
  const times: number[] = [];
  for (let nth = 0; nth < count; nth += 1) {
    await vi.advanceTimersByTimeAsync(await limiter.reserve());
    times.push(Date.now() - begin);
  }
  return times;
}

describe('the rate limiter of a process', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('lets nothing leave before it knows the shared rate, and everything while there is none, or none any more', async () => {
    const rate = localRate(null);
    const [limiter, slowed] = [new RateLimiter(rate), new RateLimiter(rate)];

    expect(limiter.isOpen()).toBe(false);
    expect(await limiter.reserve()).toBe(0);
    expect(limiter.isOpen()).toBe(true);
    await rate.slowDown(10);
    await slowed.reserve();
    expect(slowed.isOpen()).toBe(false);
    await vi.advanceTimersByTimeAsync(60_000);
    await slowed.reserve();
    expect(slowed.isOpen(), 'a minute after the last refusal').toBe(true);
  });

  it('spreads the requests of several processes over one rate', async () => {
    const rate = localRate(50);
    const [one, other] = [new RateLimiter(rate), new RateLimiter(rate)];

    const waits = await Promise.all(Array.from({ length: 40 }, (_, nth) => (nth % 2 === 0 ? one : other).reserve()));

    const sorted = waits.toSorted((a, b) => a - b);
    for (const [nth, wait] of sorted.entries()) expect(wait).toBeGreaterThanOrEqual(nth * 20);
    expect(new Set(sorted).size).toBe(40);
  });

  it('leases more at once while it uses every permit, up to a second of a slow service, and one after a pause', async () => {
    const { shared, seen } = watched(localRate(20));
    const limiter = new RateLimiter(shared);

    expect((await taken(limiter, 60)).at(-1)).toBe(59 * 50);
    expect(seen.leases).toEqual([1, 2, 4, 8, 16, 20, 20]);
    await vi.advanceTimersByTimeAsync(60_000);
    await taken(limiter, 1);

    expect(seen.leases.at(-1)).toBe(1);
  });

  it('fails the request that asked while the ledger is away, and asks again for the next', async () => {
    const rate = localRate(10);
    let away = true;
    const limiter = new RateLimiter({
      ...rate,
      lease: (requests) => (away ? Promise.reject(new Error('away')) : rate.lease(requests)),
    });

    await expect(limiter.reserve()).rejects.toThrow('away');
    away = false;
    expect(await limiter.reserve()).toBe(0);
  });

  it('lets nothing leave when the shared rate was not heard of for ten seconds', async () => {
    const rate = localRate(null);
    let away = false;
    const limiter = new RateLimiter({
      ...rate,
      current: () => (away ? Promise.reject(new Error('away')) : rate.current()),
    });
    await limiter.reserve();
    away = true;

    await vi.advanceTimersByTimeAsync(9_000);
    expect(limiter.isOpen()).toBe(true);
    await vi.advanceTimersByTimeAsync(1_001);

    expect(limiter.isOpen()).toBe(false);
    await expect(limiter.reserve()).rejects.toThrow('away');
  });

  it('hears within a second of a hold and of a slower rate that another process met', async () => {
    const rate = localRate(null);
    const [one, other] = [new RateLimiter(rate), new RateLimiter(rate)];
    await Promise.all([one.reserve(), other.reserve()]);
    one.hold(60_000);
    for (let nth = 0; nth < 10; nth += 1) one.note('too-many', performance.now() + 1);

    expect(other.isOpen(), 'it does not know yet').toBe(true);
    await vi.advanceTimersByTimeAsync(1_001);
    other.isOpen();
    await vi.advanceTimersByTimeAsync(0);

    expect(other.isOpen()).toBe(false);
    expect(other.heldMs()).toBeGreaterThan(50_000);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(other.heldMs()).toBe(0);
  });

  it('lets nothing leave while it tells the ledger of refusals, and then at the slower rate', async () => {
    const { shared, seen } = watched(localRate(null));
    const limiter = new RateLimiter(shared);
    await limiter.reserve();
    for (let nth = 0; nth < 20; nth += 1) limiter.note('taken', performance.now());
    await vi.advanceTimersByTimeAsync(1);

    for (let nth = 0; nth < 20; nth += 1) limiter.note('too-many', performance.now());

    expect(limiter.isOpen()).toBe(false);
    const times = await taken(limiter, 5);
    expect(seen.slowed).toBe(1);
    expect(times[4]).toBeGreaterThan(350);
    expect(times[4]).toBeLessThanOrEqual(400);
  });

  it('voids the permits of a faster rate', async () => {
    const rate = localRate(100);
    const { shared, seen } = watched(rate);
    const limiter = new RateLimiter(shared);
    await taken(limiter, 10);
    await rate.slowDown(2);
    await vi.advanceTimersByTimeAsync(1_001);
    limiter.isOpen();
    await vi.advanceTimersByTimeAsync(0);

    const times = await taken(limiter, 3);

    expect(seen.leases.at(-1)).toBeLessThanOrEqual(2);
    expect(times[2]).toBeGreaterThan(1_500);
  });

  it('tells the ledger of one hold once, and keeps the longest', async () => {
    const { shared, seen } = watched(localRate(null));
    const limiter = new RateLimiter(shared);

    for (const ms of [9_000, 9_050, 3_000]) limiter.hold(ms);

    expect(seen.holds).toEqual([9_000]);
    expect(limiter.heldMs()).toBe(9_050);
  });
});

type Load = 'taken' | 'too-many';

/** Answers 2 ms apart, each sent just before: when it was time to slow down, and what was taken by then. */
function judged(loads: readonly Load[]): readonly { readonly at: number; readonly taken: number }[] {
  const share = createRefusedShare();
  return loads.flatMap((load, at) => {
    const now = 1_000_000 + at * 2;
    const taken = share.note(load, now - 1, now);
    return taken === null ? [] : [{ at, taken }];
  });
}

const times = (count: number, load: Load): Load[] => Array.from({ length: count }, () => load);

describe('the share of refused requests', () => {
  const chance = seededChance(7);
  it.each<[string, readonly Load[]]>([
    ['while the service takes everything', times(500, 'taken')],
    [
      'of a few: their Retry-After is enough',
      [...times(200, 'taken'), ...times(5, 'too-many'), ...times(200, 'taken')],
    ],
    ['of one in twenty at random', Array.from({ length: 5_000 }, () => (chance() < 0.05 ? 'too-many' : 'taken'))],
  ])('says nothing %s', (_, loads) => {
    expect(judged(loads)).toEqual([]);
  });

  it.each([
    ['what was taken in the last second when more than one in eight is refused', 200, 220],
    ['so soon when nothing is taken', 0, 10],
  ])('says %s', (_, taken, before) => {
    const [first] = judged([...times(taken, 'taken'), ...times(30, 'too-many')]);

    expect(first?.at).toBeLessThan(before);
    expect(first?.taken).toBe(taken);
  });

  it('does not count answers to requests that left before the last change', () => {
    const share = createRefusedShare();
    const note = (sentAt: number, now: number) => share.note('too-many', sentAt, now);
    const first = Array.from({ length: 20 }, (_, at) => note(at, 100));

    expect(first.filter((taken) => taken !== null)).toEqual([0]);
    expect(Array.from({ length: 50 }, () => note(100, 3_000)).every((taken) => taken === null)).toBe(true);
    expect(Array.from({ length: 50 }, () => note(101, 3_000))).toContain(0);
  });

  it('counts what was taken in the last second only', () => {
    const share = createRefusedShare();
    for (let now = 10_000; now < 12_000; now += 10) share.note('taken', now, now);

    const refusals = Array.from({ length: 100 }, () => share.note('too-many', 12_500, 12_500));

    expect(refusals.find((taken) => taken !== null)).toBe(49);
  });
});
