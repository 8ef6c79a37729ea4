import { describe, expect, it } from 'vitest';
import { loadProfile } from '../../../../src/service-profile/load-profile.ts';
import type { ServiceProfile } from '../../../../src/service-profile/profile.ts';
import { createRecordings } from '../../../../src/wiring/console/recorded-answers.ts';
import { defaultLike } from '../../../services/default-like.ts';
import { FAMILIES } from '../../../services/families.ts';
import { familyRecordings } from '../replay/family-recordings.ts';

const FAMILY = FAMILIES[0] ?? defaultLike;
const FITS = loadProfile(JSON.stringify(FAMILY.profile));
const OTHER_PLACE: ServiceProfile = { ...FITS, invoice: { ...FITS.invoice, status: '/no/such/place' } };
const SWAPPED: ServiceProfile = {
  ...FITS,
  invoice: { ...FITS.invoice, issued: FITS.invoice.failed, failed: FITS.invoice.issued },
};

const recordings = createRecordings(() => familyRecordings(FAMILY, FITS));

describe('the recorded answers beside the settings of a profile', () => {
  it('are those of the last record that was read there', async () => {
    const found = await recordings.recorded(FITS);

    const all = await familyRecordings(FAMILY, FITS);
    expect(found?.count).toBe(all.length);
    expect(found?.byKey.get('invoice.id')?.value).toContain(FITS.invoice.idPrefix);
    expect(FITS.invoice.issued).toContain(found?.byKey.get('invoice.status')?.value);
    const last = all.findLast((one) => one.kind === 'exchange' && one.operation === 'get-invoice');
    expect(found?.byKey.get('invoice.status')?.record).toBe(last?.name);
  });

  it('are the newest of each operation, so that the many of one leave room for the few of another', async () => {
    const all = await familyRecordings(FAMILY, FITS);
    const [post] = all.filter((one) => one.kind === 'exchange' && one.operation === 'create-invoice');
    const many = Array.from({ length: 1_000 }, (_, index) => ({ ...post, name: `n${index}`, at: 1_000 + index }));
    const found = await createRecordings(async () => [...all, ...(many as typeof all)]).recorded(FITS);

    const others = all.filter((one) => one.kind === 'delivery' || one.operation !== 'create-invoice');
    expect(found?.count).toBe(200 + others.length);
    expect(found?.byKey.get('invoice.id')?.record).toBe('n999');
    expect(found?.byKey.get('merchants.items')).toBeDefined();
  });

  it('say where nothing stands', async () => {
    expect((await recordings.recorded(OTHER_PLACE))?.byKey.get('invoice.status')?.value).toBeNull();
  });

  it('are none when nothing is recorded', async () => {
    const none = createRecordings(async () => []);

    expect(await none.recorded(FITS)).toBeNull();
    expect(await none.compare(FITS, OTHER_PLACE)).toBeNull();
  });
});

describe('an edited copy beside the profile in force', () => {
  it('that says the same understands as much', async () => {
    const compared = await recordings.compare(FITS, { ...FITS, limits: { ...FITS.limits, maxConcurrency: 3 } });

    expect(compared?.understandsLess).toBe(false);
    expect(compared?.rows.map(({ what, change }) => [what, change])).toEqual([
      ['list-merchants', 'same'],
      ['create-merchant', 'same'],
      ['create-invoice', 'same'],
      ['get-invoice', 'same'],
      ['register-webhook', 'same'],
      ['delivery', 'same'],
    ]);
  });

  it('that looks for the status elsewhere understands less, and the other way round more', async () => {
    const less = await recordings.compare(FITS, OTHER_PLACE);
    const more = await recordings.compare(OTHER_PLACE, FITS);

    expect(less?.understandsLess).toBe(true);
    expect(less?.rows).toContainEqual({
      ...{ what: 'get-invoice', inForce: '6 of 6 understood', copy: '0 of 6 understood', change: 'worse' },
    });
    expect(less?.rows.filter(({ what, change }) => what.endsWith('.json') && change === 'worse')).toHaveLength(6);
    expect(more?.understandsLess).toBe(false);
    expect(more?.rows.filter(({ what, change }) => what.endsWith('.json') && change === 'better')).toHaveLength(6);
  });

  it('that swaps the words for issued and failed is worse, for the events contradict it', async () => {
    const compared = await recordings.compare(FITS, SWAPPED);

    expect(compared?.understandsLess).toBe(true);
    expect(compared?.rows.find(({ what }) => what === '')?.copy).toContain(
      'issued in one record and failed in another',
    );
    expect(compared?.rows.find(({ what }) => what === 'get-invoice')?.change).toBe('other');
  });
});
