import { randomInt } from 'node:crypto';
import { afterAll, describe, expect, inject, it } from 'vitest';
import { CRASH_POINTS } from '../../src/wiring/crash-points.ts';
import { crashLane, type CrashCase, type CrashEnd, type Victim } from '../support/crash-lane.ts';
import { seededChance } from '../support/seeded-chance.ts';

/** Each has servers of its own; most of a case is waiting for the heartbeat of whoever was killed. */
const LANES = 4;
/** What the receiver comes to; everything else is the worker's. A status is recorded there by whoever confirms a failed event first. */
const AT_RECEIVER = /event|signal|status/;
/** Reached by invoice or by delivery: the crash may come at any of the first ones. Deliveries are applied in sets, and there may be one set only. */
const REPEATED = /freeze|post|answer|event-recorded|status/;
/** Done once for a ledger, which all cases of a lane share. */
const ONCE = /registration/;
const VICTIMS: readonly Victim[] = ['itself', 'database', 'temporal'];

const seed = Number(process.env['CHAOS_SEED'] ?? randomInt(1, 2 ** 31));
const chance = seededChance(seed);

const cases: readonly CrashCase[] = VICTIMS.flatMap((victim) =>
  CRASH_POINTS.filter((point) => !ONCE.test(point)).map((point): CrashCase => {
    const time = REPEATED.test(point) ? `:${1 + Math.floor(chance() * 2)}` : '';
    return { victim, part: AT_RECEIVER.test(point) ? 'receiver' : 'worker', point: `${point}${time}` };
  }),
);

interface Line extends Partial<CrashEnd> {
  readonly part: string;
  readonly point: string;
  readonly killed: string;
  readonly result: string;
}

describe.skipIf(inject('postgresUrl') === null)(
  `crash matrix of the distributed form, CHAOS_SEED=${seed}`,
  { concurrent: true, timeout: 3_600_000 },
  () => {
    const lines: Line[] = [];
    afterAll(() => console.table(lines));

    it.each(Array.from({ length: LANES }, (_, lane) => lane))('survives every end, lane %i', async (nth) => {
      const mine = cases.filter((_, at) => at % LANES === nth);
      const failures: string[] = [];
      for (let from = 0; from < mine.length;) from = await through(mine, { from, failures });
      expect(failures).toEqual([]);
    });

    /** Cases on one set of servers, until one fails: what it leaves behind must not be held against the next. */
    async function through(mine: readonly CrashCase[], at: { from: number; failures: string[] }): Promise<number> {
      const lane = await crashLane();
      try {
        for (const [index, one] of mine.slice(at.from).entries()) {
          const { part, point, victim } = one;
          try {
            const end = await lane?.surviveOne(one);
            lines.push({ part, point, killed: victim, result: 'held', ...end });
            console.log(`${lines.length} of ${cases.length}: ${victim} at ${part} ${point}, ${end?.seconds} s`);
          } catch (error) {
            lines.push({ part, point, killed: victim, result: 'FAILED' });
            at.failures.push(`${victim} at ${part} ${point}: ${String(error)}`);
            console.log(`${lines.length} of ${cases.length}: ${at.failures.at(-1)}`);
            return at.from + index + 1;
          }
        }
        return mine.length;
      } finally {
        await lane?.remove();
      }
    }
  },
);
