import { describe, expect, it } from 'vitest';
import { CircuitBreaker } from '../../../../activities/sending/circuit-breaker.ts';
import { NOW, REASON } from '../../ledger/scenario.ts';
import { activityPlaces } from '../activity-place.ts';
import type { Ledger } from '../../../../src/ledger/ledger.ts';

const placeOf = activityPlaces();
const PROBE_TURN_MS = 60_000;
const WRITES: ReadonlySet<string | symbol> = new Set(['openBreaker', 'giveBackProbe']);

/** A breaker that is open, and one process has its probe; `meanwhile` is done right before that one writes that it gives the turn back. */
async function givenBack(meanwhile: (ledger: Ledger, baseUrl: string) => Promise<unknown>) {
  const { deps } = placeOf();
  const { ledger } = deps;
  const { baseUrl } = deps.service;
  await ledger.openBreaker({ baseUrl, reason: REASON, openedAt: NOW, probeAfter: NOW });
  const late = new Proxy(ledger, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function' || !WRITES.has(name)) return value;
      return async (...args: readonly unknown[]): Promise<unknown> => {
        await meanwhile(target, baseUrl);
        return Reflect.apply(value, target, args) as unknown;
      };
    },
  });
  const circuit = new CircuitBreaker({ ledger: late, baseUrl, now: () => NOW });
  expect(await circuit.enter()).toEqual({ kind: 'probe' });
  await circuit.giveBack();
  return ledger.breaker(baseUrl);
}

describe('a probe that gives its turn back', () => {
  it('lets the next one probe at once', async () => {
    expect(await givenBack(() => Promise.resolve())).toMatchObject({
      ...{ reason: REASON, openedAt: NOW, probeAfter: NOW, probingUntil: null },
    });
  });

  it('does not open again what another process closes at that moment', async () => {
    expect(await givenBack((ledger, baseUrl) => ledger.closeBreaker(baseUrl))).toBeNull();
  });

  it('takes no turn from another process that got it when the time of this one was over', async () => {
    const later = { now: NOW + PROBE_TURN_MS, until: NOW + 2 * PROBE_TURN_MS };

    expect(await givenBack((ledger, baseUrl) => ledger.claimProbe(baseUrl, later))).toMatchObject({
      probingUntil: later.until,
    });
  });
});

describe('a breaker that a clock that ran ahead has opened', () => {
  it('is probed at once by one process, and closed by an answer of now', async () => {
    const { deps } = placeOf();
    const { ledger } = deps;
    const { baseUrl } = deps.service;
    const ahead = NOW + 5 * 3_600_000;
    await ledger.openBreaker({ baseUrl, reason: REASON, openedAt: ahead, probeAfter: ahead + 5_000 });
    // Its turn was taken by a process that ended.
    await ledger.claimProbe(baseUrl, { now: ahead + 5_000, until: ahead + 65_000 });
    const [one, other] = [0, 1].map(() => new CircuitBreaker({ ledger, baseUrl, now: () => NOW }));

    expect(await one?.enter()).toEqual({ kind: 'probe' });
    expect(await other?.enter()).toMatchObject({ kind: 'refused', waiting: { probeAfterMs: 5_000 } });
    await one?.succeeded(NOW + 1);
    expect(await ledger.breaker(baseUrl)).toBeNull();
  });
});
