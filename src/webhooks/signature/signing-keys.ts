import { isMasked } from '../../service-profile/masked-secret.ts';
import type { SignatureShape } from './request-head.ts';

/** The keys of some secrets. */
export type SigningKeys = (secrets: readonly string[]) => readonly (string | Uint8Array)[];

interface Log {
  warn(message: string, fields?: Record<string, unknown>): void;
}

const HEX = /^(?:[0-9a-f]{2})+$/i;
const ALPHABET = { base64: /^[A-Za-z0-9+/]+(={0,2})$/, base64url: /^[A-Za-z0-9_-]+(={0,2})$/ } as const;

/**
 * Makes keys of secrets by the profile. Empty and masked secrets are left out, for everybody can sign with one; so are those that
 * cannot be decoded, which is logged once.
 */
export function createSigningKeys({ secret: how }: Pick<SignatureShape, 'secret'>, log: Log): SigningKeys {
  if (how.encoding === 'text' && how.prefix === '') return usableSecrets;
  const known = new WeakMap<readonly string[], readonly (string | Uint8Array)[]>();
  let warned = false;
  return (secrets) => {
    const before = known.get(secrets);
    if (before !== undefined) return before;
    const decoded = usableSecrets(secrets).map((secret) => keyOf(secret, how));
    const keys = decoded.filter((key) => key !== null);
    if (keys.length < decoded.length && !warned) {
      warned = true;
      log.warn('A webhook secret cannot be decoded as signature.secret of the service profile says; it is not used', {
        encoding: how.encoding,
      });
    }
    known.set(secrets, keys);
    return keys;
  };
}

/** Secrets that somebody must know to use them; an earlier version stored those that a registration showed masked, too. */
export function usableSecrets(secrets: readonly string[]): readonly string[] {
  return secrets.filter((secret) => secret !== '' && !isMasked(secret));
}

function keyOf(secret: string, { prefix, encoding }: SignatureShape['secret']): string | Uint8Array | null {
  const text = secret.startsWith(prefix) ? secret.slice(prefix.length) : secret;
  if (encoding === 'text') return text === '' ? null : text;
  if (encoding === 'hex') return HEX.test(text) ? Buffer.from(text, 'hex') : null;
  const padding = ALPHABET[encoding].exec(text)?.[1]?.length;
  if (padding === undefined) return null;
  const whole = padding === 0 ? text.length % 4 !== 1 : text.length % 4 === 0;
  return whole ? Buffer.from(text, encoding) : null;
}
