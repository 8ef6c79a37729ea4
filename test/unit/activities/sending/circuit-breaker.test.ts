import { describe, expect, it } from 'vitest';
import { CircuitBreaker } from '../../../../activities/sending/circuit-breaker.ts';
import { LONGEST_PROBE_MS } from '../../../../src/domain/time/longest-probe.ts';
import { isAhead } from '../../../../src/domain/time/is-ahead.ts';
import type { BreakerLedger, OpenBreaker } from '../../../../src/ledger/sending/circuit-breaker.ts';

const BASE = 'http://service.example';
const AWAY = { code: 'http-503', message: 'HTTP 503' };
const REFUSED = { code: 'http-401', message: 'HTTP 401' };

/** The breaker's row as the contract suite holds the real one to it, without a database to start. */
function breakerRow(): BreakerLedger & { row: OpenBreaker | null } {
  const ledger: BreakerLedger & { row: OpenBreaker | null } = {
    row: null,
    breaker: () => Promise.resolve(ledger.row),
    openBreaker(record) {
      const openedAt = Math.min(ledger.row?.openedAt ?? record.openedAt, record.openedAt);
      ledger.row = { ...record, openedAt, probingUntil: null };
      return Promise.resolve();
    },
    closeBreaker() {
      ledger.row = null;
      return Promise.resolve();
    },
    claimProbe(_baseUrl, { now, until }) {
      const { row } = ledger;
      if (row === null || isToCome(row.probeAfter, now) || isToCome(row.probingUntil ?? 0, now))
        return Promise.resolve(false);
      ledger.row = { ...row, probingUntil: until };
      return Promise.resolve(true);
    },
    giveBackProbe(_baseUrl, { now, until }) {
      const { row } = ledger;
      if (row?.probingUntil === until) ledger.row = { ...row, probeAfter: now, probingUntil: null };
      return Promise.resolve();
    },
  };
  return ledger;
}

/** A time that only a clock that ran ahead can have written counts as come. */
function isToCome(at: number, now: number): boolean {
  return at > now && !isAhead(at, now + LONGEST_PROBE_MS);
}

