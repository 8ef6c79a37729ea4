import { randomInt } from 'node:crypto';
import { CRASH_POINTS } from '../support/crash/crash-points.ts';
import type { CrashCase, Victim } from '../support/crash/crash-case.ts';
import { seededChance } from '../support/until.ts';
import { crashMatrix, partAt } from './crash-matrix.ts';

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
    return { victim, part: partAt(point), point: `${point}${time}` };
  }),
);

/** Away for longer than the start-to-close time of small activities (2 min), and than anybody may pause between two tries to connect. */
const LONG_AWAY: readonly CrashCase[] = ['after-staged', 'after-post:5', 'before-page-close'].map((point) => ({
  ...{ victim: 'temporal', part: partAt(point), point, awayMs: 150_000 },
}));

crashMatrix(`killed, CHAOS_SEED=${seed}`, [...cases, ...LONG_AWAY]);
