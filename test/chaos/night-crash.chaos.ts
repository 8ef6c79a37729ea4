import { describe, expect, it } from 'vitest';
import { DROP_POINTS } from '../../src/drop/drop-point.ts';
import { NIGHTLY_CRASH_POINTS } from '../../src/wiring/start/crash-points.ts';
import { nightPlace } from '../support/lote/night-place.ts';

/** Reached only with `.done` markers; `test/unit/drop/drop-crash.test.ts` has them. */
const WITH_MARKERS: ReadonlySet<string> = new Set(DROP_POINTS.filter((point) => point.startsWith('marker-')));
/** The steps of its batches that leave something on the disk. */
const OF_BATCHES = ['after-claim', 'after-staged', 'after-post:7', 'before-report-write', 'report-write', 'revision'];

const alone = [...NIGHTLY_CRASH_POINTS.filter((point) => !WITH_MARKERS.has(point)), ...OF_BATCHES];

describe('crash matrix of a night', { timeout: 900_000 }, () => {
  it.each([...alone, ...alone.map((point) => `temporal@${point}`)])(
    'loses no file and issues everything once after %s',
    async (point) => {
      const place = await nightPlace();
      try {
        const crashed = await place.run(point);
        // A night whose Temporal server ends goes on by itself.
        if (point.startsWith('temporal@')) return await place.expectDone(crashed);
        expect(crashed.signal, `not reached: exit ${crashed.code}, ${crashed.stderr}`).toBe('SIGKILL');
        await place.expectNothingLost();
        await place.expectDone(await place.run());
      } finally {
        await place.remove();
      }
    },
  );
});
