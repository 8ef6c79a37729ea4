import { describe, expect, it } from 'vitest';
import { CircuitBreaker } from '../../../../activities/sending/circuit-breaker.ts';
import type { Ledger } from '../../../../src/ledger/ledger.ts';
import { NOW, REASON } from '../../ledger/scenario.ts';
import { activityPlaces } from '../activity-place.ts';

const placeOf = activityPlaces();
const AWAY = { code: 'http-503', message: 'HTTP 503' };
const REFUSED = { code: 'http-401', message: 'HTTP 401' };

/** So many processes at one address, which share a clock. */
function circuits(count: number) {
  const { deps } = placeOf();
  const { baseUrl } = deps.service;
  const clock = { now: NOW };
  const ledger: Ledger = { ...deps.ledger };
  const made = Array.from({ length: count }, () => new CircuitBreaker({ ledger, baseUrl, now: () => clock.now }));
  const rowOf = () => deps.ledger.breaker(baseUrl);
  return { baseUrl, clock, ledger, rowOf, circuits: made, circuit: made[0] as CircuitBreaker };
}

/** A caller whose reading of the row, which says that the circuit is closed, has not come back yet. */
async function readingClosed(ledger: Ledger, circuit: CircuitBreaker) {
  let answerNow = (): void => undefined;
  const isAsked = new Promise<void>((asked) => {
    ledger.breaker = () =>
      new Promise((answer) => {
        answerNow = () => answer(null);
        asked();
      });
  });
  const entering = circuit.enter();
  await isAsked;
  return { entering, answerNow };
}

