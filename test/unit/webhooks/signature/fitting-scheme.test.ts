import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { DEFAULT_PROFILE } from '../../../../src/service-profile/default-profile.ts';
import { fittingSchemes, type FittingScheme } from '../../../../src/webhooks/signature/fitting-scheme.ts';
import type { SignatureShape } from '../../../../src/webhooks/signature/request-head.ts';
import { deliveryAddress } from '../../../../src/wiring/receiver/webhook-address.ts';
import { FAMILIES } from '../../../services/families.ts';
import type { Family, InvoiceEvent } from '../../../services/fake/family.ts';

const BODY = '{"id":"evt_1","type":"invoice.issued","data":{"id":"inv_1"}}';
const SECONDS = 1_700_000_000;
const URL_SIGNED = 'https://lote.example/hook?a=1';
/** What every client sends. */
const CLIENT = [
  'host',
  'lote.example',
  'content-type',
  'application/json',
  'user-agent',
  'x/1',
  'x-request-id',
  'ab12',
];

function first(headers: readonly string[], secret: string, body = BODY): FittingScheme | undefined {
  return fittingSchemes({ headers: [...CLIENT, ...headers], body: Buffer.from(body), url: URL_SIGNED }, secret)[0];
}

describe('the signature scheme that fits a delivery', () => {
  it('is that of Standard Webhooks, signed by its own library', () => {
    const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
    const signature = new Webhook(secret).sign('msg_1', new Date(SECONDS * 1_000), BODY);
    const headers = [
      'webhook-id',
      'msg_1',
      'webhook-timestamp',
      String(SECONDS),
      'webhook-signature',
      `v1a,AAAA ${signature}`,
    ];

    expect(first(headers, secret)).toEqual({
      profile: {
        ...{ kind: 'hmac', header: 'webhook-signature', algorithm: 'sha256', encoding: 'base64', prefix: 'v1,' },
        ...{ separator: ' ', signed: '{header:webhook-id}.{timestamp}.{body}', timestamp: 'header:webhook-timestamp' },
        secret: { prefix: 'whsec_', encoding: 'base64' },
      },
      shown:
        'webhook-signature holds base64 after "v1,"; the secret, after "whsec_", decoded from base64, fits {header:webhook-id}.{timestamp}.{body}',
    });
  });

  // Vectors of known-schemes.test.ts, worked out by openssl or published.
  it.each([
    [
      'Stripe',
      ['Stripe-Signature', `t=${SECONDS},v1=6696eed82f7fa8cde82d0a7348de1a36e904383c266f7368b76719687e589e47,v0=00`],
      'whsec_stripe',
      'Stripe-Signature holds hex after "v1="; the secret fits {timestamp}.{body}',
    ],
    [
      'Slack',
      [
        ...['X-Slack-Request-Timestamp', String(SECONDS)],
        ...['X-Slack-Signature', 'v0=d73998971c014f1c1c2d8196ad49ab46c897f6dec46c810a88b827a56e95617d'],
      ],
      'slack-secret',
      'X-Slack-Signature holds hex after "v0="; the secret fits v0:{timestamp}:{body}',
    ],
    [
      'Shopify',
      ['X-Shopify-Hmac-Sha256', '2dpV2FWkwJdN99IjpbTCdgditARkrbJEAMwZdCTMIDk='],
      'shpss_1',
      'X-Shopify-Hmac-Sha256 holds base64; the secret fits {body}',
    ],
    [
      'Twilio',
      ['X-Twilio-Signature', '4nYryvFq90ZEZRVrzG9VCa7Ia1s='],
      'twilio-token',
      'X-Twilio-Signature holds base64 of sha1; the secret fits {url}{body}',
    ],
  ])('is that of %s', (_name, headers, secret, shown) => {
    expect(first(headers, secret)?.shown).toBe(shown);
  });

  it.each(['sha1', 'sha256', 'sha384', 'sha512'] as const)(
    'is found with %s in hex, base64 and base64url',
    (algorithm) => {
      for (const encoding of ['hex', 'base64', 'base64url'] as const) {
        const signature = createHmac(algorithm, 'secret').update(`${SECONDS}.${BODY}`).digest(encoding);
        const { profile } = first(['X-Time', String(SECONDS), 'X-Signature', signature], 'secret') ?? {};
        expect([profile?.algorithm, profile?.signed, profile?.timestamp]).toEqual([
          algorithm,
          '{timestamp}.{body}',
          'header:X-Time',
        ]);
      }
    },
  );

  it('is a token, a password or an address where the delivery shows the secret itself', () => {
    const basic = Buffer.from('user:s3cret').toString('base64');
    const address = { headers: CLIENT, body: Buffer.from(BODY), url: null, pathSecret: 's3cret' };

    expect(first(['X-Token', 's3cret'], 's3cret')?.profile).toEqual({ kind: 'token', header: 'X-Token', prefix: '' });
    expect(first(['Authorization', 'Bearer s3cret'], 's3cret')?.profile).toMatchObject({
      kind: 'token',
      prefix: 'Bearer ',
    });
    expect(first(['Authorization', `Basic ${basic}`], 's3cret')?.profile).toEqual({ kind: 'basic' });
    expect(fittingSchemes(address, 's3cret').map(({ profile }) => profile)).toEqual([{ kind: 'path' }]);
  });

  it('is none with another secret, another body, or no signature', () => {
    const signature = createHmac('sha256', 'secret').update(BODY).digest('hex');

    expect(first(['X-Signature', signature], 'secret')).toBeDefined();
    expect(first(['X-Signature', signature], 'other')).toBeUndefined();
    expect(first(['X-Signature', signature], 'secret', `${BODY} `)).toBeUndefined();
    expect(first([], 'secret')).toBeUndefined();
    expect(first(['X-Signature', signature], '')).toBeUndefined();
  });

  it('shows no value of a header and no secret, and takes bounded work whatever the headers say', () => {
    const digests = Array.from({ length: 1_000 }, (_, at) => createHmac('sha256', String(at)).update('').digest('hex'));
    const headers = digests.flatMap((digest, at) => [
      `X-${at}-Id`,
      at % 2 === 0 ? `${SECONDS + at}` : `v1=${digest},t=${SECONDS}`,
    ]);
    const began = process.cpuUsage();

    expect(fittingSchemes({ headers, body: Buffer.alloc(256 * 1024), url: URL_SIGNED }, 'whsec_AAAA')).toEqual([]);
    // The bound is 64 MB of hashing; without it this would take minutes.
    expect(process.cpuUsage(began).user / 1_000).toBeLessThan(10_000);
  });
});

