import { recordDeliveries } from '../../ledger/scenario.ts';
import { describe, expect, it } from 'vitest';
import { sendAgain } from '../../../../activities/batch/retry.ts';
import { accepted, delivery, NOW, REASON, serviceIdOf } from '../../../contract/ledger/scenario.ts';
import { until } from '../../../support/until.ts';
import { created, slicePlaces } from './slice-place.ts';

describe('an invoice in a later generation', () => {
  const placeOf = slicePlaces();

  it('does not leave once its earlier document is issued, though it was handed out before', async () => {
    const left: string[] = [];
    let answerOther = (): void => undefined;
    const isAnswered = new Promise<void>((resolve) => (answerOther = resolve));
    const place = placeOf(async (ref, _nth, limits) => {
      // As the client asks in the moment before the first byte.
      if (limits?.permit?.isValid() === false && !(await limits.permit.confirm())) return { kind: 'not-permitted' };
      left.push(ref);
      await isAnswered;
      return created();
    });
    const batch = await place.batch([{ ref: 'other' }, { ref: 'again' }]);
    const { ledger } = place.deps;
    const serviceId = serviceIdOf(place.scenario, 'again');
    const { invoiceId } = await batch.one('again');
    await batch.send('again', accepted(serviceId));
    await ledger.recordStatus([{ invoiceId, serviceId, status: 'failed', reason: REASON, now: NOW }]);
    await sendAgain(place.deps, {
      ...{ ledgerId: ledger.id, batchId: batch.batchId, actionId: `${batch.batchId}/round-1` },
      ...{ requests: [{ states: ['failed'], reason: 'the engine is back' }], automatic: false },
    });

    const slice = place.slice(batch);
    await until(() => left.includes('other'));
    await recordDeliveries(ledger, [delivery(serviceId, 'issued')]);
    answerOther();
    await slice;

    expect(left).toEqual(['other']);
    expect(await batch.line('again')).toMatchObject({ state: 'issued', serviceId });
  });
});
