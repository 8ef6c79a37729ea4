import { randomInt } from 'node:crypto';
import { afterAll, describe, it } from 'vitest';
import { CRASH_POINTS } from '../../src/wiring/crash-points.ts';
import { crashPlace } from '../support/crash-place.ts';
import { seededChance } from '../support/seeded-chance.ts';

const INVOICES = 300;
const CHAINS = 10;
const CRASHES_PER_CHAIN = 5;
/** Reached by invoice or by delivery: the crash may come at any of the first ones. */
const REPEATED = /freeze|post|answer|event|status|signal|page/;

const seed = Number(process.env['CHAOS_SEED'] ?? randomInt(1, 2 ** 31));
const chance = seededChance(seed);
const summary: { case: string; crashes: string; posts: number; duplicates: number }[] = [];

function withTime(point: string): string {
  return REPEATED.test(point) ? `${point}:${1 + Math.floor(chance() * 3)}` : point;
}

/** Points in the order in which a batch comes to them: a chain goes forward. */
function chain(): readonly string[] {
  const chosen = new Set<string>();
  while (chosen.size < CRASHES_PER_CHAIN) {
    const point = CRASH_POINTS[Math.floor(chance() * CRASH_POINTS.length)] ?? '';
    // Only a reported failure or a silent invoice is asked for by GET: in this file there may be none.
    if (!point.includes('status')) chosen.add(point);
  }
  return CRASH_POINTS.filter((point) => chosen.has(point)).map((point) => withTime(point));
}

const alone = CRASH_POINTS.filter((point) => !point.includes('status')).map((point) => [withTime(point)]);
const temporal = CRASH_POINTS.filter((point) => !point.includes('status')).map((point) => [
  `temporal@${withTime(point)}`,
]);
const chains = Array.from({ length: CHAINS }, chain);

describe(`crash matrix, CHAOS_SEED=${seed}`, { timeout: 900_000 }, () => {
  afterAll(() => console.table(summary));

  it.each([...alone, ...chains, ...temporal].map((points) => [points.join(' '), points] as const))(
    'issues everything once after %s',
    async (name, points) => {
      const place = await crashPlace(INVOICES);
      try {
        const ends: string[] = [];
        for (const point of points) {
          const { signal, code } = await place.run(point);
          // A later crash of a chain may find the batch too far on to be reached: the end says so.
          ends.push(signal ?? `exit ${code}`);
        }
        await place.expectIssuedOnce(await place.run());
        const books = place.sandbox.books();
        summary.push({
          case: name,
          crashes: ends.join(' '),
          posts: books.totals.invoices,
          duplicates: books.duplicates.length,
        });
      } finally {
        await place.remove();
      }
    },
  );
});
