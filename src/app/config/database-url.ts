/** Stands where an address names no host: `URL` takes no user and no port without one. */
const NO_HOST = 'no-host.invalid';
const BEFORE_NO_HOST = /^(postgres(?:ql)?:\/\/(?:[^/?#@]*@)?)(?=$|[/?#]|:\d)/i;
const FORM =
  'must be an address of the form postgresql://user:password@host:5432/database, with % written as %25; the folder of a socket stands as its host, with / written as %2F, or in ?host=';

/** An address as libpq reads it: with a user or a port, and yet without a host. Null: it is none. */
export function parseDatabaseUrl(text: string): URL | null {
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