const SIGNING = FAMILIES.flatMap((family) =>
  family.events === null ? [] : [[family.name, family, family.events] as const],
);

describe('the signature scheme of each fake service', () => {
  it.each(SIGNING)('%s is found from one delivery, and is the one that its profile names', (_name, family, events) => {
    const named = (family.profile as { readonly signature?: Partial<SignatureShape> }).signature ?? {};
    const expected = shapeOf({ ...named, secret: { ...DEFAULT_PROFILE.signature.secret, ...named.secret } });
    const secret = events.newSecret();
    const own = 'http://127.0.0.1:8080/webhooks';
    const url = family.registersByHand ? own : (deliveryAddress(own, expected.kind, secret) ?? own);
    const message = events.message({ id: 'd1', events: [eventOf(family)], url, secret, now: SECONDS * 1_000 });
    const address = events.address?.(url, secret) ?? url;
    const pathSecret = address.startsWith(`${own}/`) ? decodeURIComponent(address.slice(own.length + 1)) : undefined;

    const [found] = fittingSchemes(
      {
        headers: [...CLIENT, ...Object.entries(message.headers).flat()],
        ...{ body: Buffer.from(message.body), url },
        ...(pathSecret !== undefined && { pathSecret }),
      },
      secret,
    );

    const shape = shapeOf(found?.profile ?? { header: 'none was found' });
    if (expected.kind === 'hmac') expect(shape).toEqual(expected);
    else expect([shape.kind, shape.header]).toEqual([expected.kind, expected.header]);
  });
});

/** Names of headers in small letters; what is of letters and digits alone reads the same in both alphabets of base64. */
function shapeOf(profile: Partial<SignatureShape>): Omit<SignatureShape, 'toleranceSeconds'> {
  const { toleranceSeconds: _, ...shape } = { ...DEFAULT_PROFILE.signature, ...profile };
  const plain = <Encoding extends string>(encoding: Encoding) => (encoding === 'base64url' ? 'base64' : encoding);
  return {
    ...{ ...shape, header: shape.header.toLowerCase(), signed: shape.signed.toLowerCase() },
    ...{ timestamp: shape.timestamp?.toLowerCase() ?? null, encoding: plain(shape.encoding) },
    secret: { ...shape.secret, encoding: plain(shape.secret.encoding) },
  };
}

function eventOf(family: Family): InvoiceEvent {
  const content = { merchantId: 'mrc_1', customerName: 'C', customerTaxId: null, currency: 'EUR', lines: [] };
  const id = family.answers.invoiceId(7);
  const invoice = { number: 7, id, key: 'k', content, status: 'issued' as const, failure: null };
  return { id: 'evt_7', number: 7, outcome: 'issued', invoice };
}
