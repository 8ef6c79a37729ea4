import { describe, expect, it } from 'vitest';
import { createDeliveryTally, DELIVERY_REFUSALS } from '../../../src/webhooks/delivery-tally.ts';

describe('createDeliveryTally', () => {
  it('begins with nothing, and has a place for every reason', () => {
    const counts = createDeliveryTally(() => 7).counts();

    expect(counts).toMatchObject({
      since: 7,
      taken: { times: 0, lastAt: null },
      notStored: { times: 0, lastAt: null },
    });
    expect(Object.keys(counts.refused).toSorted()).toEqual([...DELIVERY_REFUSALS].toSorted());
  });

  it('counts each reason, and when it was met last', () => {
    let now = 0;
    const tally = createDeliveryTally(() => (now += 10));
    tally.refused('signature-wrong');
    tally.refused('signature-wrong');
    tally.taken(false);
    tally.taken(true);
    tally.notStored();

    const { refused, taken, withoutEvent, notStored } = tally.counts();

    expect(refused['signature-wrong']).toEqual({ times: 2, lastAt: 30 });
    expect(refused['no-secret']).toEqual({ times: 0, lastAt: null });
    expect([taken.times, withoutEvent.times, notStored.times]).toEqual([2, 1, 1]);
  });
});
