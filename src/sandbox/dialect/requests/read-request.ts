import { createHash } from 'node:crypto';
import type { Call } from '../../operations/operation.ts';
import { EVENT_TYPES } from '../../records.ts';
import type { Problem } from '../../validation/field.ts';
import type { IdForm } from '../id.ts';
import { readByTemplate, type ReadValues } from './read-template.ts';
import type { SpokenProfile } from '../spoken-profile.ts';
import { textsOf } from './template.ts';
import { parseTokens, tokenText, type TokenJson } from './token-json.ts';

/** A request with a body that the operations understand. */
export interface ReadRequest {
  readonly body: Call['body'];
  /** What the address of an endpoint brought along; null: nothing. */
  readonly secret: string | null;
}

/** Which template a body is written by. */
export type BodyKind = 'createInvoice' | 'createMerchant' | 'registerWebhook';

const PUBLISHED: Readonly<Record<BodyKind, unknown>> = {
  createInvoice: {
    merchant_id: '{merchant_id}',
    customer: { name: '{customer.name}', tax_id: '{customer.tax_id}' },
    currency: '{currency}',
    lines: [
      {
        $each: 'lines',
        description: '{description}',
        quantity: '{quantity}',
        unit_price: '{unit_price}',
        tax_code: '{tax_code}',
      },
    ],
  },
  createMerchant: { legal_name: '{legal_name}', nif: '{nif}', email: '{email}' },
  registerWebhook: { url: '{url}', events: '{events}' },
};

/** For what a template does not send, and the sandbox wants. */
const STAND_INS: Readonly<Record<string, TokenJson>> = {
  currency: 'EUR',
  email: 'not-sent@sandbox.invalid',
  events: [...EVENT_TYPES],
};

/** The template of a body: that of the profile, or as published. */
export function templateOf({ requests }: Pick<SpokenProfile, 'requests'>, kind: BodyKind): unknown {
  return requests[kind].body ?? PUBLISHED[kind];
}

/** Reads a body as the profile writes it into one as published; decimals keep their digits. */
export function readRequest(
  profile: SpokenProfile,
  { kind, text, merchants }: { readonly kind: BodyKind; readonly text: string; readonly merchants: IdForm },
): ReadRequest | Problem {
  const template = templateOf(profile, kind);
  const read = readByTemplate(template, tokensOf(text));
  if ('code' in read) return read;
  const sent = textsOf(template).join(' ');
  for (const [name, value] of Object.entries(STAND_INS))
    if (!sent.includes(`{${name}`) && !read.values.has(name)) read.values.set(name, value);
  const credentials = kind === 'registerWebhook' ? takeCredentials(read, profile) : null;
  const canonical = tokenText(published(kind, read, merchants));
  // Of the bytes as they came: what the same request is known by.
  const sha256 = createHash('sha256').update(text).digest('hex');
  return { body: { text: canonical, value: JSON.parse(canonical) as unknown, sha256 }, secret: credentials };
}

/** What no parser reads is nothing that a template wrote. */
function tokensOf(text: string): TokenJson {
  try {
    return parseTokens(text);
  } catch {
    return null;
  }
}

function published(kind: BodyKind, { values, lines }: ReadValues, merchants: IdForm): TokenJson {
  if (kind !== 'createInvoice') {
    const names = kind === 'createMerchant' ? ['legal_name', 'nif', 'email'] : ['url', 'events'];
    return members(names.map((name) => [name, values.get(name)]));
  }
  const merchantId = values.get('merchant_id');
  return members([
    ['merchant_id', typeof merchantId === 'string' ? (merchants.inner(merchantId) ?? merchantId) : merchantId],
    ['customer', members(['name', 'tax_id'].map((name) => [name, values.get(`customer.${name}`)]))],
    ['currency', values.get('currency')],
    ['lines', lines.map((line) => members([...line]))],
  ]);
}

function members(entries: readonly (readonly [string, TokenJson | undefined])[]): TokenJson {
  return new Map(entries.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const])));
}

/** With basic authentication the address holds user and password; the books keep them as the secret. */
function takeCredentials({ values }: ReadValues, { signature }: SpokenProfile): string | null {
  const url = values.get('url');
  if (signature.kind !== 'basic' || typeof url !== 'string') return null;
  const { address, secret } = withoutCredentials(url);
  values.set('url', address);
  return secret;
}

/** An address without its user and password, which are the secret; null: it has none. */
export function withoutCredentials(url: string): { readonly address: string; readonly secret: string | null } {
  if (!URL.canParse(url)) return { address: url, secret: null };
  const address = new URL(url);
  const { username, password } = address;
  if (username === '' && password === '') return { address: url, secret: null };
  address.username = '';
  address.password = '';
  return { address: address.href, secret: `${decodeURIComponent(username)}:${decodeURIComponent(password)}` };
}
