import { describe, expect, it } from 'vitest';
import { loadProfile } from '../../../../src/service-profile/load-profile.ts';
import { replay } from '../../../../src/wiring/replay/replay.ts';
import { defaultLike } from '../../../services/default-like.ts';
import { FAMILIES } from '../../../services/families.ts';
import { familyRecordings, PRIVATE } from './family-recordings.ts';

const CASES = [defaultLike, ...FAMILIES].map((family) => ({
  ...{ family, name: family.name, profile: loadProfile(JSON.stringify(family.profile)) },
}));

describe('recorded answers of a family of services', () => {
  it.each(CASES)('are all understood by the profile of $name', async ({ family, profile }) => {
    const recordings = await familyRecordings(family, profile);
    const { rows, findings, understood } = await replay(profile, recordings);

    expect(rows.filter((row) => row.understood !== true)).toEqual([]);
    expect(findings).toEqual([]);
    expect(understood).toBe(true);
  });

  it.each(CASES)('hold nothing private of $name', async ({ family, profile }) => {
    const text = JSON.stringify(await familyRecordings(family, profile));
    const forms = PRIVATE.flatMap((one) => [one, encodeURIComponent(one), ...base64Forms(one)]);

    expect(forms.filter((form) => text.toLowerCase().includes(form.toLowerCase()))).toEqual([]);
  });
});

/** What a profile gets wrong, and the setting that a replay of good records must name. */
const WRONG: readonly (readonly [names: string, profile: unknown])[] = [
  ['invoice.id', { invoice: { id: '/invoice/id' } }],
  ['invoice.idPrefix', { invoice: { idPrefix: 'doc_' } }],
  ['invoice.status', { invoice: { status: '/state' } }],
  ['invoice.issued', { invoice: { issued: ['paid'] } }],
  ['invoice.failed', { invoice: { issued: ['failed'], failed: ['issued'] } }],
  ['error.code and error.message', { error: { code: '/code', message: '/text' } }],
  ['idempotency.mismatchCodes', { idempotency: { mismatchCodes: ['other'] } }],
  ['merchants.createdId', { merchants: { createdId: '/merchant/id' } }],
  ['merchants.items', { merchants: { items: '/items' } }],
  ['merchants.id', { merchants: { id: '/key' } }],
  ['merchants.nif', { merchants: { nif: '/vat' } }],
  ['webhook.secret', { webhook: { secret: '/key' } }],
  ['signature.header', { signature: { header: 'X-Other-Signature' } }],
  ['signature.encoding', { signature: { encoding: 'base64' } }],
  ['event.type', { event: { type: '/event' } }],
  ['event.issued', { event: { issued: ['done'], failed: ['broken'] } }],
  ['event.invoiceId', { event: { invoiceId: '/invoice' } }],
  ['event.items', { event: { items: '/events' } }],
  ['event.payload', { event: { payload: { at: '/payload', encoding: 'text' } } }],
];

describe('good records read by a wrong profile', () => {
  it.each(WRONG)('name %s', async (setting, profile) => {
    const right = loadProfile(JSON.stringify(defaultLike.profile));
    const recordings = await familyRecordings(defaultLike, right);
    const { rows, findings, understood } = await replay(loadProfile(JSON.stringify(profile)), recordings);

    const said = rows.filter((row) => row.understood === false).map(({ says }) => says);
    expect([...said, ...findings.map(({ settings, message }) => `${settings.join()} ${message}`)].join('\n')).toContain(
      setting,
    );
    expect(understood).toBe(false);
  });

  it('name the page of the list that the profile never asks for', async () => {
    const [stripe] = FAMILIES;
    if (stripe === undefined) throw new Error('No family');
    const right = loadProfile(JSON.stringify(stripe.profile));
    const recordings = await familyRecordings(stripe, right, right, 150);
    const wrong = { ...right, merchants: { ...right.merchants, nextCursor: '/next', more: null } };
    const { rows } = await replay(wrong, recordings);

    const pages = rows.filter(({ operation }) => operation === 'list-merchants');
    expect(pages.map(({ understood }) => understood)).toEqual([false, false]);
    expect(pages[0]?.says).toContain('has_more');
    expect(pages[1]?.says).toContain('the profile does not ask for this page');
  });
});

/** How a text stands inside longer base64, at each of the three offsets. */
function base64Forms(text: string): readonly string[] {
  return [0, 1, 2].map((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), Buffer.from(text)]).toString('base64');
    const from = offset === 0 ? 0 : offset + 1;
    return encoded.replace(/=+$/, '').slice(from, -2);
  });
}
