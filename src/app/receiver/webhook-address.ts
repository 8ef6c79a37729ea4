import { createHash } from 'node:crypto';
import type { ServiceProfile } from '../../service/profile/profile.ts';

/** Any will do: the receiver looks at the password alone. */
const USER = 'lote';

const SHORTEST_SECRET = 5;

/**
 * The address as the service is told it, with the secret in it where the profile says so; null when it needs one and
 * `secret` is null. What holds the secret belongs in no log and not in the ledger.
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

/** A word of the service's answer to the registration of an address, unless it repeats what only the address has. */
export function withoutAddressSecret(code: string, address: string, url: string): string {
  const plain = lettersOf(url);
  const secrets = address
    .split(/[/:@?#]+/)
    .map(lettersOf)
    .filter((step) => step.length >= SHORTEST_SECRET && !plain.includes(step));
  const letters = lettersOf(code);
  return secrets.some((secret) => letters.includes(secret)) ? 'not-shown' : code;
}

/** Codes are written in other letters and with other signs than they came. */
function lettersOf(text: string): string {
  return text.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}

/** Digits enough to tell receivers apart; they reveal nothing of the ledger. */
const DIGITS = 16;

/** What a receiver says of itself to a GET, so that `lote doctor` knows it: the same for all receivers of one ledger and application. */
export function receiverIdentity(ledgerId: string, application: string): string {
  return createHash('sha256')
    .update(JSON.stringify(['receiver', ledgerId, application]))
    .digest('hex')
    .slice(0, DIGITS);
}
