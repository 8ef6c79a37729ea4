import { describe, expect, it } from 'vitest';
import { createCircuitBreaker } from '../../../../activities/sending/circuit-breaker.ts';
import {
  LONGEST_PROBE_MS,
  PROFILE_CONTRADICTION,
  SERVICE_IDS_REPEATED,
  WITHOUT_PROBE,
} from '../../../../src/domain/circuit-reasons.ts';
import { isAhead } from '../../../../src/domain/time/is-ahead.ts';
import type { BreakerLedger, BreakerRecord, OpenBreaker } from '../../../../src/domain/ports/ledger/breaker-ledger.ts';

const BASE_URL = 'http://service.example';
const AWAY = { code: 'http-503', message: 'HTTP 503' };
const REFUSED = { code: 'http-401', message: 'HTTP 401' };
const REPEATED = { code: SERVICE_IDS_REPEATED, message: 'Correct the profile' };

/** The breaker's row as the contract suite holds the real one to it, without a database to start. */
function breakerRow(): BreakerLedger & { row: OpenBreaker | null } {
  const ledger: BreakerLedger & { row: OpenBreaker | null } = {
    row: null,
    breaker: () => Promise.resolve(ledger.row),
    openBreaker(record) {
      const [lasts, lasted] = [isLasting(record), isLasting(ledger.row)];
      if (lasted && !lasts) return Promise.resolve();
      const known = lasts && !lasted ? null : ledger.row;
      const openedAt = Math.min(known?.openedAt ?? record.openedAt, record.openedAt);
      ledger.row = { ...record, openedAt, probingUntil: null };
      return Promise.resolve();
    },
    closeBreaker() {
      if (!isLasting(ledger.row)) ledger.row = null;
      return Promise.resolve();
    },
    endLastingStop() {
      if (isLasting(ledger.row)) ledger.row = null;
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

/** Only the start of a process ends it. */
function isLasting(row: BreakerRecord | null): boolean {
  return row !== null && WITHOUT_PROBE.has(row.reason.code);
}

function circuits(count: number) {
  const clock = { now: 1_000_000 };
  const ledger = breakerRow();
  const start = () => createCircuitBreaker({ ledger, baseUrl: BASE_URL, now: () => clock.now });
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

  it('lets nobody wait for the turn of a probe to run out', async () => {
    const { circuits: all, circuit, clock } = circuits(2);
    await circuit.trip(REFUSED, clock.now);
    clock.now += 5_000;
    await circuit.enter();

    expect(await all[1]?.enter()).toEqual({ kind: 'refused', waiting: { reason: 'http-401', probeAfterMs: 5_000 } });
  });

  it('is open for whoever asks while the breaker is still being written', async () => {
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

    expect(ledger.row).toEqual({
      baseUrl: BASE_URL,
      reason: REFUSED,
      openedAt,
      probeAfter: clock.now,
      probingUntil: null,
    });
  });

  it('is open for whoever read the row before it was written', async () => {
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

  it('lets go on whoever has seen a success before the row was read', async () => {
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

describe('a circuit breaker that a probe could only make worse', () => {
  it.each([PROFILE_CONTRADICTION, SERVICE_IDS_REPEATED])(
    'by %s lets no probe out, however late it is',
    async (code) => {
      const { circuit, clock } = circuits(1);
      await circuit.enter();
      await circuit.trip({ code, message: 'Correct the profile' }, clock.now);
      clock.now += 3_600_000;

      expect(await circuit.enter()).toEqual({ kind: 'refused', waiting: { reason: code, probeAfterMs: 60_000 } });
      expect(circuit.refusedBecause()?.code).toBe(code);
    },
  );

  it('is closed by the start of a process, whose profile may be corrected', async () => {
    const { circuit, clock, ledger, start } = circuits(1);
    await circuit.enter();
    await circuit.trip(REPEATED, clock.now);
    await ledger.endLastingStop(BASE_URL);
    const started = start();

    expect(await started.enter()).toEqual({ kind: 'allowed' });

    expect(started.refusedBecause()).toBeNull();
    expect(await circuit.enter()).toEqual({ kind: 'allowed' });
  });

  it('is not closed by the first slice of a process that runs since before it opened', async () => {
    const { circuits: all, circuit, clock, ledger } = circuits(2);
    await circuit.enter();
    clock.now += 60_000;
    await circuit.trip(REPEATED, clock.now);
    clock.now += 1_000;

    expect(await all[1]?.enter()).toMatchObject({ kind: 'refused' });

    expect(ledger.row?.reason).toEqual(REPEATED);
  });

  it('is not closed by a process whose clock runs ahead', async () => {
    const { circuit, clock, ledger } = circuits(1);
    const ahead = createCircuitBreaker({ ledger, baseUrl: BASE_URL, now: () => clock.now + 3_600_000 });
    await circuit.trip(REPEATED, clock.now);

    expect(await ahead.enter()).toMatchObject({ kind: 'refused' });

    expect(ledger.row?.reason).toEqual(REPEATED);
  });

  it('is not closed by a probe that another process sent while the service was away', async () => {
    const { circuits: all, circuit, clock, ledger } = circuits(2);
    await circuit.trip(AWAY, clock.now);
    clock.now += 5_000;
    expect(await all[1]?.enter()).toEqual({ kind: 'probe' });
    const sentAt = clock.now;
    clock.now += 10;
    await circuit.trip(REPEATED, clock.now);
    clock.now += 10;

    await all[1]?.succeeded(sentAt);

    expect(ledger.row?.reason).toEqual(REPEATED);
  });

  it('is not closed by the start of a process when its reason is the service: that one is probed', async () => {
    const { circuits: all, circuit, clock, ledger } = circuits(2);
    await circuit.trip(AWAY, clock.now);

    expect(await all[1]?.enter()).toMatchObject({ kind: 'refused' });

    expect(ledger.row).not.toBeNull();
  });
});
