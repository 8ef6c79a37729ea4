import type { ServiceProfile } from '../service-profile/profile.ts';
import { headersOf } from './event-document.ts';

const SIGNED_HEADER = /\{header:([^{}]+)\}/g;
const HEADER = 'header:';

/**
 * Whether headers that are not signed may decide what an event says of which invoice. Then whoever has seen one signed
 * delivery can send its body again with other headers. Only a signature proves contents; the other kinds of proof show
 * the secret itself.
 */
export function isReadFromUnsignedHeaders({
  event: { payload, items, type, invoiceId },
  signature: { kind, signed, timestamp },
}: Pick<ServiceProfile, 'event' | 'signature'>): boolean {
  if (kind !== 'hmac') return false;
  const read = headersOf([payload?.at ?? null, items, type, invoiceId]);
  if (read === null || read === 'all') return read === 'all';
  const names = [...signed.matchAll(SIGNED_HEADER)].map(([, name = '']) => name.toLowerCase());
  if (signed.includes('{timestamp}') && timestamp?.startsWith(HEADER) === true)
    names.push(timestamp.slice(HEADER.length).toLowerCase());
  return [...read].some((name) => !names.includes(name));
}
