import { describe, expect, it } from 'vitest';
import type { TooMany } from '../../../../src/domain/request-rate.ts';
import { createLeasedRateLimiter, type LeasedRateLimiterOptions } from '../../../../src/service/limits/leased-rate.ts';

const TOO_MANY: TooMany = { taken: 25, share: 0.3, answers: 40 };

interface Row {
  nextAt: number;
  leases: number[];
}

const NEWS = { heldMs: 0 };
/** Nobody says 429 in these tests, unless one says so. */
const QUIET = {
  slowDown: () => Promise.reject(new Error('not expected')),
  hold: () => Promise.reject(new Error('not expected')),
} satisfies Partial<LeasedRateLimiterOptions>;

/** The row that all processes share, as the ledger's contract describes it. */
function leaseFrom(row: Row, now: () => number, requestsPerSecond: number) {
  return (requests: number): ReturnType<LeasedRateLimiterOptions['lease']> => {
    row.leases.push(requests);
    const gapMs = 1_000 / requestsPerSecond;
    const at = Math.max(row.nextAt, now());
    row.nextAt = at + requests * gapMs;
    return Promise.resolve({ waitMs: at - now(), gapMs, requestsPerSecond, ...NEWS });
  };
}

describe('createLeasedPace', () => {
  it('spreads the requests of several processes over one row', async () => {
    const row: Row = { nextAt: 0, leases: [] };
    const now = (): number => 1_000;
    const paces = [0, 1].map(() =>
      createLeasedRateLimiter({ ...QUIET, requestsPerSecond: 50, now, lease: leaseFrom(row, now, 50) }),
    );

    const waits = await Promise.all(
      Array.from({ length: 40 }, (_, index) => Promise.resolve(paces[index % 2]?.reserve(now()) ?? 0)),
    );

    expect(waits.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 40 }, (_, index) => index * 20));
    expect(row.leases, 'a fifth of a second at once').toEqual([10, 10, 10, 10]);
  });

  it('leases places of a second at once when it has used each of its places for as long, until one is lost', async () => {
    const row: Row = { nextAt: 0, leases: [] };
    let clock = 0;
    const now = (): number => clock;
    const rateLimiter = createLeasedRateLimiter({
      ...QUIET,
      requestsPerSecond: 20,
      now,
      lease: leaseFrom(row, now, 20),
    });
    const send = async (requests: number): Promise<void> => {
      for (let index = 0; index < requests; index += 1) {
        const wait = await rateLimiter.reserve(clock);
        clock += wait;
      }
    };
    await send(60);
    expect(row.leases).toEqual([4, 4, 4, 4, 4, 4, 20, 20]);

    clock += 60_000;
    await send(4);

    expect(row.leases.at(-1)).toBe(4);
  });

  it('leases at least one place of a slow service', async () => {
    const row: Row = { nextAt: 0, leases: [] };
    const now = (): number => 0;
    const rateLimiter = createLeasedRateLimiter({
      ...QUIET,
      requestsPerSecond: 0.5,
      now,
      lease: leaseFrom(row, now, 0.5),
    });

    expect([await rateLimiter.reserve(0), await rateLimiter.reserve(0), await rateLimiter.reserve(0)]).toEqual([
      0, 2_000, 4_000,
    ]);
  });

  it('keeps the places that it has when it hears of the same rate, and leases anew at a lower one', async () => {
    const row: Row = { nextAt: 0, leases: [] };
    const now = (): number => 0;
    const rateLimiter = createLeasedRateLimiter({
      ...QUIET,
      requestsPerSecond: 25,
      now,
      lease: leaseFrom(row, now, 25),
    });
    await rateLimiter.reserve(0);

    rateLimiter.learn({ requestsPerSecond: 25, ...NEWS });
    await rateLimiter.reserve(0);
    expect(row.leases).toEqual([5]);
    rateLimiter.learn({ requestsPerSecond: 10, ...NEWS });
    await rateLimiter.reserve(0);

    expect(row.leases).toEqual([5, 2]);
  });

  it('forgets places that were not used in time: no burst after a pause', async () => {
    const row: Row = { nextAt: 0, leases: [] };
    let clock = 0;
    const now = (): number => clock;
    const rateLimiter = createLeasedRateLimiter({
      ...QUIET,
      requestsPerSecond: 100,
      now,
      lease: leaseFrom(row, now, 100),
    });
    await rateLimiter.reserve(0);

    clock = 60_000;
    const waits = [];
    for (let index = 0; index < 20; index += 1) waits.push(await rateLimiter.reserve(clock));

    expect(waits).toEqual(Array.from({ length: 20 }, (_, index) => index * 10));
  });

  it('forgets places of a time to which the clock comes only in an hour, because it was set back', async () => {
    let clock = 3_600_000;
    const rateLimiter = createLeasedRateLimiter({
      ...QUIET,
      requestsPerSecond: 100,
      now: () => clock,
      lease: () => Promise.resolve({ waitMs: 0, gapMs: 10, requestsPerSecond: 100, ...NEWS }),
    });
    await rateLimiter.reserve(clock);

    clock = 0;

    expect([await rateLimiter.reserve(0), await rateLimiter.reserve(0)]).toEqual([0, 10]);
  });

  it('fails the one that asked when the ledger is away, and asks again for the next', async () => {
    let away = true;
    const rateLimiter = createLeasedRateLimiter({
      ...QUIET,
      requestsPerSecond: 10,
      now: () => 0,
      lease: () =>
        away
          ? Promise.reject(new Error('away'))
          : Promise.resolve({ waitMs: 0, gapMs: 100, requestsPerSecond: 10, ...NEWS }),
    });

    await expect(Promise.resolve(rateLimiter.reserve(0))).rejects.toThrow('away');
    away = false;
    expect(await rateLimiter.reserve(0)).toBe(0);
  });

  it('asks the ledger for nothing while there is no limit', () => {
    const row: Row = { nextAt: 0, leases: [] };
    const rateLimiter = createLeasedRateLimiter({
      ...QUIET,
      requestsPerSecond: null,
      now: () => 0,
      lease: leaseFrom(row, () => 0, 1),
    });

    expect([rateLimiter.reserve(0), rateLimiter.reserve(0)]).toEqual([0, 0]);
    expect(rateLimiter.throttled(0)).toBe(false);
    expect(row.leases).toEqual([]);
  });

  it('leases its places once the service has said 429, to it or to another process, until the rate is whole again', async () => {
    const row: Row = { nextAt: 0, leases: [] };
    const notified: TooMany[] = [];
    const rateLimiter = createLeasedRateLimiter({
      ...QUIET,
      requestsPerSecond: null,
      now: () => 0,
      lease: leaseFrom(row, () => 0, 20),
      slowDown: (tooMany) => {
        notified.push(tooMany);
        return Promise.resolve({ requestsPerSecond: 20, heldMs: 0 });
      },
    });

    rateLimiter.slowDown(TOO_MANY, 0);
    await Promise.resolve();
    const waits = [];
    for (let index = 0; index < 5; index += 1) waits.push(await rateLimiter.reserve(0));
    const throttled = rateLimiter.throttled(0);
    rateLimiter.learn({ requestsPerSecond: null, heldMs: 0 });

    expect(notified).toEqual([TOO_MANY]);
    expect(waits).toEqual([0, 50, 100, 150, 200]);
    expect(row.leases, 'a fifth of a second of the rate in force').toEqual([4, 4]);
    expect([throttled, rateLimiter.throttled(0), await rateLimiter.reserve(0)]).toEqual([true, false, 0]);
  });

  it('gives up places of the rate before when it hears of a lower one', async () => {
    const row: Row = { nextAt: 0, leases: [] };
    const now = (): number => 1_000;
    const rateLimiter = createLeasedRateLimiter({
      ...QUIET,
      requestsPerSecond: 100,
      now,
      lease: leaseFrom(row, now, 100),
    });
    await rateLimiter.reserve(1_000);

    rateLimiter.learn({ requestsPerSecond: 10, heldMs: 0 });
    await rateLimiter.reserve(1_000);

    expect(row.leases).toEqual([20, 2]);
  });

  it.each([
    ['are used when they are 249 ms old', 249, [10]],
    ['are given up when they are 250 ms old', 250, [10, 10]],
  ])('places %s', async (_name, age, leases) => {
    const row: Row = { nextAt: 0, leases: [] };
    let clock = 0;
    const now = (): number => clock;
    const lease = leaseFrom(row, now, 50);
    // All places of one lease are of the same moment.
    const atOnce = async (requests: number) => ({ ...(await lease(requests)), gapMs: 0 });
    const rateLimiter = createLeasedRateLimiter({ ...QUIET, requestsPerSecond: 50, now, lease: atOnce });
    await rateLimiter.reserve(0);

    clock = age;
    await rateLimiter.reserve(clock);

    expect(row.leases).toEqual(leases);
  });

  it('asks for nothing more when a lease says that there is no limit any longer', async () => {
    const leases: number[] = [];
    const rateLimiter = createLeasedRateLimiter({
      ...QUIET,
      requestsPerSecond: 1,
      now: () => 0,
      lease: async (requests) => {
        leases.push(requests);
        return { waitMs: 0, gapMs: 0, requestsPerSecond: null, ...NEWS };
      },
    });

    const waits = await Promise.all([rateLimiter.reserve(0), rateLimiter.reserve(0), rateLimiter.reserve(0)]);

    expect(waits).toEqual([0, 0, 0]);
    expect(leases).toEqual([1]);
  });

  it('gives up places that were leased without a limit when a rate comes into force: they would make a burst', async () => {
    const leases: number[] = [];
    const rateLimiter = createLeasedRateLimiter({
      ...QUIET,
      requestsPerSecond: 25,
      now: () => 0,
      lease: async (requests) => {
        leases.push(requests);
        const requestsPerSecond = leases.length === 1 ? null : 10;
        return { waitMs: 0, gapMs: requestsPerSecond === null ? 0 : 100, requestsPerSecond, ...NEWS };
      },
    });
    await rateLimiter.reserve(0);

    rateLimiter.learn({ requestsPerSecond: 10, ...NEWS });
    await rateLimiter.reserve(0);

    expect(leases).toEqual([5, 2]);
  });

  it('tells the others of a short hold, too, while there is none', async () => {
    const holds: number[] = [];
    const rateLimiter = createLeasedRateLimiter({
      ...QUIET,
      requestsPerSecond: null,
      now: () => 1_000,
      lease: () => Promise.reject(new Error('not expected')),
      hold: (ms) => Promise.resolve(void holds.push(ms)),
    });

    rateLimiter.learn({ requestsPerSecond: null, ...NEWS });
    rateLimiter.hold(1_050, 1_000);

    expect(holds).toEqual([50]);
  });

  it('tells the others of a hold once, and obeys theirs', () => {
    const holds: number[] = [];
    const rateLimiter = createLeasedRateLimiter({
      ...QUIET,
      requestsPerSecond: null,
      now: () => 1_000,
      lease: () => Promise.reject(new Error('not expected')),
      hold: (ms) => Promise.resolve(void holds.push(ms)),
    });

    for (const until of [3_000, 3_050, 3_150, 2_000, 9_000]) rateLimiter.hold(until, 1_000);
    const own = rateLimiter.heldUntil();
    rateLimiter.learn({ requestsPerSecond: null, heldMs: 60_000 });
    rateLimiter.learn({ requestsPerSecond: null, heldMs: 0 });

    expect(holds, 'of one that is longer by more than 100 ms').toEqual([2_000, 8_000]);
    expect([own, rateLimiter.heldUntil()]).toEqual([9_000, 61_000]);
  });

  it('goes on by what it knows when the ledger cannot be told', async () => {
    const away = (): Promise<never> => Promise.reject(new Error('away'));
    const rateLimiter = createLeasedRateLimiter({
      requestsPerSecond: null,
      now: () => 0,
      lease: away,
      slowDown: away,
      hold: away,
    });

    rateLimiter.slowDown(TOO_MANY, 0);
    rateLimiter.hold(5_000, 0);
    await Promise.resolve();

    expect([rateLimiter.throttled(0), rateLimiter.heldUntil()]).toEqual([false, 5_000]);
  });

  it('is open until the ledger names a rate or a hold', () => {
    const now = (): number => 1_000;
    const lease = (): never => {
      throw new Error('not expected');
    };
    const rate = createLeasedRateLimiter({ ...QUIET, requestsPerSecond: null, now, lease });
    const before = rate.isOpen(1_000);
    rate.learn({ requestsPerSecond: null, heldMs: 500 });
    const held = [rate.isOpen(1_499), rate.isOpen(1_500)];
    rate.learn({ requestsPerSecond: 50, heldMs: 0 });

    expect([before, ...held, rate.isOpen(1_500)]).toEqual([true, false, true, false]);
  });
});
