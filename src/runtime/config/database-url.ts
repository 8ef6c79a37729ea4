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

/** Stands where an address names no host: `URL` takes no user and no port without one. */
const NO_HOST = 'no-host.invalid';
const BEFORE_NO_HOST = /^(postgres(?:ql)?:\/\/(?:[^/?#@]*@)?)(?=$|[/?#]|:\d)/i;
const FORM =
  'must be an address of the form postgresql://user:password@host:5432/database, with % written as %25; the folder of a socket stands as its host, with / written as %2F, or in ?host=';

/** An address as libpq reads it: with a user or a port, and yet without a host. Null: it is none. */
function parseDatabaseUrl(text: string): URL | null {
  const address = [text, text.trim().replace(BEFORE_NO_HOST, `$1${NO_HOST}`)].find((one) => URL.canParse(one));
  if (address === undefined) return null;
  const url = new URL(address);
  return ['postgres:', 'postgresql:'].includes(url.protocol) && isDecodable(url) ? url : null;
}

function isDecodable({ username, password, hostname, pathname }: URL): boolean {
  try {
    for (const part of [username, password, hostname, pathname]) decodeURIComponent(part);
    return true;
  } catch {
    return false;
  }
}

/** Empty: the address names none, and one in `?host=` is none of it. */
function hostOf({ hostname }: URL): string {
  return hostname === NO_HOST ? '' : hostname;
}

/** A parameter of the address; an empty one counts as absent, as for libpq. */
function parameter({ searchParams }: URL, name: string): string {
  return searchParams.get(name) ?? '';
}

/**
 * Why a DATABASE_URL is none, as what it must be; null for a right one. What the driver would not read, or would read as something else, is refused: it
 * would lead to another server or another database.
 */
export function databaseUrlTrouble(text: string): string | null {
  const url = parseDatabaseUrl(text);
  if (url === null) return FORM;
  const hosts = [hostOf(url), parameter(url, 'host')];
  if (hosts.some((host) => host.includes(','))) return 'must name one host, because Lote tries no list of hosts';
  if (hosts.every((host) => host === '')) {
    const other = ['hostaddr', 'service'].find((name) => parameter(url, name) !== '');
    if (other !== undefined)
      return `must name its host before the database or in ?host=, because ?${other}= is not read`;
  }
  const database = decodeURIComponent(url.pathname.slice(1));
  const another = ['dbname', 'database'].find((name) => ![database, ''].includes(parameter(url, name)));
  return another === undefined ? null : `must name its database as …host/database, because ?${another}= is not read`;
}

/**
 * The address of the PostgreSQL ledger: DATABASE_URL, and what it leaves out from the PG… variables, so that a password with any character is
 * never written into an address by hand. Null without DATABASE_URL: a PGHOST that a shell sets for other programs must not move the ledger.
 * @throws LoteError `configuration-invalid` when both together form no address; no value is part of it.
 */
export function databaseUrlOf(env: DatabaseSettings): string | null {
  if (env.DATABASE_URL === undefined) return null;
  const url = parseDatabaseUrl(env.DATABASE_URL);
  const address = url === null ? '' : wholeAddress(url, env);
  if (URL.canParse(address)) return new URL(address).href === url?.href ? env.DATABASE_URL : address;
  throw new LoteError(
    'configuration-invalid',
    'Reading the configuration: DATABASE_URL with what PGHOST, PGPORT, PGUSER, PGPASSWORD and PGDATABASE add to it must form an address; it does not. Check PGHOST (a host name, an IP address or the folder of a socket) and PGPORT (a port number).',
  );
}

function wholeAddress(url: URL, env: DatabaseSettings): string {
  const part = (name: string, given: string, other: string | undefined, encode: Encode = encodeURIComponent): string =>
    given !== '' || parameter(url, name) !== '' ? given : encode(other ?? '');
  const user = part('user', url.username, env.PGUSER);
  const password = part('password', url.password, env.PGPASSWORD);
  const host = part('host', hostOf(url), env.PGHOST, hostPart) || DEFAULT_HOST;
  const port = part('port', url.port, env.PGPORT);
  const database = url.pathname.slice(1) || databasePart(env.PGDATABASE ?? '');
  const account = `${user}${password === '' ? '' : `:${password}`}`;
  return `${url.protocol}//${account === '' ? '' : `${account}@`}${host}${port === '' ? '' : `:${port}`}/${database}${url.search}`;
}

/** An IPv6 address stands in brackets; the folder of a socket is written with `%2F`. */
function hostPart(host: string): string {
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
