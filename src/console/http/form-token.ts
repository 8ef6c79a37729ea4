import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Context } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { callerOf } from './people.ts';

/** Header for the token of a page's scripts. Forms carry the token in the query of their address, so that Lote checks it before it reads a body. */
const FORM_HEADER = 'x-lote-form';
const FORM_FIELD = 'form';
const PAGE_COOKIE = 'lote_page';
const COOKIE_BYTES = 18;
const COOKIE_SHAPE = /^[\w-]{24}$/u;

/** Makes and checks the token that each page request must bring back. It belongs to a cookie of the browser and to the signed-in person. */
export type FormTokens = ReturnType<typeof formTokens>;

/** Creates form tokens. `secret`: known to this console alone, or to all consoles that share a set token. `secure`: people reach the console by HTTPS only. */
export function formTokens(secret: string, secure = false) {
  const tokenOf = (context: Context, cookie: string): string =>
    createHmac('sha256', secret)
      .update(`lote form ${cookie}${personIn(context)}`)
      .digest('base64url');
  const made = new WeakMap<Request, string>();
  return {
    /** Returns the token for a page under construction, and gives the browser its cookie. */
    tokenFor(context: Context): string {
      const cookie = cookieOf(context) ?? made.get(context.req.raw) ?? randomBytes(COOKIE_BYTES).toString('base64url');
      if (cookieOf(context) === null && !made.has(context.req.raw)) {
        made.set(context.req.raw, cookie);
        setCookie(context, PAGE_COOKIE, cookie, { httpOnly: true, sameSite: 'Strict', path: '/', secure });
      }
      return tokenOf(context, cookie);
    },
    accepts(context: Context): boolean {
      const cookie = cookieOf(context);
      const token = context.req.header(FORM_HEADER) ?? context.req.query(FORM_FIELD) ?? '';
      return cookie !== null && sameSecret(token, tokenOf(context, cookie));
    },
  };
}

/** Returns the address of a form, with the page's token. */
export function formAction(address: string, token: string): string {
  return `${address}?${new URLSearchParams({ [FORM_FIELD]: token }).toString()}`;
}

function personIn(context: Context): string {
  const caller = callerOf(context);
  return caller.kind === 'person' ? ` ${caller.name}` : '';
}

function cookieOf(context: Context): string | null {
  const cookie = getCookie(context, PAGE_COOKIE) ?? '';
  return COOKIE_SHAPE.test(cookie) ? cookie : null;
}

/** Compares hashes, so that the time reveals neither length nor content. */
export function sameSecret(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
