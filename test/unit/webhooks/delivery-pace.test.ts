import { describe, expect, it } from 'vitest';
import { createDeliveryPace } from '../../../src/webhooks/delivery-pace.ts';

const PROMPT_MS = 3;
const PATIENT_MS = 300;

/** A sender and a receiver on one clock: `gapMs` between deliveries, of which the sender has at most `connections` without an answer. */
function exchange({ gapMs, connections = 100 }: { readonly gapMs: number; readonly connections?: number }) {
  let now = 0;
  const pace = createDeliveryPace(() => now);
  let due = 0;
  const waits: { readonly at: number; readonly ms: number; readonly size: number }[] = [];

  /** The next group: its first delivery waits, others come meanwhile, and all are answered at its end. */
  function group(): void {
    now = Math.max(now, due);
    due += gapMs;
    pace.came();
    const { ms, count } = pace.wait();
    const end = now + ms;
    let size = 1;
    while (due <= end && size < Math.min(count, connections)) {
      due += gapMs;
      size += 1;
      pace.came();
    }
    waits.push({ at: now, ms, size });
    pace.gathered(size);
    now = size === count ? Math.min(end, due - gapMs) : end;
  }

  /** A single delivery after a pause; the others come a second later. */
  function alone(pauseMs: number): void {
    now += pauseMs;
    pace.came();
    waits.push({ at: now, ms: pace.wait().ms, size: 1 });
    pace.gathered(1);
    due = now + 1_000;
  }

  function until(ms: number): void {
    while (now < ms) group();
  }

  return { waits, alone, until, now: () => now };
}

describe('createDeliveryPace', () => {
  it('lets deliveries wait for each other when a few come each second and go on coming', () => {
    const { waits, until } = exchange({ gapMs: 50 });
    until(60_000);

    const later = waits.filter(({ at }) => at > 3_000);
    expect(later.every(({ ms }) => ms === PATIENT_MS)).toBe(true);
    expect(later.every(({ size }) => size >= 6)).toBe(true);
    expect(waits[0]).toMatchObject({ ms: PROMPT_MS });
  });

  it('does not hold up a sender that waits for each answer', () => {
    const { waits, until } = exchange({ gapMs: 50, connections: 1 });
    until(60_000);

    const heldMs = waits.filter(({ ms }) => ms === PATIENT_MS).length * PATIENT_MS;
    expect(heldMs).toBeGreaterThan(0);
    expect(heldMs).toBeLessThan(60_000 * 0.04);
  });

  it('does not hold up a sender of few connections for long', () => {
    const { waits, until } = exchange({ gapMs: 50, connections: 3 });
    until(120_000);

    const slow = waits.filter(({ ms }) => ms === PATIENT_MS).length * PATIENT_MS;
    expect(slow).toBeLessThan(120_000 * 0.15);
    // What it could not send meanwhile has come, too.
    const deliveries = waits.reduce((sum, { size }) => sum + size, 0);
    expect(deliveries).toBeGreaterThanOrEqual(120_000 / 50 - 40);
  });

  it.each([
    ['so seldom that nobody comes meanwhile', 200],
    ['so often that they come in groups by themselves', 2],
  ])('answers promptly when deliveries come %s', (_name, gapMs) => {
    const { waits, until } = exchange({ gapMs });
    until(30_000);

    expect(waits.every(({ ms }) => ms === PROMPT_MS)).toBe(true);
  });

  it('stores a group as soon as enough have come', () => {
    const { waits, until } = exchange({ gapMs: 10 });
    until(10_000);

    expect(waits.at(-1)).toMatchObject({ ms: PATIENT_MS, size: 16 });
  });

  it('waits again some seconds after the last delivery of a batch has waited alone', () => {
    const { waits, alone, until, now } = exchange({ gapMs: 50 });
    until(10_000);
    alone(20_000);
    const at = now();
    until(at + 9_000);
    const soonAfter = waits.filter((wait) => wait.at > at);
    until(at + 20_000);

    expect(waits.find((wait) => wait.at === at)).toMatchObject({ ms: PATIENT_MS });
    expect(soonAfter.every(({ ms }) => ms === PROMPT_MS)).toBe(true);
    expect(waits.at(-1)).toMatchObject({ ms: PATIENT_MS });
  });
});
