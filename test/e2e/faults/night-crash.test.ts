import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { nightPlace, type NightlyPlace } from '../../support/lote/night-place.ts';
import { sharedTemporal } from '../../support/servers/shared-temporal.ts';

/** One while files are taken, one while they are put away; `npm run test:chaos` has every step of a night. */
const CHAIN = ['file-claimed', 'note-placed'];

describe('a night that ends itself between two steps', { timeout: 300_000 }, () => {
  let place: NightlyPlace;

  beforeEach(async () => {
    place = await nightPlace(sharedTemporal());
  });

  afterEach(() => place.remove());

  it('is gone on with by the same command: each file ends on its shelf, with its report, and nothing is sent twice', async () => {
    for (const point of CHAIN) {
      const { signal, code, stderr } = await place.run(point);
      expect(signal, `${point} was not reached: exit ${code}, ${stderr}`).toBe('SIGKILL');
      await place.expectNothingLost();
    }

    await place.expectDone(await place.run());
  });
});
