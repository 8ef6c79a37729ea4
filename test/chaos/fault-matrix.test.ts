import { randomInt } from 'node:crypto';
import { describe, it } from 'vitest';
import { liveThrough, summaryOf } from './live-through.ts';
import { mixedNight, singleFaultNights, type NightlyRun } from './nights.ts';

/** The short form of the matrix, in every test run; `npm run test:chaos` is the long one. */
const INVOICES = 60;
const SINGLES: ReadonlySet<string> = new Set([
  'lostAfterCreate',
  'status429',
  'contradictoryEvents',
  'merchantRefusal',
]);
/** One mixture is another in every run: its seed is printed, and CHAOS_SEED brings it back. */
const SEED = process.env['CHAOS_SEED'] ?? `run-${randomInt(1_000_000)}`;

const nights: readonly NightlyRun[] = [
  ...singleFaultNights('short').filter(({ name }) => SINGLES.has(name)),
  mixedNight('short-mixture'),
  mixedNight(SEED),
];

describe('a night on which things go wrong', () => {
  it.each(nights)('of $name, seed $seed: nothing twice, nothing lost, nothing issued called failed', async (night) => {
    const end = await liveThrough(night, INVOICES);

    console.log(summaryOf([end]));
  });
});
