import { createHash, timingSafeEqual } from 'node:crypto';
import type { Context, MiddlewareHandler } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { mayOperate, personReader, type SignIn } from './people.ts';
import type { ConsoleOptions } from '../console-options.ts';
import type { PageAnswers } from './page-answers.ts';
import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { unlessMissing } from '../../platform/error-code.ts';

/** Request header that carries the console's token. */
export const TOKEN_HEADER = 'x-lote-token';
const SESSION_COOKIE = 'lote_console';
/** Host names that lead to this machine from itself. */
const LOOPBACK_NAMES: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];
const SAFE_METHODS = new Set(['GET', 'HEAD']);

interface GuardOptions extends ConsoleOptions {
  readonly roleMissing: PageAnswers['roleMissing'];
}

type Guard = (context: Context) => Promise<Response | null>;

/** Refuses requests of callers without access, and changes that come from no page of this console or program with the token. */
export function guard(options: GuardOptions): MiddlewareHandler {
  const { hosts = [], people } = options;
  const published = people === undefined ? [] : [new URL(people.signIn.publicUrl).hostname];
  const names = new Set([...LOOPBACK_NAMES, ...hosts, ...published].map((name) => name.toLowerCase()));
  const refusal = people === undefined ? anybodyGuard(options, names) : peopleGuard(options, people.signIn, names);
  return async (context, next) => refuseForeignAddress(context) ?? (await refusal(context)) ?? next();
}

/** Checks the Host header (against DNS rebinding), the origin of a change, and, for a remote caller, the console's token. */
function anybodyGuard({ token, access = 'loopback' }: GuardOptions, names: ReadonlySet<string>): Guard {
  return async (context) => {
    // Without sign-in the console knows no person's name.
    context.set('caller', { kind: 'anybody' });
    // Where the token is required, the Host header need not match: another site's page has no session and gets no data.
    if (access === 'loopback' && !names.has(hostName(context))) {
      return refuse(context, 421, 'host-unknown', 'The console answers only under its own host names.');
    }
    if (carriesToken(context, token)) return null;
    if (!isSafe(context) && !isSameOrigin(context)) return refuseForeignPage(context);
    if (hasSession(context, token)) return null;
    if (access === 'loopback' && (await peerAccount(context)) !== 'other') return null;
    const message =
      `From another machine or another account of this one, open the console with ?token=… once, or send the token in ${TOKEN_HEADER}: ` +
      'the value of CONSOLE_TOKEN, or what is in the file console-token of the data directory.';
    return openSession(context, token) ?? refuse(context, 401, 'token-missing', message);
  };
}

/** Admits a person whom a trusted proxy names, under a host name of this console, or a program with the token. A change needs `operate` and a page of the console. */
function peopleGuard({ token, roleMissing }: GuardOptions, signIn: SignIn, names: ReadonlySet<string>): Guard {
  const personOf = personReader(signIn);
  return async (context) => {
    const person = personOf(context);
    // Checks a person's name first: a proxy that adds the token to every request must not turn all people into programs.
    if (person.kind === 'nobody' && carriesToken(context, token)) {
      context.set('caller', { kind: 'program' });
      return null;
    }
    if (person.kind !== 'person') {
      const message =
        `This console lets in people whom a trusted proxy (CONSOLE_TRUSTED_PROXIES) names in ${signIn.userHeader}, and programs with the token in ${TOKEN_HEADER}. ` +
        'Found neither: open the console at its public address, and sign in there.';
      return refuse(context, 401, 'person-unknown', message);
    }
    if (!names.has(hostName(context))) {
      const message = `The console answers people only under the name of CONSOLE_URL (${new URL(signIn.publicUrl).host}): the proxy must keep the Host header.`;
      return refuse(context, 421, 'host-unknown', message);
    }
    context.set('caller', person);
    if (isSafe(context)) return null;
    if (!isSameOrigin(context)) return refuseForeignPage(context);
    return mayOperate(context) ? null : roleMissing(context);
  };
}

/** Refuses an address such as `//host/`, which in a redirect or a link leads to another host. Returns null for any other address. */
function refuseForeignAddress(context: Context): Response | null {
  return /^\/[/\\]/u.test(context.req.path)
    ? refuse(context, 400, 'address-unknown', 'An address of the console begins with one slash.')
    : null;
}

function refuseForeignPage(context: Context): Response {
  const message = `A request that changes something must come from a page of the console, or carry the token in ${TOKEN_HEADER}.`;
  return refuse(context, 403, 'origin-refused', message);
}

function isSafe(context: Context): boolean {
  return SAFE_METHODS.has(context.req.method);
}

