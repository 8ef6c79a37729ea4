import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { loadProfile } from '../../../src/service-profile/load-profile.ts';
import type { ServiceProfile } from '../../../src/service-profile/profile.ts';
import { defaultLike } from '../../services/default-like.ts';
import type { BookedInvoice, Events, Family } from '../../services/fake/family.ts';
import { FAMILIES } from '../../services/families.ts';

const URL = 'http://127.0.0.1:1/webhooks';
const NOW = Date.UTC(2026, 0, 2, 3, 4, 5);

type Signature = ServiceProfile['signature'];

function deliveryOf(family: Family, events: Events) {
  const content = { merchantId: '1', customerName: 'A', customerTaxId: null, currency: 'EUR', lines: [] };
  const invoice: BookedInvoice = {
    ...{ number: 1, id: family.answers.invoiceId(1), key: 'k', content, status: 'issued', failure: null },
  };
  const secret = events.newSecret();
  const url = family.secretInAddress === true ? URL.replace('//', `//lote:${secret}@`) : URL;
  const event = { id: 'evt_1', number: 1, outcome: 'issued', invoice } as const;
  return { secret, message: events.message({ id: 'd1', events: [event], url, secret, now: NOW }) };
}

/** Text that stands in place of {timestamp}, from a header or a part of the signature's header. */
function timestampOf({ timestamp, separator }: Signature, headers: Headers, parts: readonly string[]): string | null {
  if (timestamp === null) return null;
  const [kind, ...rest] = timestamp.split(':');
  if (kind === 'header') return headers.get(rest.join(':'));
  expect(separator).not.toBe('');
  const prefix = rest.join(':');
  return parts.find((part) => part.startsWith(prefix))?.slice(prefix.length) ?? null;
}

function hmacOf(signature: Signature, secret: string, signed: string): string {
  const { prefix, encoding } = signature.secret;
  const key = Buffer.from(secret.slice(prefix.length), encoding === 'text' ? 'utf8' : encoding);
  return createHmac(signature.algorithm, key).update(signed).digest(signature.encoding);
}

const SIGNED = [defaultLike, ...FAMILIES].flatMap((family) =>
  family.events === null
    ? []
    : [{ name: family.name, family, events: family.events, ...loadProfile(JSON.stringify(family.profile)) }],
);

describe('the deliveries of the families of services', () => {
  it.each(SIGNED)('of $name prove their origin as its profile says', ({ family, events, signature }) => {
    const { secret, message } = deliveryOf(family, events);
    const headers = new Headers(message.headers);
    const header = headers.get(signature.header) ?? '';
    if (signature.kind === 'token') return expect(header).toBe(secret);
    if (signature.kind === 'path') return expect(events.address?.(URL, secret)).toBe(`${URL}/${secret}`);
    if (signature.kind === 'basic') {
      const credentials = Buffer.from(headers.get('authorization')?.slice('Basic '.length) ?? '', 'base64').toString();
      return expect(credentials.split(':')[1]).toBe(secret);
    }
    const parts = signature.separator === '' ? [header] : header.split(signature.separator);
    const timestamp = timestampOf(signature, headers, parts);
    const signed = signature.signed
      .replaceAll(/\{header:([^}]+)\}/g, (_whole, name: string) => headers.get(name) ?? '')
      .replace('{timestamp}', timestamp ?? '')
      .replace('{url}', URL)
      .replace('{body}', () => message.body);

    expect(secret.startsWith(signature.secret.prefix)).toBe(true);
    expect(parts).toContain(signature.prefix + hmacOf(signature, secret, signed));
    if (timestamp !== null) {
      const number = Number(timestamp);
      const time = Number.isNaN(number) ? Date.parse(timestamp) : number * (number < 1e11 ? 1_000 : 1);
      expect(time).toBe(NOW);
    }
  });
});
