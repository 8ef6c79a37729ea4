import { describe, expect, it } from 'vitest';
import { NIF, OTHER_NIF, serviceIdOf } from '../../../contract/ledger/scenario.ts';
import { until } from '../../../support/until.ts';
import { created, FORBIDDEN, slicePlaces, type SlicePlace } from './slice-place.ts';
import type { CreateAnswer } from '../../../../src/domain/records/service-answers.ts';

describe('an earlier attempt of a slice that decides late about a 403', () => {
  const placeOf = slicePlaces();

  it('does not reject what a later attempt has on the wire', async () => {
    const waiting = new Map<string, (answer: CreateAnswer) => void>();
    const place: SlicePlace = placeOf((ref) => {
      if (ref.startsWith('W')) return created();
      const nth = place.posts.filter((posted) => posted === ref).length;
      // Its merchant is let in between the two attempts.
      if (ref === 'R0' && nth === 1) return FORBIDDEN;
      return new Promise((resolve) => waiting.set(`${ref}-${nth}`, resolve));
    }, 4);
    await place.slice(await place.batch([{ ref: 'W0' }, { ref: 'W1' }, { ref: 'W2' }]));
    const batch = await place.batch([
      { ref: 'R0', nif: NIF },
      { ref: 'R1', nif: OTHER_NIF },
    ]);
    const serviceId = serviceIdOf(place.scenario, 'R0');

    const first = place.slice(batch);
    await until(() => waiting.has('R1-1'));
    await until(async () => (await batch.line('R0')).reason?.code === FORBIDDEN.reason.code);
    const second = place.slice(batch);
    await until(() => waiting.has('R0-2'));
    waiting.get('R1-1')?.(created());
    await first;

    expect((await batch.line('R0')).state).toBe('sending');
    waiting.get('R1-2')?.(created());
    waiting.get('R0-2')?.({ kind: 'created', serviceId });
    await second;
    expect(await batch.line('R0')).toMatchObject({ state: 'accepted', serviceId });
  });
});