function circuits(count: number) {
  const clock = { now: 1_000_000 };
  const ledger = breakerRow();
  const start = () => new CircuitBreaker({ ledger, baseUrl: BASE, now: () => clock.now });
  const made = Array.from({ length: count }, start);
  return { clock, ledger, start, circuits: made, circuit: made[0] as (typeof made)[number] };
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
      await circuit.trip(REFUSED, clock.now);
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

  it('makes no caller wait for the turn of a probe to run out', async () => {
    const { circuits: all, circuit, clock } = circuits(2);
    await circuit.trip(REFUSED, clock.now);
    clock.now += 5_000;
    await circuit.enter();

    expect(await all[1]?.enter()).toEqual({ kind: 'refused', waiting: { reason: 'http-401', probeAfterMs: 5_000 } });
  });

  it('is open while the breaker is still being written', async () => {
    const { circuit, clock } = circuits(1);

    const opening = circuit.trip(REFUSED, clock.now);
    clock.now += 1;

    expect(await circuit.enter()).toMatchObject({ kind: 'refused' });
    await opening;
  });

  it('takes back the turn of a probe that had nothing to send', async () => {
    const { circuits: all, circuit, clock } = circuits(2);
    await circuit.trip(REFUSED, clock.now);
    clock.now += 5_000;
    expect(await circuit.enter()).toEqual({ kind: 'probe' });

    await circuit.giveBack();

    expect(await all[1]?.enter()).toEqual({ kind: 'probe' });
  });

  it('opens here when another process has closed the breaker', async () => {
    const { circuits: all, circuit, clock } = circuits(2);
    await circuit.trip(REFUSED, clock.now);
    clock.now += 5_000;
    expect(await all[1]?.enter()).toEqual({ kind: 'probe' });
    await all[1]?.succeeded(clock.now);

    expect(await circuit.enter()).toEqual({ kind: 'allowed' });
    expect(circuit.refusedBecause()).toBeNull();
  });

  it('opens for longer at once when a probe brings trouble', async () => {
    const { circuit, clock } = circuits(1);
    await circuit.trip(AWAY, clock.now);
    clock.now += 5_000;
    expect(await circuit.enter()).toEqual({ kind: 'probe' });

    await circuit.troubled(REFUSED, clock.now);

    expect(await circuit.enter()).toEqual({ kind: 'refused', waiting: { reason: 'http-401', probeAfterMs: 10_000 } });
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

  it('is not opened again by a probe that gives its turn back after another has closed it', async () => {
    const { circuits: all, circuit, clock, ledger } = circuits(2);
    await circuit.trip(REFUSED, clock.now);
    clock.now += 5_000;
    await circuit.enter();
    await all[1]?.enter();
    await all[1]?.succeeded(clock.now);

    await circuit.giveBack();

    expect(ledger.row).toBeNull();
  });

  it('keeps its reason and the time since when it is open when a probe gives its turn back', async () => {
    const { circuit, clock, ledger } = circuits(1);
    const openedAt = clock.now;
    await circuit.trip(REFUSED, openedAt);
    clock.now += 5_000;
    await circuit.enter();

    await circuit.giveBack();

    const { now: probeAfter } = clock;
    expect(ledger.row).toEqual({ baseUrl: BASE, reason: REFUSED, openedAt, probeAfter, probingUntil: null });
  });

  it('is open for a caller that read the row before it was written', async () => {
    const { circuit, clock, ledger } = circuits(1);
    let answerOld = (): void => undefined;
    const isAsked = new Promise<void>((asked) => {
      ledger.breaker = () =>
        new Promise((answer) => {
          answerOld = () => answer(null);
          asked();
        });
    });
    const entering = circuit.enter();
    await isAsked;

    await circuit.trip(REFUSED, clock.now);
    answerOld();

    expect(await entering).toEqual({ kind: 'refused', waiting: { reason: 'http-401', probeAfterMs: 5_000 } });
  });

  it('lets a caller go on that has seen a success before the row was read', async () => {
    const { circuit, clock, ledger } = circuits(1);
    await circuit.trip(REFUSED, clock.now);
    let answerClosed = (): void => undefined;
    const isAsked = new Promise<void>((asked) => {
      ledger.breaker = () =>
        new Promise((answer) => {
          answerClosed = () => answer(null);
          asked();
        });
    });
    const entering = circuit.enter();
    await isAsked;

    await circuit.succeeded(clock.now + 1);
    answerClosed();

    expect(await entering).toEqual({ kind: 'allowed' });
  });

  it('that another process has opened is known with its reason, and with the time since when', async () => {
    const { circuits: all, circuit, clock, ledger } = circuits(2);
    const openedAt = clock.now;
    await circuit.trip(REFUSED, openedAt);
    clock.now += 5_000;
    expect(await all[1]?.enter()).toEqual({ kind: 'probe' });

    await all[1]?.succeeded(openedAt);

    expect(all[1]?.refusedBecause()).toEqual(REFUSED);
    expect(ledger.row, 'a success of a request that left when it opened').not.toBeNull();
    await all[1]?.succeeded(openedAt + 1);
    expect(ledger.row).toBeNull();
  });

  it('goes by the row again after a write that failed', async () => {
    const { circuit, clock, ledger } = circuits(1);
    const { openBreaker } = ledger;
    ledger.openBreaker = () => Promise.reject(new Error('The ledger is away'));
    await expect(circuit.trip(REFUSED, clock.now)).rejects.toThrow('away');

    expect(await circuit.enter()).toEqual({ kind: 'allowed' });
    ledger.openBreaker = openBreaker;
    await circuit.trip(REFUSED, clock.now);

    expect(ledger.row).toMatchObject({ reason: REFUSED });
  });
});
