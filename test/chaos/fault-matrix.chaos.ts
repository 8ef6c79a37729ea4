import { afterAll, describe, it } from 'vitest';
import { liveThrough, summaryOf, type NightlyRunEnd } from './live-through.ts';
import { mixedNight, singleFaultNights } from './nights.ts';

const INVOICES = Number(process.env['CHAOS_INVOICES'] ?? 300);
const MIXTURES = Number(process.env['CHAOS_MIXTURES'] ?? 30);
const SEED = process.env['CHAOS_SEED'] ?? 'matrix';

const nights = [
  ...singleFaultNights(SEED),
  ...Array.from({ length: MIXTURES }, (_, at) => mixedNight(`${SEED}-${at + 1}`)),
];

/** A night is mostly waiting (a fifth of one core, measured): several of them, each with a stack of its own, share the machine. */
describe('the fault matrix', { concurrent: true }, () => {
  const ends: NightlyRunEnd[] = [];
  afterAll(() => console.log(`\n${summaryOf(ends)}\n${ends.length} of ${nights.length} nights held\n`));

  it.each(nights)('$name, seed $seed', async (night) => {
    const end = await liveThrough(night, INVOICES);
    ends.push(end);
    console.log(`${ends.length} of ${nights.length}: ${summaryOf([end]).split('\n')[1]}`);
  });
});