describe('the circuit breaker', () => {
  it('stays open for fewer than 20 troubles in a row, and for any number with successes between', async () => {
    const { circuit, clock } = circuits(1);

    for (let round = 0; round < 5; round += 1) {
      for (let trouble = 0; trouble < 19; trouble += 1) await circuit.troubled(AWAY, clock.now);
      await circuit.succeeded(clock.now);
    }

    expect(await circuit.enter()).toEqual({ kind: 'allowed' });
  });

  it('does not wait for a clock that was set back: it probes, and closes after an answer', async () => {
    const { circuits: made, clock } = circuits(2);
    const [first, second] = made as [(typeof made)[number], (typeof made)[number]];
    for (let trouble = 0; trouble < 20; trouble += 1) await first.troubled(AWAY, clock.now);
    await second.enter();

    clock.now -= 600_000;
    const entries = [await first.enter(), await second.enter()];
    await first.succeeded(clock.now);

    expect(entries.map(({ kind }) => kind)).toEqual(['probe', 'refused']);
    expect([await first.enter(), await second.enter()]).toEqual([{ kind: 'allowed' }, { kind: 'allowed' }]);
  });

  it('opens at the 20th trouble in a row, and says why and for how long', async () => {
    const { circuit, clock } = circuits(1);

    for (let trouble = 0; trouble < 20; trouble += 1) await circuit.troubled(AWAY, clock.now);

    expect(circuit.refusedBecause()).toEqual(AWAY);
    expect(await circuit.enter()).toEqual({ kind: 'refused', waiting: { reason: 'http-503', probeAfterMs: 5_000 } });
  });

  it('is not opened further by what was on the wire when it opened', async () => {
    const { circuit, clock } = circuits(1);
    const sentAt = clock.now;
    clock.now += 100;

    for (let answer = 0; answer < 64; answer += 1) await circuit.trip(REFUSED, sentAt);
    await circuit.trip(REFUSED, clock.now);

    expect(await circuit.enter()).toMatchObject({ waiting: { probeAfterMs: 5_000 } });
  });

  it('is not closed by a success that was on the wire when it opened', async () => {
    const { circuit, clock } = circuits(1);
    const sentAt = clock.now;
    clock.now += 100;
    await circuit.trip(REFUSED, sentAt);

    await circuit.succeeded(sentAt);

    expect(await circuit.enter()).toMatchObject({ kind: 'refused' });
  });

  it('lets one of all circuits probe when the time has come', async () => {
    const { circuits: all, circuit, clock } = circuits(4);
    await circuit.trip(REFUSED, clock.now);
    clock.now += 5_000;

    const entries = await Promise.all([...all, ...all].map((one) => one.enter()));

    expect(entries.filter(({ kind }) => kind === 'probe')).toHaveLength(1);
    expect(entries.filter(({ kind }) => kind === 'refused')).toHaveLength(7);
  });

  it('waits longer after each probe that fails, a minute at most, and from the start again after one that works', async () => {
    const { circuit, clock } = circuits(1);
    const waits: number[] = [];
    await circuit.trip(REFUSED, clock.now);
    for (let probe = 0; probe < 6; probe += 1) {
      const entry = await circuit.enter();
      if (entry.kind !== 'refused') throw new Error('The circuit should be open');
      waits.push(entry.waiting.probeAfterMs);
      clock.now += entry.waiting.probeAfterMs;
      expect(await circuit.enter()).toEqual({ kind: 'probe' });
      await circuit.troubled(REFUSED, clock.now);
    }
    expect(waits).toEqual([5_000, 10_000, 20_000, 40_000, 60_000, 60_000]);

    clock.now += 60_000;
    expect(await circuit.enter()).toEqual({ kind: 'probe' });
    await circuit.succeeded(clock.now);
    expect(await circuit.enter()).toEqual({ kind: 'allowed' });
    await circuit.trip(REFUSED, clock.now);
    expect(await circuit.enter()).toMatchObject({ waiting: { probeAfterMs: 5_000 } });
  });

  it('is tried again by another one when a probe never reports back', async () => {
    const { circuits: all, circuit, clock } = circuits(2);
    await circuit.trip(REFUSED, clock.now);
    clock.now += 5_000;
    expect(await circuit.enter()).toEqual({ kind: 'probe' });

    clock.now += 59_999;
    expect(await all[1]?.enter()).toMatchObject({ kind: 'refused' });
    clock.now += 1;
    expect(await all[1]?.enter()).toEqual({ kind: 'probe' });
  });

  it('counts troubles and waits from the start again when another process has closed it', async () => {
    const { circuits: all, circuit, clock } = circuits(2);
    for (let trouble = 0; trouble < 20; trouble += 1) await circuit.troubled(AWAY, clock.now);
    clock.now += 5_000;
    await all[1]?.enter();
    await all[1]?.succeeded(clock.now);
    await circuit.enter();

    for (let trouble = 0; trouble < 19; trouble += 1) await circuit.troubled(AWAY, clock.now);
    expect(circuit.refusedBecause()).toBeNull();
    await circuit.succeeded(clock.now);
    await circuit.trip(REFUSED, clock.now);

    expect(await circuit.enter()).toMatchObject({ waiting: { probeAfterMs: 5_000 } });
  });

  it('is open for a caller that read the row before it was written', async () => {
    const { circuit, clock, ledger } = circuits(1);
    const { entering, answerNow } = await readingClosed(ledger, circuit);

    await circuit.trip(REFUSED, clock.now);
    answerNow();

    expect(await entering).toEqual({ kind: 'refused', waiting: { reason: 'http-401', probeAfterMs: 5_000 } });
  });

  it('lets a caller go on that has seen a success before the row was read', async () => {
    const { circuit, clock, ledger } = circuits(1);
    await circuit.trip(REFUSED, clock.now);
    const { entering, answerNow } = await readingClosed(ledger, circuit);

    await circuit.succeeded(clock.now + 1);
    answerNow();

    expect(await entering).toEqual({ kind: 'allowed' });
  });

  it('that another process has opened is known with its reason, and with the time since when', async () => {
    const { circuits: all, circuit, clock, rowOf } = circuits(2);
    const openedAt = clock.now;
    await circuit.trip(REFUSED, openedAt);
    clock.now += 5_000;
    expect(await all[1]?.enter()).toEqual({ kind: 'probe' });

    await all[1]?.succeeded(openedAt);

    expect(all[1]?.refusedBecause()).toEqual(REFUSED);
    expect(await rowOf(), 'a success of a request that left when it opened').not.toBeNull();
    await all[1]?.succeeded(openedAt + 1);
    expect(await rowOf()).toBeNull();
  });

  it('goes by the row again after a write that failed', async () => {
    const { circuit, clock, ledger, rowOf } = circuits(1);
    const { openBreaker } = ledger;
    ledger.openBreaker = () => Promise.reject(new Error('The ledger is away'));
    await expect(circuit.trip(REFUSED, clock.now)).rejects.toThrow('away');

    expect(await circuit.enter()).toEqual({ kind: 'allowed' });
    ledger.openBreaker = openBreaker;
    await circuit.trip(REFUSED, clock.now);

    expect(await rowOf()).toMatchObject({ reason: REFUSED });
  });
});

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
