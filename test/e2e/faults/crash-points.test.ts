import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { crashPlace, type CrashPlace } from '../../support/crash/crash-place.ts';

const INVOICES = 300;
/** One of each kind of step; `npm run test:chaos` has them all, each alone and in chains. */
const CHAIN = [
  'after-claim',
  'after-registration',
  'before-mark',
  'mark-raised',
  'after-freeze',
  'after-post:20',
  'event-recorded',
  'status-recorded',
  'report-write',
];

describe('a run that ends itself between two steps', { timeout: 400_000 }, () => {
  let place: CrashPlace;

  beforeEach(async () => {
    place = await crashPlace(INVOICES);
  });

  afterEach(() => place.remove());

  it('is finished by the same command, crash after crash, with every invoice sent exactly once', async () => {
    for (const point of CHAIN) {
      const { signal, code, stderr } = await place.run(point);
      expect(signal, `${point} was not reached: exit ${code}, ${stderr}`).toBe('SIGKILL');
    }

    await place.expectTruth(await place.run());
  });

  it('goes on by itself when it is its Temporal server that ends', async () => {
    const end = await place.run('temporal@answer-recorded:30');

    expect(end.stderr).toContain('the embedded Temporal server has ended; starting it again');
    expect(end.stderr).toContain('the embedded Temporal server is up again');
    await place.expectTruth(end);
  });
});
