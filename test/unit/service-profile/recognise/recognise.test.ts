import { describe, expect, it } from 'vitest';
import { loadProfile } from '../../../../src/service-profile/load-profile.ts';
import type { Document } from '../../../../src/service-profile/place.ts';
import { isFinding, type Recognised } from '../../../../src/service-profile/recognise/finding.ts';
import { recognise } from '../../../../src/service-profile/recognise/recognise.ts';
import type { Recording } from '../../../../src/service-profile/recognise/recording.ts';
import { defaultLike } from '../../../services/default-like.ts';
import type { BookedInvoice, BookedMerchant, Family, Problem, Reply } from '../../../services/fake/family.ts';
import { FAMILIES } from '../../../services/families.ts';

const ORIGIN = 'http://127.0.0.1:1';
const NIF = '512345678';

function invoiceOf({ answers }: Family, number: number, status: BookedInvoice['status']): BookedInvoice {
  const content = {
    merchantId: answers.merchantId(2),
    customerName: 'A',
    customerTaxId: null,
    currency: 'EUR',
    lines: [],
  };
  const failure = status === 'failed' ? { code: 'series_closed', message: 'The series is closed' } : null;
  return { number, id: answers.invoiceId(number), key: 'k', content, status, failure };
}

function merchantOf({ answers }: Family, number: number, nif: string): BookedMerchant {
  return { number, id: answers.merchantId(number), key: null, nif, legalName: `E ${number}`, email: 'a@b.example' };
}

/** An answer as a client sees it. */
function received({ status, headers = {}, body, text }: Reply): Document {
  const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  const json: unknown = body === undefined ? undefined : JSON.parse(JSON.stringify(body));
  return { status, headers: lower, body: json, ...(text !== undefined && { text }) };
}

function problemOf({ answers }: Family, kind: Problem['kind'], code: string, field: string): Document {
  return received(answers.problem({ kind, code, field, message: 'Something is wrong with it' }));
}

function deliveryOf({ events }: Family, invoice: BookedInvoice): readonly Document[] {
  if (events === null || invoice.status === 'processing') return [];
  const event = { id: `evt_${invoice.number}`, number: invoice.number, outcome: invoice.status, invoice };
  const url = 'http://lote:geheim@127.0.0.1:2/webhooks';
  const secret = events.newSecret();
  const { headers, body } = events.message({ id: 'd1', events: [event], url, secret, now: 1_700_000_000_000 });
  return [{ headers, body: JSON.parse(body) as unknown }];
}

/** What a probe of the family would record. */
function recordingOf(family: Family): Recording {
  const { answers } = family;
  const [issued, failed] = [invoiceOf(family, 1, 'issued'), invoiceOf(family, 2, 'failed')];
  const merchants = [merchantOf(family, 1, '501964843'), merchantOf(family, 2, NIF)];
  const shown = (invoice: BookedInvoice) =>
    [{ ...invoice, status: 'processing', failure: null } as const, invoice].map((one) =>
      received(answers.shown(one, ORIGIN)),
    );
  const created = (invoice: BookedInvoice) =>
    received(answers.created({ ...invoice, status: 'processing', failure: null }, ORIGIN));
  const [, merchant = merchantOf(family, 2, NIF)] = merchants;
  return {
    list: received(family.list(merchants, { query: new URLSearchParams(), address: `${ORIGIN}/v1/merchants` })),
    merchant: {
      nif: NIF,
      created: received(answers.merchantCreated(merchant, ORIGIN)),
      id: merchant.id,
      proof: 'listed',
    },
    invoice: { id: issued.id, created: created(issued), shown: shown(issued) },
    repeated: received((answers.repeated ?? answers.created)(issued, ORIGIN)),
    mismatch: problemOf(family, 'mismatch', 'idempotency_mismatch', 'idempotency_key'),
    refused: problemOf(family, 'refused', 'malformed', 'body'),
    failing: { id: failed.id, created: created(failed), shown: shown(failed) },
    deliveries: [...deliveryOf(family, issued), ...deliveryOf(family, failed)],
  };
}

function settings(recognised: Recognised): ReadonlyMap<string, unknown> {
  return new Map(recognised.filter(isFinding).map(({ key, value }) => [key, value]));
}

/** Names of headers and words are compared without case. */
function comparable(value: unknown): unknown {
  const text = JSON.stringify(value);
  return text.includes('header:') || Array.isArray(value) ? text.toLowerCase() : text;
}

