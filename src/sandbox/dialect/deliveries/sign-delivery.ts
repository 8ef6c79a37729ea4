import { createHmac, randomBytes } from 'node:crypto';
import type { Sealed } from '../dialect.ts';
import type { SpokenProfile } from '../spoken-profile.ts';

type Signature = SpokenProfile['signature'];

/** A delivery before it proves where it comes from. */
export interface Unsigned {
  readonly id: string;
  /** The registered address. */
  readonly url: string;
  readonly secret: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  /** A forger knows everything but the secret. */
  readonly forged: boolean;
  /** Epoch milliseconds of the signing. */
  readonly now: number;
}

const SECRET_BYTES = 24;

/** A fresh secret, written as the profile says. */
export function newSecret({ kind, secret: { prefix, encoding } }: Signature): string {
  const bytes = randomBytes(SECRET_BYTES);
  if (kind !== 'hmac' || encoding === 'text') return `${prefix === '' ? 'whsec_' : prefix}${bytes.toString('hex')}`;
  return prefix + bytes.toString(encoding);
}

/** Adds the proof that the profile asks for. */
export function signDelivery(signature: Signature, unsigned: Unsigned): Sealed {
  const { url, secret, body, headers, forged } = unsigned;
  const shown = forged ? `not-${secret}` : secret;
  switch (signature.kind) {
    case 'token':
      return { url, body, headers: { ...headers, [signature.header]: signature.prefix + shown } };
    case 'basic': {
      // The address brought user and password along; a secret alone is the password.
      const pair = secret.includes(':') ? secret : `lote:${secret}`;
      const credentials = Buffer.from(forged ? `${pair}-not` : pair).toString('base64');
      return { url, body, headers: { ...headers, Authorization: `Basic ${credentials}` } };
    }
    case 'path':
      return { url: forged ? `${url}-not` : url, body, headers };
    case 'hmac':
      return { url, body, headers: { ...headers, ...hmacHeaders(signature, unsigned) } };
  }
}

const HEADER = 'header:';
const PART = 'part:';

function hmacHeaders(signature: Signature, unsigned: Unsigned): Record<string, string> {
  const { timestamp: place, header, prefix, separator, algorithm, encoding } = signature;
  const time = String(Math.floor(unsigned.now / 1_000));
  const added: Record<string, string> = {};
  if (place?.startsWith(HEADER) === true) added[place.slice(HEADER.length)] = time;
  for (const name of signedHeaders(signature)) {
    if (valueOf(name, { ...unsigned.headers, ...added }) === undefined) added[name] = `msg_${unsigned.id}`;
  }
  const headers = { ...unsigned.headers, ...added };
  const content = signature.signed.replaceAll(/\{(body|timestamp|url|header:[^}]*)\}/g, (_all, name: string) => {
    if (name === 'body') return unsigned.body;
    if (name === 'timestamp') return time;
    return name === 'url' ? unsigned.url : (valueOf(name.slice(HEADER.length), headers) ?? '');
  });
  const key = unsigned.forged ? `not ${unsigned.secret}` : keyOf(signature, unsigned.secret);
  const digest = prefix + createHmac(algorithm, key).update(content, 'utf8').digest(encoding);
  const parts = place?.startsWith(PART) === true ? [place.slice(PART.length) + time, digest] : [digest];
  return { ...added, [header]: parts.join(separator) };
}

function signedHeaders({ signed }: Signature): readonly string[] {
  return [...signed.matchAll(/\{header:([^}]*)\}/g)].map(([, name = '']) => name);
}

function valueOf(name: string, headers: Readonly<Record<string, string>>): string | undefined {
  return Object.entries(headers).find(([one]) => one.toLowerCase() === name.toLowerCase())?.[1];
}

function keyOf({ secret: { prefix, encoding } }: Signature, secret: string): string | Buffer {
  const text = secret.startsWith(prefix) ? secret.slice(prefix.length) : secret;
  return encoding === 'text' ? text : Buffer.from(text, encoding);
}
