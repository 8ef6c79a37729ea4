import { randomInt } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { CRASH_POINTS } from '../support/crash/crash-points.ts';
import { HELD } from '../support/crash/crash-case.ts';
import { crashPlace } from '../support/crash/crash-place.ts';
import type { CommandEnd } from '../support/lote/lote-command.ts';
import { seededChance } from '../support/until.ts';

const INVOICES = 300;
/** A slice of them is frozen in four portions. */
const LARGE_SLICE = 1_000;
const CHAINS = 10;
const CRASHES_PER_CHAIN = 5;
/** Reached by invoice or by delivery: the crash may come at any of the first ones. */
const REPEATED = /freeze|post|answer|event|status|signal|page/;

const seed = Number(process.env['CHAOS_SEED'] ?? randomInt(1, 2 ** 31));
const chance = seededChance(seed);
let done = 0;

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

/** Each is reached in the middle of the large slice: the first freezing is that of the first invoices. */
const betweenPortions = ['before-freeze:4', 'before-mark:3', 'mark-raised:4', 'after-freeze:3', 'answer-recorded:15'];

const ownEnds = [...alone, ...chains].map((points) => [points.join(' '), points] as const);
const temporalEnds = temporal.map((points) => [points.join(' '), points] as const);
const all = ownEnds.length + temporalEnds.length + betweenPortions.length;

describe(`crash matrix, CHAOS_SEED=${seed}`, { timeout: 900_000 }, () => {
  describe('of the process itself', { concurrent: true }, () => {
    it.each(ownEnds)('every invoice sent once after %s', live);
    it.each(betweenPortions)('every invoice of a large slice sent once after %s', async (point) => {
      await live(point, [point], LARGE_SLICE);
    });
  });

  // One at a time: a server that is started again needs the port that it had, and beside it others would look for a free one.
  describe('of its Temporal server', () => {
    it.each(temporalEnds)('every invoice sent once after %s', live);
  });

  async function live(name: string, points: readonly string[], invoices = INVOICES): Promise<void> {
    const began = Date.now();
    const place = await crashPlace(invoices, invoices === LARGE_SLICE ? LARGE_SLICE : undefined);
    try {
      const ends: CommandEnd[] = [];
      for (const point of points) ends.push(await place.run(point));
      const [first] = ends;
      const itsTemporal = name.startsWith('temporal@');
      // A later crash of a chain may find the batch too far on to be reached; the first one must be.
      if (!itsTemporal) expect(first?.signal, `${name} was not reached: ${first?.stderr}`).toBe('SIGKILL');
      // A run whose server ends is not started again: all of it is the bound then.
      const returned = itsTemporal ? began : Date.now();
      const last = itsTemporal && first !== undefined ? first : await place.run();
      const row = {
        ...{ fault: itsTemporal ? 'its Temporal server killed' : 'lote run killed', step: name, workers: 1 },
        ...{ ...(await place.judge(last)), invoices },
        longestWait: Math.round((Date.now() - returned) / 1000),
      };
      done += 1;
      console.log(`${done} of ${all}: ${name}, ${row.longestWait} s: ${row.verdict}`);
      expect(row).toMatchObject({ lost: 0, double: 0, cut: 0, verdict: HELD });
    } finally {
      await place.remove();
    }
  }
});
