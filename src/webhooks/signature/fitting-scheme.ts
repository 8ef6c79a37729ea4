import { createHmac } from 'node:crypto';
import { DEFAULT_PROFILE } from '../../service-profile/default-profile.ts';
import {
  headerIds,
  headerTimes,
  possibleSignatures,
  signingHeaders,
  type PossibleSignature,
  type SingleHeader,
  type Time,
} from './possible-signatures.ts';
import type { SignatureShape } from './request-head.ts';
import { createSignatureCheck } from './signature-check.ts';
import { compileTemplate, feed, type SignedContent } from './signed-content.ts';
import { createSigningKeys } from './signing-keys.ts';
import { timeOf } from './timestamp.ts';

/** A delivery whose signature is to be found out. */
export interface UnknownDelivery {
  /** Names and values in turn, as Node's `rawHeaders`. */
  readonly headers: readonly string[];
  readonly body: Uint8Array;
  /** The registered address; null: not known. */
  readonly url: string | null;
  /** The step of the address after the receiver's own, decoded; left out: the address ends there. */
  readonly pathSecret?: string;
}

/** A way of signing by which a delivery fits a secret. */
export interface FittingScheme {
  /** What `signature` of the profile must say; what is left out stays. */
  readonly profile: Partial<SignatureShape>;
  /** In words, such as `X-Signature holds base64; the secret fits {timestamp}.{body}`. Never a value of a header. */
  readonly shown: string;
}

const WITH_TIME = [
  ...[
    '{timestamp}.{body}',
    'v0:{timestamp}:{body}',
    '{timestamp}{body}',
    '{timestamp}:{body}',
    'v1:{timestamp}:{body}',
  ],
  ...['{body}.{timestamp}', '{body}{timestamp}', '{timestamp}|{body}', '{timestamp}\n{body}'],
];
const WITH_ID_AND_TIME = [
  ...['{id}.{timestamp}.{body}', '{id}{timestamp}{body}', '{timestamp}.{id}.{body}', '{timestamp}{id}{body}'],
  ...['{id}:{timestamp}:{body}', '{id}|{timestamp}|{body}'],
];
const WITH_ID = ['{id}.{body}', '{id}{body}', '{id}:{body}', '{body}{id}'];
const WITH_URL = ['{url}{body}', '{url}.{body}', '{url}|{body}', '{body}{url}', 'POST{url}{body}'];
const WITH_URL_AND_TIME = [
  ...['{timestamp}.{url}.{body}', '{timestamp}{url}{body}', '{url}{timestamp}{body}', 'POST{url}{body}{timestamp}'],
];

/** Secrets are tried as text and decoded, whole and after a prefix such as `whsec_`. */
const DECODINGS = ['text', 'base64', 'hex', 'base64url'] as const;
const SECRET_PREFIX = /^[A-Za-z0-9-]{1,12}[_:.]/;

/** Work of one call: bodies of a few kilobytes need none of these limits, one of a megabyte gets the likely schemes. */
const MOST_HASHES = 4_000;
const MOST_HASHED_BYTES = 64 * 1024 * 1024;
const MOST_SCHEMES = 3;

/**
 * Which of the known ways of signing fit a delivery and a secret, the plainest first; each was proved by the check that
 * the receiver makes. This is advice for people: no delivery is ever accepted by it. It takes some milliseconds, so it
 * has no place between a request and its answer.
 */
export function fittingSchemes(delivery: UnknownDelivery, secret: string): readonly FittingScheme[] {
  if (secret === '') return [];
  const headers = signingHeaders(delivery.headers);
  const found = [...shownSecrets(delivery, secret), ...hmacs(delivery, headers, secret)];
  const seen = new Set<string>();
  return found
    .filter(({ kind = '', header = '', signed = '' }) => {
      const key = [kind, header.toLowerCase(), signed].join(' ');
      return !seen.has(key) && seen.add(key);
    })
    .filter((profile) => isAccepted(delivery, profile, secret))
    .slice(0, MOST_SCHEMES)
    .map((profile) => ({ profile, shown: wordsOf(profile) }));
}

/** Schemes without a signature: the delivery shows the secret itself. */
function shownSecrets({ headers, pathSecret }: UnknownDelivery, secret: string): Partial<SignatureShape>[] {
  const found: Partial<SignatureShape>[] = [{ kind: 'basic' }];
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const text = (headers[at + 1] ?? '').trim();
    const prefix = text.slice(0, text.length - secret.length);
    if (text.endsWith(secret) && /^(?:[A-Za-z]{1,16}[ =:])?$/.test(prefix))
      found.push({ kind: 'token', header: headers[at] ?? '', prefix });
  }
  if (pathSecret !== undefined) found.push({ kind: 'path' });
  return found;
}

interface Key {
  readonly secret: SignatureShape['secret'];
  readonly key: string | Uint8Array;
}

interface Content {
  readonly signed: string;
  readonly timestamp: string | null;
  readonly bytes: SignedContent;
}

