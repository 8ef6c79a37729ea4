import { createHash } from 'node:crypto';
import type { ServiceProfile } from '../../service/profile/profile.ts';

/** Any user name will do, because the receiver checks only the password. */
const USER = 'lote';

const SHORTEST_SECRET = 5;

/**
 * Returns the address to register, with the secret in it if the profile requires that; null if the secret is missing.
 * Such an address must not appear in a log or in the ledger.
 */
export function deliveryAddress(
  url: string,
  kind: ServiceProfile['signature']['kind'],
  secret: string | null,
): string | null {
  if (kind !== 'path' && kind !== 'basic') return url;
  if (secret === null) return null;
  const address = new URL(url);
  const encoded = encodeURIComponent(secret);
  if (kind === 'path') address.pathname = `${address.pathname.replace(/\/+$/, '')}/${encoded}`;
  else {
    address.username = USER;
    address.password = encoded;
  }
  return address.href;
}

/** Returns the code of the service's answer to a registration, unless it repeats a secret part of the address. */
export function withoutAddressSecret(code: string, address: string, url: string): string {
  const plain = lettersOf(url);
  const secrets = address
    .split(/[/:@?#]+/)
    .map(lettersOf)
    .filter((step) => step.length >= SHORTEST_SECRET && !plain.includes(step));
  const letters = lettersOf(code);
  return secrets.some((secret) => letters.includes(secret)) ? 'not-shown' : code;
}

/** Compares only letters and digits, because codes change case and signs on their way. */
function lettersOf(text: string): string {
  return text.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}

/** Enough digits to tell receivers apart, and too few to reveal the ledger's id. */
const DIGITS = 16;

/** The id that a receiver answers to a GET, so that `lote doctor` recognises it. Receivers of one ledger and application share the id. */
export function receiverIdentity(ledgerId: string, application: string): string {
  return createHash('sha256')
    .update(JSON.stringify(['receiver', ledgerId, application]))
    .digest('hex')
    .slice(0, DIGITS);
}
