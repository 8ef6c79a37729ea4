import { describe, expect, it } from 'vitest';
import { createFailureWatches } from '../../../../../activities/sending/budgets.ts';
import { activityPlaces, asActivity, type ActivityPlace } from '../../activity-place.ts';
import { acceptedBatch, events, SAID_FAILED, SAID_PROCESSING, statusPlaces } from '../accepted-batch.ts';
import type { Ledger } from '../../../../../src/ledger/ledger.ts';

const saying = statusPlaces(activityPlaces());

/** Slices of one process, and of another one, that watch a batch of which each of 60 invoices is reported as failed. */
async function watching(place: ActivityPlace, overlay: Partial<Ledger> = {}) {
  const batch = await acceptedBatch(place, 60);
  await events(place, 'failed', 0, 60);
  const counts = { looks: 0 };
  const { ledger } = place.deps;
  const counting: Ledger = {
    ...ledger,
    countAnswers(...of) {
      counts.looks += 1;
      return ledger.countAnswers(...of);
    },
    ...overlay,
  };
  const deps = { ...place.deps, ledger: counting };
  const [watchOf, watchElsewhere] = [createFailureWatches(), createFailureWatches()];
  const look = (watch: ReturnType<typeof watchOf>) => asActivity(async () => watch.look(), deps, undefined);
  return { slice: () => watchOf(deps, batch), elsewhere: () => watchElsewhere(deps, batch), look, counts };
}

describe('the failures of a batch', () => {
  it('are looked at by one slice at a time', async () => {
    const place = saying(() => SAID_PROCESSING);
    const { slice, look, counts } = await watching(place);
    const slices = [slice(), slice()];
    place.later(1_000);

    await Promise.all(slices.map(look));

    // Before and after the reported ones were asked for.
    expect(counts.looks).toBe(2);
  });

  it('are looked at again after a look that failed', async () => {
    const place = saying(() => SAID_FAILED);
    let isAway = true;
    const { reportedFailures } = place.deps.ledger;
    const { slice, look } = await watching(place, {
      reportedFailures: (...of) => (isAway ? Promise.reject(new Error('away')) : reportedFailures(...of)),
    });
    const one = slice();
    place.later(1_000);
    await expect(look(one)).rejects.toThrow('away');
    isAway = false;
    place.later(1_000);

    await look(one);

    expect(one.spent).toBe(true);
  });

  it('are not counted again once they have spent the budget', async () => {
    const place = saying(() => SAID_FAILED);
    const { slice, look, counts } = await watching(place);
    const one = slice();
    place.later(1_000);
    await look(one);
    const before = counts.looks;
    place.later(60_000);
    await look(one);

    expect([one.spent, counts.looks]).toEqual([true, before]);
  });

  it('are known to every slice of the process that is still sending, and also to one that begins later', async () => {
    const place = saying(() => SAID_FAILED);
    const { slice, look } = await watching(place);
    const [first, second] = [slice(), slice()];
    place.later(1_000);
    await look(first);
    first.leave();

    expect([second.spent, slice().spent]).toEqual([true, true]);
  });

  it('that another process has confirmed stop all slices once one of them ends', async () => {
    const place = saying(() => SAID_FAILED);
    const { slice, elsewhere, look } = await watching(place);
    const [first, second] = [slice(), slice()];
    const other = elsewhere();
    place.later(1_000);
    await look(other);
    const known = second.spent;

    expect(await first.hold()).toBe(true);
    expect(known).toBe(false);
    expect(second.spent).toBe(true);
  });
});