function hmacs(delivery: UnknownDelivery, headers: readonly SingleHeader[], secret: string): Partial<SignatureShape>[] {
  const signatures = possibleSignatures(headers);
  const algorithms = [...new Set(signatures.map(({ algorithm }) => algorithm))];
  const keys = keysOf(secret);
  const found: Partial<SignatureShape>[] = [];
  const budget = { hashes: MOST_HASHES, bytes: MOST_HASHED_BYTES };
  for (const { signed, timestamp, bytes } of contentsOf(delivery, headers, signatures)) {
    for (const { key, secret: how } of keys) {
      for (const algorithm of algorithms) {
        if ((budget.hashes -= 1) < 0 || (budget.bytes -= delivery.body.byteLength) < 0) return found;
        const expected = feed(createHmac(algorithm, key), bytes, delivery.body).digest();
        const fits = signatures.filter((one) => one.algorithm === algorithm && expected.equals(one.digest));
        for (const { header, encoding, prefix, separator } of fits)
          found.push({ kind: 'hmac', header, algorithm, encoding, prefix, separator, signed, timestamp, secret: how });
      }
    }
  }
  return found;
}

function keysOf(secret: string): readonly Key[] {
  const prefix = SECRET_PREFIX.exec(secret)?.[0];
  const ways = ['', ...(prefix === undefined ? [] : [prefix])].flatMap((before) =>
    DECODINGS.map((encoding) => ({ prefix: before, encoding })),
  );
  const known = new Map<string, Key>();
  for (const how of ways) {
    const [key] = createSigningKeys({ secret: how }, { warn: () => undefined })([secret]);
    if (key === undefined) continue;
    const bytes = Buffer.from(key).toString('hex');
    if (!known.has(bytes)) known.set(bytes, { secret: how, key });
  }
  return [...known.values()];
}

/** What may have been signed, the likeliest first. */
function contentsOf(
  delivery: UnknownDelivery,
  headers: readonly SingleHeader[],
  signatures: readonly PossibleSignature[],
): readonly Content[] {
  const times = distinct([...signatures.flatMap((one) => one.times), ...headerTimes(headers)]);
  const ids = headerIds(headers);
  const withUrl = delivery.url === null ? [] : WITH_URL;
  const withUrlAndTime = delivery.url === null ? [] : WITH_URL_AND_TIME;
  const ofIds = (templates: readonly string[]) =>
    ids.flatMap((id) => templates.map((template) => template.replace('{id}', `{header:${id}}`)));
  const timed = [...WITH_TIME, ...ofIds(WITH_ID_AND_TIME), ...withUrlAndTime];
  return [
    ...['{body}', ...withUrl].map((signed) => ({ signed, time: null })),
    ...times.flatMap((time) => timed.map((signed) => ({ signed, time }))),
    ...ofIds(WITH_ID).map((signed) => ({ signed, time: null })),
  ].flatMap(({ signed, time }) => {
    const values = { timestamp: time?.text ?? '', url: delivery.url };
    const bytes = compileTemplate(signed)({ rawHeaders: delivery.headers, now: 0 }, values);
    return 'ok' in bytes ? [] : [{ signed, timestamp: time?.place ?? null, bytes }];
  });
}

function distinct(times: readonly Time[]): readonly Time[] {
  return [...new Map(times.map((time) => [time.place, time])).values()].slice(0, 4);
}

/** The receiver's own check has the last word; its clock stands at the time of signing. */
function isAccepted(delivery: UnknownDelivery, profile: Partial<SignatureShape>, secret: string): boolean {
  const { headers: rawHeaders, pathSecret, url } = delivery;
  const shape = { ...DEFAULT_PROFILE.signature, ...profile };
  const check = createSignatureCheck({ shape, url: () => url, log: { warn: () => undefined } });
  const times = [
    ...headerTimes(signingHeaders(rawHeaders)),
    ...possibleSignatures(signingHeaders(rawHeaders)).flatMap((one) => one.times),
  ];
  const text = times.find(({ place }) => place === shape.timestamp)?.text;
  const now = text === undefined ? 0 : (timeOf(text) ?? 0);
  return check.verify({ rawHeaders, now, ...(pathSecret !== undefined && { pathSecret }) }, [secret], delivery.body).ok;
}

function wordsOf(profile: Partial<SignatureShape>): string {
  const { kind, header = '', algorithm, encoding = '', prefix = '', secret, signed = '' } = profile;
  if (kind === 'basic') return 'Authorization holds the secret as the password of HTTP basic authentication';
  if (kind === 'path') return 'the address ends with the secret';
  if (kind === 'token') return `${header} holds the secret itself${prefix === '' ? '' : ` after "${prefix}"`}`;
  const how = [
    ...(secret?.prefix ? [`after "${secret.prefix}"`] : []),
    ...(secret === undefined || secret.encoding === 'text' ? [] : [`decoded from ${secret.encoding}`]),
  ];
  const kindOf = algorithm === 'sha256' ? encoding : `${encoding} of ${algorithm ?? ''}`;
  const holds = `${header} holds ${kindOf}${prefix === '' ? '' : ` after "${prefix}"`}`;
  return `${holds}; the secret${how.length === 0 ? '' : `, ${how.join(', ')},`} fits ${signed.replaceAll('\n', '\\n')}`;
}
