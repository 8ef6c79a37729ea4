import { isIP } from 'node:net';
import { z } from 'zod';

/** Names of request headers that mean something else here: a proxy that named people in one of them would break the console, or its protection. */
const TAKEN_HEADERS: ReadonlySet<string> = new Set([
  ...['authorization', 'connection', 'content-length', 'content-type', 'cookie', 'host', 'origin'],
  ...['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip'],
  ...['x-lote-form', 'x-lote-token'],
]);

const HEADER = /^[A-Za-z0-9-]{1,64}$/;
const PREFIX = /^\d{1,3}$/;

/** Addresses and networks (CIDR) with commas between; none of them empty, a prefix within its family. */
export const EnvAddressList = z.string().transform((text, context): readonly string[] => {
  const addresses = parts(text);
  if (addresses.length > 0 && addresses.every(isAddress)) return addresses;
  context.addIssue({
    code: 'custom',
    message: 'must be IP addresses or networks with commas between, such as 10.0.0.5,10.1.0.0/16,fd00::/8',
  });
  return z.NEVER;
});

/** The name of a request header that carries nothing else. */
export const EnvIdentityHeader = z
  .string()
  .regex(HEADER, { message: 'must be the name of a request header: letters, digits and -' })
  .refine((name) => !TAKEN_HEADERS.has(name.toLowerCase()), {
    message: 'must be a header that carries nothing else than what a proxy says of the person',
  });

/** Names with commas between. */
export const EnvNameList = z.string().transform((text, context): readonly string[] => {
  const names = parts(text);
  if (names.length > 0 && names.every((name) => name !== '' && !/\p{Cc}/u.test(name))) return names;
  context.addIssue({ code: 'custom', message: 'must be names with commas between, none of them empty' });
  return z.NEVER;
});

function parts(text: string): readonly string[] {
  return text.split(',').map((part) => part.trim());
}

function isAddress(text: string): boolean {
  const [address = '', prefix, more] = text.split('/');
  const family = isIP(address);
  if (family === 0 || more !== undefined) return false;
  return prefix === undefined || (PREFIX.test(prefix) && Number(prefix) <= (family === 6 ? 128 : 32));
}
