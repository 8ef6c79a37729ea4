import { afterEach, describe, expect, it } from 'vitest';
import { loadProfile } from '../../../../src/service/profile/check-profile.ts';
import { checkLive, MOST_REQUESTS, type LiveCheck } from '../../../../src/app/live-check/check-live.ts';
import { startTemporaryReceiver } from '../../../../src/app/live-check/temporary-receiver.ts';
import { defaultLike } from '../../../services/default-like.ts';
import { FAMILIES } from '../../../services/families.ts';
import type { Family } from '../../../services/fake/family.ts';
import { startFake } from '../../../services/fake/fake-service.ts';
import { envelopeLike } from '../../../services/envelope-like.ts';

const NIF = '509442013';
const EXISTING = ['501964843', '502011378'];

let closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.toReversed()) await close();
  closing = [];
});

interface Checked {
  readonly result: LiveCheck;
  readonly secrets: readonly string[];
  readonly created: { readonly merchants: number; readonly invoices: number };
}

/** Checks the service of a family with its own profile, or with one that says otherwise. */
async function check(
  family: Family,
  profile: unknown = family.profile,
  { merchantId = null, existing = EXISTING }: { merchantId?: string | null; existing?: readonly string[] } = {},
) {
  const fake = await startFake({ family, existing });
  const receiver = await startTemporaryReceiver(0);
  closing = [() => fake.close(), () => receiver.close()];
  const secret = family.registersByHand && family.events !== null ? fake.registerByHand(receiver.url) : null;
  const result = await checkLive({
    account: { baseUrl: fake.url, apiKey: fake.key },
    application: 'check',
    profile: loadProfile(JSON.stringify(profile)),
    subject: { merchantId, nif: NIF, currency: 'EUR', taxCode: 'IVA_23' },
    receiver: family.events === null ? null : receiver,
    secrets: secret === null ? [] : [secret],
    waitMs: 3_000,
  });
  const created = {
    merchants: fake.books.merchants.filter(({ key }) => key !== null).length,
    invoices: fake.books.invoices.length,
  };
  return {
    result,
    secrets: [fake.key, NIF, ...fake.deliveries.endpoints.map((one) => one.secret)],
    created,
  } as Checked;
}

function verdicts({ rows }: LiveCheck): Readonly<Record<string, string>> {
  return Object.fromEntries(rows.map(({ setting, verdict }) => [setting, verdict]));
}

describe('a live check of a service profile', { timeout: 60_000 }, () => {
  it.each([defaultLike, ...FAMILIES].map((family) => [family.name, family] as const))(
    'finds that each setting fits %s, with one merchant and one invoice',
    async (_, family) => {
      const { result, secrets, created } = await check(family);

      expect(result.rows.filter(({ verdict }) => verdict === 'does not fit')).toEqual([]);
      expect(result.fits, JSON.stringify(result.rows)).toBe(true);
      expect(created).toEqual({ merchants: 1, invoices: 1 });
      expect(result.requests).toBeLessThanOrEqual(MOST_REQUESTS);
      for (const secret of secrets) expect(JSON.stringify(result)).not.toContain(secret);
    },
  );

  it.each<[string, object, string, readonly string[]]>([
    ['invoice.status', { invoice: { status: '/state' } }, 'invoice.status', ['/status']],
    ['a word for issued', { invoice: { issued: ['done'] } }, 'invoice.status', ['/status']],
    ['invoice.id', { invoice: { id: '/invoice_id' } }, 'invoice.id', ['/id']],
    ['merchants.createdId', { merchants: { createdId: '/merchant/id' } }, 'merchants.createdId', ['/id']],
    ['merchants.items', { merchants: { items: '/items' } }, 'merchants.items', ['/data']],
    ['merchants.nif', { merchants: { nif: '/tax_number' } }, 'merchants.nif', ['/nif']],
    ['webhook.secret', { webhook: { secret: '/signing_secret' } }, 'webhook.secret', ['/secret']],
    ['signature.header', { signature: { header: 'X-Signature' } }, 'signature', ['x-service-signature']],
    ['signature.algorithm', { signature: { algorithm: 'sha512' } }, 'signature', ['x-service-signature']],
    ['event.type', { event: { type: '/kind' } }, 'event.type', ['/type']],
    ['event.invoiceId', { event: { invoiceId: '/invoice' } }, 'event.invoiceId', ['/data/id']],
    ['event.eventId', { event: { eventId: '/event_id' } }, 'event.eventId', ['/id']],
    ['error.code', { error: { code: '/code' } }, 'error.code', ['/error/code']],
    ['requests.getInvoice.path', { requests: { getInvoice: { path: '/v2/{id}' } } }, 'requests.getInvoice.path', []],
  ])('tells a wrong %s and what the answer has', async (_, profile, setting, places) => {
    const { result } = await check(defaultLike, profile);

    expect(verdicts(result)).toMatchObject({ [setting]: 'does not fit' });
    expect(result.rows.find((one) => one.setting === setting)?.places).toEqual(expect.arrayContaining([...places]));
    expect(result.requests).toBeLessThanOrEqual(MOST_REQUESTS);
    expect(result.fits).toBe(false);
  });

  it('creates no merchant where one is named', async () => {
    const { result, created } = await check(defaultLike, {}, { merchantId: 'mrc_1' });

    expect(created).toEqual({ merchants: 0, invoices: 1 });
    expect(result.fits, JSON.stringify(result.rows)).toBe(true);
  });

  it('reads only the first pages of a long list, and says so', async () => {
    const existing = Array.from({ length: 1_000 }, (_, at) => String(600_000_000 + at));
    const { result, created } = await check(defaultLike, {}, { existing });

    expect(result.rows.find(({ setting }) => setting === 'requests.listMerchants.path')).toMatchObject({
      received: 'list-has-more-pages',
      verdict: 'not seen',
    });
    expect(created).toEqual({ merchants: 1, invoices: 1 });
    expect(result.requests).toBeLessThanOrEqual(20);
    expect(result.fits, JSON.stringify(result.rows)).toBe(true);
  });

  it('says what of a service of another shape does not fit the default', async () => {
    const { result } = await check(envelopeLike, {});

    expect(verdicts(result)).toMatchObject({ 'merchants.items': 'does not fit' });
    expect(result.fits).toBe(false);
  });
});
