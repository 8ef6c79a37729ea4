import { describe, expect, it } from 'vitest';
import { holdOverRetries } from '../../../../../activities/sending/budgets.ts';
import { activityPlaces, outcomesOf, RETRY, texts } from '../../activity-place.ts';

const placeOf = activityPlaces();

/** Says for numbers of repeats, one after the other, whether they spent the budget of a batch. */
async function spentBy(invoices: number, repeatsPerInvoice: number, repeats: readonly number[]) {
  const place = placeOf({ settings: { retry: { ...RETRY, repeatsPerInvoice } } });
  const batch = await place.scenario.run(texts(invoices));
  const spent: boolean[] = [];
  for (const one of repeats) spent.push(await holdOverRetries(place.deps, batch, one));
  return { place, batch, spent };
}

describe('the retry budget of a batch', () => {
  it.each([
    ['is spent by one repeat more than the profile allows for its invoices, over all its slices', 60, 0.5, [29, 1, 1]],
    ['is never that of fewer than fifty invoices, and is rounded up', 2, 0.05, [3, 1]],
  ])('%s', async (_, invoices, repeatsPerInvoice, repeats) => {
    const { spent } = await spentBy(invoices, repeatsPerInvoice, repeats);

    expect(spent).toEqual(repeats.map((_one, at) => at === repeats.length - 1));
  });

  it('does not stop a slice that repeated nothing, although others have spent it', async () => {
    expect((await spentBy(2, 0.05, [4, 0])).spent).toEqual([true, false]);
  });

  it('holds what is not sent, and tells people and the log both numbers', async () => {
    const { place, batch } = await spentBy(2, 0.05, [7]);

    expect(await outcomesOf(place, batch.batchId)).toEqual({ held: 2 });
    expect((await batch.line('R0')).reason).toEqual({
      code: 'retry-budget-spent',
      message:
        "The batch has repeated 7 POSTs, more than the 3 that retry.repeatsPerInvoice of the service profile allows. The rest was not sent: look at the service's answers, then drop the file again.",
    });
    expect(place.logged).toMatchObject([
      { level: 'warn', message: expect.stringMatching(/budget/) as string, fields: { repeats: 7, budget: 3 } },
    ]);
  });
});
