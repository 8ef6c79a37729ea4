import { createHash } from 'node:crypto';
import type { Context, MiddlewareHandler } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { sameSecret, type FormTokens } from '../forms/form-token.ts';
import type { Readiness } from '../../domain/records/readiness.ts';
import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';

/** Request header that carries the console's token. */
export const TOKEN_HEADER = 'x-lote-token';
const SESSION_COOKIE = 'lote_console';
/** Host names that lead to this machine from itself. */
export const LOOPBACK_NAMES: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];
const SAFE_METHODS = new Set(['GET', 'HEAD']);

/** How a console without sign-in knows who may use it. */
export interface GuardOptions {
  readonly token: string | undefined;
  readonly access: 'loopback' | 'token';
  readonly hosts: readonly string[];
  readonly forms: FormTokens;
  readonly ready: () => Promise<Readiness>;
}

/** Checks the address, the Host header (against DNS rebinding), the origin and token of a change, and, from elsewhere, the console's token. */
export function guard({ token, access, hosts, forms, ready }: GuardOptions): MiddlewareHandler {
  const names = new Set([...LOOPBACK_NAMES, ...hosts.map((host) => host.toLowerCase())]);
  return async (context, next) => {
    // Without sign-in no person has a name.
    context.set('caller', { kind: 'anybody' });
    const foreign = refuseForeignAddress(context);
    if (foreign !== null) return foreign;
    // Where the token is needed, the Host header need not match: another site's page has no session for this name and
    // gets nothing.
    if (access === 'loopback' && !names.has(hostName(context))) {
      return refuse(context, 421, 'host-unknown', 'The console answers only under its own host names.');
    }
    if (!isSafe(context) && !carriesToken(context, token)) {
      const refused = refuseForeignPage(context, forms);
      if (refused !== null) return refused;
    }
    if (carriesToken(context, token) || hasSession(context, token)) return next();
    if (access === 'loopback' && (await peerAccount(context)) !== 'other') return next();
    const health = await healthInOneWord(context, ready);
    if (health !== null) return health;
    return (
      openSession(context, token) ??
      refuse(
        context,
        401,
        'token-missing',
        `From another machine or another account of this one, open the console with ?token=… once, or send the token in ${TOKEN_HEADER}: ` +
          'the value of CONSOLE_TOKEN, or what is in the file console-token of the data directory.',
      )
    );
  };
}

/** `//host/` is an address of another host wherever it is written down again: in a redirect, in a link. Null: it is none. */
export function refuseForeignAddress(context: Context): Response | null {
  return /^\/[/\\]/u.test(context.req.path)
    ? refuse(context, 400, 'address-unknown', 'An address of the console begins with one slash.')
    : null;
}

/** A change must come from a page of this console, which carries a token for the one who loaded it. Null: it does. */
export function refuseForeignPage(context: Context, forms: FormTokens): Response | null {
  if (!isSameOrigin(context)) {
    const message = `A request that changes something must come from a page of the console, or carry the token in ${TOKEN_HEADER}.`;
    return refuse(context, 403, 'origin-refused', message);
  }
  return forms.accepts(context)
    ? null
    : refuse(
        context,
        403,
        'page-old',
        'The page was made before this console was started, by another one, or for another person. Nothing was done. Go back, load the page again, and repeat.',
      );
}

/** Health checks of a container have no token; they get one word. Null: something else is asked. */
export async function healthInOneWord(context: Context, ready: GuardOptions['ready']): Promise<Response | null> {
  if (context.req.path !== '/api/health' || !isSafe(context)) return null;
  const { status } = await ready();
  return context.json({ status: status === 'ready' ? 'up' : 'trouble' }, status === 'ready' ? 200 : 503);
}

/** Whether the request only reads. */
export function isSafe(context: Context): boolean {
  return SAFE_METHODS.has(context.req.method);
}

/** `Host` without the port: which port it is, the browser that was led here knows as well. */
export function hostName(context: Context): string {
  return (context.req.header('host') ?? '').toLowerCase().replace(/:\d*$/u, '');
}

/** Browsers send Origin with each POST; programs without one must show the token. */
function isSameOrigin(context: Context): boolean {
  const origin = context.req.header('origin') ?? '';
  // `null` and other things that are no address. The scheme may differ where a proxy speaks TLS.
  return URL.canParse(origin) && new URL(origin).host === (context.req.header('host') ?? '').toLowerCase();
}

