import { describe, expect, it } from 'vitest';
import { NIGHTLY_CRASH_POINTS } from '../support/crash/crash-points.ts';
import { nightPlace } from '../support/crash/crash-place.ts';

/** The steps of its batches that leave something on the disk. */
const OF_BATCHES = ['after-claim', 'after-staged', 'after-post:7', 'before-report-write', 'report-write', 'revision'];

const alone = [...NIGHTLY_CRASH_POINTS, ...OF_BATCHES];

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