/** What the profile that a person wrote for the family says. */
function written({ profile }: Family, key: string): unknown {
  return key
    .split('.')
    .reduce<unknown>((value, step) => (value as Record<string, unknown>)[step], loadProfile(JSON.stringify(profile)));
}

const RULES = new Set(['answers.rules', 'idempotency.mismatchCodes']);

/** Where the profile of a person is right in another way, or says more than one probe can see. */
const OTHERWISE: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'stripe-like': { 'error.code': '/error/code' },
  'standard-webhooks-like': { 'error.code': '/code', 'error.message': '/detail' },
  'shopify-like': { 'error.message': 'jsonata:$string(errors)', 'invoice.issued': ['ISSUED'] },
  'google-like': { 'error.code': '/error/details/0/reason', 'invoice.id': 'jsonata:$split(name, "/")[-1]' },
  'location-like': {
    'error.code': 'jsonata:$match($text, /^([A-Za-z]+[_-]?[0-9]+|[A-Z]+(?:_[A-Z0-9]+)+)[ :]/).groups[0]',
    'merchants.nif': '/taxpayer/nif',
  },
  'laravel-like': { 'error.message': '/message', 'invoice.failed': ['failed'] },
  'square-like': { 'event.issued': ['invoice.issued'] },
};

const MISMATCH: Readonly<Record<string, readonly string[]>> = {
  'github-like': ['already_used'],
  'shopify-like': ['idempotency_key'],
  'laravel-like': ['idempotency_key'],
  'envelope-like': ['E409'],
  'location-like': ['E409'],
  'square-like': ['IDEMPOTENCY_KEY_REUSED'],
  'google-like': ['IDEMPOTENCY_MISMATCH'],
  'polling-like': ['IDEMPOTENCY_MISMATCH'],
};

const FOUND_RULES: Readonly<Record<string, readonly unknown[]>> = {
  'slack-like': [
    { code: ['idempotency_mismatch'], means: 'mismatch' },
    { code: ['malformed'], means: 'refused' },
  ],
  'json-api-like': [{ status: [409], has: '/data/id', means: 'exists', id: '/data/id' }],
  'polling-like': [{ status: [409], has: '/existing', means: 'exists', id: '/existing' }],
};

const CASES = [defaultLike, ...FAMILIES];

describe('what recorded answers and deliveries show', () => {
  it.each(CASES)('of $name is what a person wrote into its profile', (family) => {
    const found = settings(recognise(recordingOf(family)));

    const others = [...found].filter(([key, value]) => {
      const expected = OTHERWISE[family.name]?.[key] ?? written(family, key);
      return !RULES.has(key) && comparable(value) !== comparable(expected);
    });
    expect(others).toEqual([]);
    const sections = [
      'merchants.createdId',
      'merchants.nif',
      'error.code',
      'invoice.id',
      'invoice.issued',
      'invoice.failed',
    ];
    const ofEvents = family.events === null ? [] : ['event.type', 'event.invoiceId', 'event.issued', 'event.failed'];
    expect([...sections, ...ofEvents].filter((key) => !found.has(key))).toEqual([]);
  });

  it.each(CASES)('of $name tells a known key with other bytes from a refusal, and a repeat', (family) => {
    const found = settings(recognise(recordingOf(family)));

    expect(found.get('answers.rules')).toEqual(FOUND_RULES[family.name]);
    const byRule = family.name === 'slack-like';
    expect(found.get('idempotency.mismatchCodes')).toEqual(
      byRule ? undefined : (MISMATCH[family.name] ?? ['idempotency_mismatch']),
    );
  });

  it('calls no word issued that nothing confirms, and none that is under way', () => {
    const base = recordingOf(defaultLike);
    const certaintyAfter = (last: string): string | undefined => {
      const shown = ['received', last].map((status): Document => ({ status: 200, body: { id: 'inv_1', status } }));
      const invoice = { id: 'inv_1', created: shown[0] ?? { body: null }, shown };
      const found = recognise({ ...base, invoice, failing: null, deliveries: [] });
      return found.filter(isFinding).find(({ key }) => key === 'invoice.issued')?.certainty;
    };

    expect(['issued', 'approved', 'processing', '2', 'not_issued', 'failed'].map(certaintyAfter)).toEqual([
      ...['seen', 'unconfirmed', undefined, undefined, undefined, undefined],
    ]);
  });
});