/** Returns `Host` without the port: a browser that was led here by an attacker knows the port as well. */
function hostName(context: Context): string {
  return (context.req.header('host') ?? '').toLowerCase().replace(/:\d*$/u, '');
}

/** Returns true for a page of this console. Browsers send Origin with each POST; programs without Origin must show the token. */
function isSameOrigin(context: Context): boolean {
  const origin = context.req.header('origin') ?? '';
  // The origin may be `null` or another text that is not an address. The scheme may differ where a proxy speaks TLS.
  return URL.canParse(origin) && new URL(origin).host === (context.req.header('host') ?? '').toLowerCase();
}

/** Returns true if the request carries the console's own token, which only the account that runs Lote can read. */
export function carriesToken(context: Context, token: string | undefined): boolean {
  const given = context.req.header(TOKEN_HEADER) ?? '';
  return token !== undefined && token !== '' && sameSecret(given, token);
}

function hasSession(context: Context, token: string | undefined): boolean {
  return token !== undefined && token !== '' && sameSecret(getCookie(context, SESSION_COOKIE) ?? '', sessionOf(token));
}

/** Opens a session for a browser that sends `?token=…` on any page, and removes the token from the address. */
function openSession(context: Context, token: string | undefined): Response | null {
  const given = context.req.query('token');
  if (token === undefined || token === '' || given === undefined || !sameSecret(given, token)) return null;
  setCookie(context, SESSION_COOKIE, sessionOf(token), { httpOnly: true, sameSite: 'Strict', path: '/' });
  return context.redirect(context.req.path, 303);
}

/** Compares hashes, so that the time reveals neither length nor content. */
function sameSecret(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}

/** The cookie must not be the token: a person who copies it from a browser cannot call the API of programs with it. */
function sessionOf(token: string): string {
  return createHash('sha256').update(`lote console session ${token}`).digest('hex');
}

function refuse(context: Context, status: 400 | 401 | 403 | 421, code: string, message: string): Response {
  return context.json({ error: { code, message } }, status);
}

/** `other`: another account of this machine. `unknown`: the system does not tell, as on other systems than Linux. */
type PeerAccount = 'own' | 'other' | 'unknown';

const judged = new WeakMap<Socket, PeerAccount>();
const ROOT = 0;
/** Error codes if the system has no such table, or does not show it. */
const HIDDEN = ['ENOENT', 'EACCES'];
const TABLES = ['/proc/net/tcp', '/proc/net/tcp6'];

/** Returns the account of the process at the other end of a loopback connection. Root reads every file anyway, so root counts as `own`. */
async function peerAccount(context: Context): Promise<PeerAccount> {
  const socket = (context.env as { incoming?: { socket?: Socket } } | undefined)?.incoming?.socket;
  if (socket === undefined) return 'unknown';
  const known = judged.get(socket);
  if (known !== undefined) return known;
  try {
    const found = await look(socket);
    judged.set(socket, found);
    return found;
  } catch {
    // A client that exhausts this process's open files must not pass as any account. The next request looks again.
    return 'other';
  }
}

/** Compares ports alone: another account that takes the same ports at another loopback address only gets both refused. */
async function look({ localPort = 0, remotePort = 0 }: Socket): Promise<PeerAccount> {
  const own = process.getuid?.();
  if (own === undefined) return 'unknown';
  const connections = (await Promise.all(TABLES.map(readTable))).flat();
  const between = (from: number, to: number) =>
    connections.filter(({ local, remote }) => local === from && remote === to);
  // A table without this process's own end proves nothing. A peer that has closed its end has no account any more.
  if (between(localPort, remotePort).length === 0) return 'unknown';
  const peers = between(remotePort, localPort);
  // Without an inode, its process has closed the connection, and the account in the table means nothing.
  const isOwn = peers.every(({ uid, inode }) => inode !== '0' && (uid === own || uid === ROOT));
  return peers.length > 0 && isOwn ? 'own' : 'other';
}

/** Reads the ports and accounts of a connection table; returns no rows if it is missing or hidden. @throws when it cannot be read for another reason, such as too many open files */
async function readTable(path: string) {
  const text = (await unlessMissing(readFile(path, 'utf8'), HIDDEN)) ?? '';
  const lines = text.split('\n').slice(1);
  return lines.map((line) => {
    const [, local = '', remote = '', , , , , uid = 'NaN', , inode = '0'] = line.trim().split(/\s+/u);
    return { local: portOf(local), remote: portOf(remote), uid: Number(uid), inode };
  });
}

/** Returns the port of an address as the kernel writes it: `0100007F:1F9B`. */
function portOf(address: string): number {
  return Number.parseInt(address.split(':')[1] ?? '', 16);
}
