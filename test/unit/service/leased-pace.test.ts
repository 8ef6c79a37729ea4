import { describe, expect, it } from 'vitest';
import { createLeasedPace } from '../../../src/service/leased-pace.ts';

interface Row {
  nextAt: number;
  leases: number[];
}

/** The row that all processes share, as the ledger's contract describes it. */
function leaseFrom(row: Row, now: () => number, requestsPerSecond: number) {
  return (requests: number): Promise<{ waitMs: number; gapMs: number }> => {
    row.leases.push(requests);
    const gapMs = 1_000 / requestsPerSecond;
    const at = Math.max(row.nextAt, now());
    row.nextAt = at + requests * gapMs;
    return Promise.resolve({ waitMs: at - now(), gapMs });
  };
}

describe('createLeasedPace', () => {
  it('spreads the requests of several processes over one row', async () => {
    const row: Row = { nextAt: 0, leases: [] };
    const now = (): number => 1_000;
    const paces = [0, 1].map(() => createLeasedPace({ requestsPerSecond: 50, now, lease: leaseFrom(row, now, 50) }));

    const waits = await Promise.all(
      Array.from({ length: 40 }, (_, index) => Promise.resolve(paces[index % 2]?.reserve(now()) ?? 0)),
    );

    expect(waits.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 40 }, (_, index) => index * 20));
    expect(row.leases, 'a fifth of a second at once').toEqual([10, 10, 10, 10]);
  });

  it('leases at least one place of a slow service', async () => {
    const row: Row = { nextAt: 0, leases: [] };
    const now = (): number => 0;
    const pace = createLeasedPace({ requestsPerSecond: 0.5, now, lease: leaseFrom(row, now, 0.5) });

    expect([await pace.reserve(0), await pace.reserve(0), await pace.reserve(0)]).toEqual([0, 2_000, 4_000]);
  });

  it('forgets places that were not used in time: no burst after a pause', async () => {
    const row: Row = { nextAt: 0, leases: [] };
    let clock = 0;
    const now = (): number => clock;
    const pace = createLeasedPace({ requestsPerSecond: 100, now, lease: leaseFrom(row, now, 100) });
    await pace.reserve(0);

    clock = 60_000;
    const waits = [];
    for (let index = 0; index < 20; index += 1) waits.push(await pace.reserve(clock));

    expect(waits).toEqual(Array.from({ length: 20 }, (_, index) => index * 10));
  });

  it('fails the one that asked when the ledger is away, and asks again for the next', async () => {
    let away = true;
    const pace = createLeasedPace({
      requestsPerSecond: 10,
      now: () => 0,
      lease: () => (away ? Promise.reject(new Error('away')) : Promise.resolve({ waitMs: 0, gapMs: 100 })),
    });

    await expect(Promise.resolve(pace.reserve(0))).rejects.toThrow('away');
    away = false;
    expect(await pace.reserve(0)).toBe(0);
  });
});
