import { randomInt } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import { CRASH_POINTS } from '../../src/wiring/crash-points.ts';
import { crashPlace } from '../support/crash-place.ts';
import type { CommandEnd } from '../support/lote-command.ts';
import { seededChance } from '../support/seeded-chance.ts';

const INVOICES = 300;
const CHAINS = 10;
const CRASHES_PER_CHAIN = 5;
/** Reached by invoice or by delivery: the crash may come at any of the first ones. */
const REPEATED = /freeze|post|answer|event|status|signal|page/;

const seed = Number(process.env['CHAOS_SEED'] ?? randomInt(1, 2 ** 31));
const chance = seededChance(seed);
const summary: { case: string; ends: string; invoices: number; duplicates: number; seconds: number }[] = [];

function withTime(point: string): string {
  // There are two failed invoices, and three pages.
  const times = point.includes('status') ? 2 : 3;
  return REPEATED.test(point) ? `${point}:${1 + Math.floor(chance() * times)}` : point;
}

/** Points in the order in which a batch comes to them: a chain goes forward. */
function chain(): readonly string[] {
  const chosen = new Set<string>();
  while (chosen.size < CRASHES_PER_CHAIN) {
    chosen.add(CRASH_POINTS[Math.floor(chance() * CRASH_POINTS.length)] ?? '');
  }
  return CRASH_POINTS.filter((point) => chosen.has(point)).map((point) => withTime(point));
}

const alone = CRASH_POINTS.map((point) => [withTime(point)]);
const temporal = CRASH_POINTS.map((point) => [`temporal@${withTime(point)}`]);
const chains = Array.from({ length: CHAINS }, chain);

const cases = [...alone, ...chains, ...temporal].map((points) => [points.join(' '), points] as const);

describe(`crash matrix, CHAOS_SEED=${seed}`, { concurrent: true, timeout: 900_000 }, () => {
  afterAll(() => console.table(summary));

  it.each(cases)('every invoice sent once after %s', async (name, points) => {
    const began = Date.now();
    const place = await crashPlace(INVOICES);
    try {
      const ends: string[] = [];
      let last: CommandEnd | null = null;
      for (const point of points) {
        last = await place.run(point);
        // A later crash of a chain may find the batch too far on to be reached: the end says so.
        ends.push(last.signal ?? `exit ${last.code}`);
      }
      expect(ends[0], `${name} was not reached`).toBe(name.startsWith('temporal@') ? 'exit 1' : 'SIGKILL');
      await place.expectTruth(last?.code === 1 && name.startsWith('temporal@') ? last : await place.run());
      const { totals, duplicates } = place.sandbox.books();
      const seconds = Math.round((Date.now() - began) / 1000);
      summary.push({
        case: name,
        ends: ends.join(' '),
        invoices: totals.invoices,
        duplicates: duplicates.length,
        seconds,
      });
      console.log(`${summary.length} of ${cases.length}: ${name}, ${seconds} s`);
    } finally {
      await place.remove();
    }
  });
});
