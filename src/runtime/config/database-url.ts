import { LoteError } from '../../domain/errors.ts';

/** The settings of the PostgreSQL ledger, by the names that libpq and its tools use. */
interface DatabaseSettings {
  readonly DATABASE_URL?: string | undefined;
  readonly PGHOST?: string | undefined;
  readonly PGPORT?: string | undefined;
  readonly PGUSER?: string | undefined;
  readonly PGPASSWORD?: string | undefined;
  readonly PGDATABASE?: string | undefined;
}

type Encode = (text: string) => string;

/** Where node-postgres looks, too, when nothing names a host. */
const DEFAULT_HOST = 'localhost';

/**
 * The address of the PostgreSQL ledger: DATABASE_URL, and what it leaves out from the PG… variables, so that a password with any character is
 * never written into an address by hand. Null without DATABASE_URL: a PGHOST that a shell sets for other programs must not move the ledger.
 * @throws LoteError `configuration-invalid` when both together form no address; no value is part of it.
 */
export function databaseUrlOf(env: DatabaseSettings): string | null {
  if (env.DATABASE_URL === undefined) return null;
  const url = new URL(env.DATABASE_URL);
  const part = (name: string, given: string, other: string | undefined, encode: Encode = encodeURIComponent): string =>
    given !== '' || url.searchParams.has(name) ? given : encode(other ?? '');
  const user = part('user', url.username, env.PGUSER);
  const password = part('password', url.password, env.PGPASSWORD);
  const host = url.searchParams.has('host') ? url.hostname : url.hostname || hostPart(env.PGHOST);
  const port = part('port', url.port, env.PGPORT);
  const database = part('database', url.pathname.slice(1), env.PGDATABASE, databasePart);
  const account = `${user}${password === '' ? '' : `:${password}`}`;
  const address = `${url.protocol}//${account === '' ? '' : `${account}@`}${host || DEFAULT_HOST}${port === '' ? '' : `:${port}`}/${database}${url.search}`;
  if (URL.canParse(address)) return new URL(address).href === url.href ? env.DATABASE_URL : address;
  throw new LoteError(
    'configuration-invalid',
    'Reading the configuration: DATABASE_URL with what PGHOST, PGPORT, PGUSER, PGPASSWORD and PGDATABASE add to it must form an address; it does not. Check PGHOST (a host name, an IP address or the folder of a socket) and PGPORT (a port number).',
  );
}

/** An IPv6 address stands in brackets; the folder of a socket is written with `%2F`. */
function hostPart(host: string | undefined): string {
  if (host === undefined) return '';
  return host.includes(':') ? `[${host}]` : encodeURIComponent(host);
}

/** node-postgres decodes the name by `decodeURI`, which leaves `%3F`, `%23` and other separators as they are. */
function databasePart(name: string): string {
  const encoded = encodeURI(name);
  if (new URL(`postgresql://host/${encoded}`).pathname === `/${encoded}`) return encoded;
  throw new LoteError(
    'configuration-invalid',
    'Reading the configuration: PGDATABASE must be a name that an address can hold, without ? and # and without . or .. as a part; it is not. Give the database another name.',
  );
}
