import { describe, expect, it, onTestFinished } from 'vitest';
import { crashPlace } from '../../support/crash/crash-place.ts';

/** The last one that fails is the 155th. */
const INVOICES = 160;
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
  it('is finished by the same command, crash after crash, also when its Temporal server ends: each invoice is sent once', async () => {
    const place = await crashPlace(INVOICES);
    onTestFinished(() => place.remove());
    for (const point of CHAIN) {
      const { signal, code, stderr } = await place.run(point);
      expect(signal, `${point} was not reached: exit ${code}, ${stderr}`).toBe('SIGKILL');
    }

    // The first file has only its report left: it is while the second one is sent that the server ends.
    await place.addFile('second');
    const end = await place.run('temporal@answer-recorded:30');

    expect(end.stderr).toContain('the embedded Temporal server has ended; starting it again');
    expect(end.stderr).toContain('the embedded Temporal server is up again');
    await place.expectTruth(end);
  });
});
