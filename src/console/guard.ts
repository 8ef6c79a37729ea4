import { createHash, timingSafeEqual } from 'node:crypto';
import type { Context, MiddlewareHandler } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';

export const TOKEN_HEADER = 'x-lote-token';
const SESSION_COOKIE = 'lote_console';
const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]'];
const SAFE_METHODS = new Set(['GET', 'HEAD']);

export interface GuardOptions {
  readonly token: string | undefined;
  readonly access: 'loopback' | 'token';
  readonly hosts: readonly string[];
}

/**
 * Three doors, in this order: the Host header must name this console (a page of a stranger's name that resolves to
 * loopback is DNS rebinding); a request that changes something must come from a page of this console or carry the token;
 * and where the console is reachable from elsewhere, everything needs the token.
 */
export function guard({ token, access, hosts }: GuardOptions): MiddlewareHandler {
  const names = new Set([...LOOPBACK_NAMES, ...hosts.map((host) => host.toLowerCase())]);
  return async (context, next) => {
    // With the token a stranger's page gets nothing under any name: its browser has no session for that name.
    if (access === 'loopback' && !names.has(hostName(context.req.header('host') ?? ''))) {
      return refuse(context, 421, 'host-unknown', 'The console answers only under its own host names.');
    }
    if (!SAFE_METHODS.has(context.req.method) && !isSameOrigin(context) && !carriesToken(context, token)) {
      return refuse(
        context,
        403,
        'origin-refused',
        `A request that changes something must come from a page of the console, or carry the token in ${TOKEN_HEADER}.`,
      );
    }
    if (access === 'loopback' || carriesToken(context, token) || hasSession(context, token)) return next();
    // Health checks of a container have no token; they learn one word.
    if (context.req.path === '/api/health' && SAFE_METHODS.has(context.req.method))
      return context.json({ status: 'up' });
    return (
      openSession(context, token) ??
      refuse(
        context,
        401,
        'token-missing',
        `Open the console with ?token=… once, or send the token in ${TOKEN_HEADER}.`,
      )
    );
  };
}

/** `Host` without the port: which port it is, the browser that was led here knows as well. */
function hostName(host: string): string {
  return host.toLowerCase().replace(/:\d*$/u, '');
}

/** Browsers send Origin with each POST; programs without one must show the token. */
function isSameOrigin(context: Context): boolean {
  const origin = context.req.header('origin') ?? '';
  // `null` and other things that are no address. The scheme may differ where a proxy speaks TLS.
  return URL.canParse(origin) && new URL(origin).host === (context.req.header('host') ?? '').toLowerCase();
}

function carriesToken(context: Context, token: string | undefined): boolean {
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

/** The cookie must not be the token: who copies it from a browser cannot use the programs' door with it. */
function sessionOf(token: string): string {
  return createHash('sha256').update(`lote console session ${token}`).digest('hex');
}

/** Hashed first, so that neither length nor content shows in the time. */
function sameSecret(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}

function refuse(context: Context, status: 401 | 403 | 421, code: string, message: string): Response {
  return context.json({ error: { code, message } }, status);
}
