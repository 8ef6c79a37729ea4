import { describe, expect, it, onTestFinished } from 'vitest';
import { HELD } from '../../support/crash/crash-case.ts';
import { crashPlace, nightPlace, type CrashPlace } from '../../support/crash/crash-place.ts';

/** The last one that fails is the 155th. */
const INVOICES = 160;
/**
 * One of each kind of step, in two chains: most of a chain's time goes by in waiting for what the ended process had begun. `npm run test:chaos` has all
 * steps, each alone and in chains.
 */
const EARLY = ['after-claim', 'after-registration', 'before-mark', 'mark-raised'];
const LATE = ['after-freeze', 'after-post:20', 'event-recorded', 'status-recorded', 'report-write'];

describe('a run that ends itself between two steps', () => {
  it('is finished by the same command, crash after crash: each invoice is sent once', async () => {
    const place = await crashed(EARLY);

    expect((await place.judge(await place.run())).verdict).toBe(HELD);
  });

  it('is finished by the same command, also when its Temporal server ends after the crashes: each invoice is sent once', async () => {
    const place = await crashed(LATE);

    // The first file has only its report left: it is while the second one is sent that the server ends.
    await place.addFile('second');
    const end = await place.run('temporal@answer-recorded:30');

    expect(end.stderr).toContain('the embedded Temporal server has ended; starting it again');
    expect(end.stderr).toContain('the embedded Temporal server is up again');
    expect((await place.judge(end)).verdict).toBe(HELD);
  });
});

/** A file whose run has ended itself at each of the steps, one after the other. */
async function crashed(steps: readonly string[]): Promise<CrashPlace> {
  const place = await crashPlace(INVOICES);
  onTestFinished(() => place.remove());
  for (const step of steps) {
    const { signal, code, stderr } = await place.run(step);
    expect(signal, `${step} was not reached: exit ${code}, ${stderr}`).toBe('SIGKILL');
  }
  return place;
}

/** One step while files are taken, one while they are put away; `npm run test:chaos` has every step of a night. */
const OF_A_NIGHT = ['file-claimed', 'note-placed'];

describe('a night that ends itself between two steps', () => {
  it('is gone on with by the same command: each file ends on its shelf, with its report, and nothing is sent twice', async () => {
    const place = await nightPlace('shared');
    onTestFinished(() => place.remove());
    for (const point of OF_A_NIGHT) {
      const { signal, code, stderr } = await place.run(point);
      expect(signal, `${point} was not reached: exit ${code}, ${stderr}`).toBe('SIGKILL');
      await place.expectNothingLost();
    }

    await place.expectDone(await place.run());
  });
});