/** Whether the request carries the console's own token, which only the account that runs Lote can read. */
export function carriesToken(context: Context, token: string | undefined): boolean {
  const given = context.req.header(TOKEN_HEADER) ?? '';
  return token !== undefined && token !== '' && sameSecret(given, token);
}

function hasSession(context: Context, token: string | undefined): boolean {
  return token !== undefined && token !== '' && sameSecret(getCookie(context, SESSION_COOKIE) ?? '', sessionOf(token));
}

/** `?token=…` on any page: a session for the browser, and the token is gone from the address. */
function openSession(context: Context, token: string | undefined): Response | null {
  const given = context.req.query('token');
  if (token === undefined || token === '' || given === undefined || !sameSecret(given, token)) return null;
  setCookie(context, SESSION_COOKIE, sessionOf(token), { httpOnly: true, sameSite: 'Strict', path: '/' });
  return context.redirect(context.req.path, 303);
}

/** The cookie must not be the token: who copies it from a browser cannot call the API of programs with it. */
function sessionOf(token: string): string {
  return createHash('sha256').update(`lote console session ${token}`).digest('hex');
}

/** An answer of the guard: why the request is not served. */
export function refuse(context: Context, status: 400 | 401 | 403 | 421, code: string, message: string): Response {
  return context.json({ error: { code, message } }, status);
}

/** `other`: another account of this machine. `unknown`: nothing tells, as on another system than Linux. */
type PeerAccount = 'own' | 'other' | 'unknown';

const judged = new WeakMap<Socket, PeerAccount>();
const ROOT = 0;
/** The system has no such table, or does not show it. */
const HIDDEN: ReadonlySet<unknown> = new Set(['ENOENT', 'EACCES']);
const TABLES = ['/proc/net/tcp', '/proc/net/tcp6'];
const V4 = /^(?:::ffff:)?(\d+)\.(\d+)\.(\d+)\.(\d+)$/u;
const V6_LOOPBACK = '00000000000000000000000001000000';
const V4_IN_V6 = '0000000000000000FFFF0000';

/** Whose process is at the other end of a loopback connection. Root reads every file anyway, so it counts as `own`. */
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
    // A client that keeps all files of this process open must not become every account by that. The next request looks again.
    return 'other';
  }
}

async function look(socket: Socket): Promise<PeerAccount> {
  const here = addressesOf(socket.localAddress, socket.localPort);
  const there = addressesOf(socket.remoteAddress, socket.remotePort);
  const own = process.getuid?.();
  if (own === undefined || here.length === 0 || there.length === 0) return 'unknown';
  const connections = (await Promise.all(TABLES.map(readTable))).flat();
  const between = (from: readonly string[], to: readonly string[]) =>
    connections.find(({ local, remote }) => from.includes(local) && to.includes(remote));
  // Without our own end in the table it tells nothing. A peer that has closed its end has no account any more.
  if (between(here, there) === undefined) return 'unknown';
  const peer = between(there, here);
  if (peer === undefined || peer.inode === '0') return 'other';
  return peer.uid === own || peer.uid === ROOT ? 'own' : 'other';
}

interface Connection {
  readonly local: string;
  readonly remote: string;
  readonly uid: number;
  /** 0: its process has closed it, and the account in the table means nothing. */
  readonly inode: string;
}

/** A system that has no such table, or does not show it, tells nothing. @throws when it cannot be read for another reason, such as too many open files */
async function readTable(path: string): Promise<Connection[]> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && HIDDEN.has(error.code)) return '';
    throw error;
  });
  return text
    .split('\n')
    .slice(1)
    .map((line) => line.trim().split(/\s+/u))
    .map((fields) => ({
      local: fields[1] ?? '',
      remote: fields[2] ?? '',
      uid: Number(fields[7] ?? Number.NaN),
      inode: fields[9] ?? '0',
    }));
}

/** As the kernel writes an address: each 32 bits in the machine's byte order, in hex. */
function addressesOf(address: string | undefined, port: number | undefined): readonly string[] {
  if (address === undefined || port === undefined) return [];
  const end = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  if (address === '::1') return [V6_LOOPBACK + end];
  const v4 = V4.exec(address)?.slice(1);
  if (v4 === undefined) return [];
  const hex = v4
    .toReversed()
    .map((byte) => Number(byte).toString(16).toUpperCase().padStart(2, '0'))
    .join('');
  return [hex + end, V4_IN_V6 + hex + end];
}
