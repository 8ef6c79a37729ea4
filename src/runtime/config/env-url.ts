import { z } from 'zod';

const LOOPBACK_HOSTS = new Set(['localhost', '127.0.0.1', '[::1]']);

function parseUrl(text: string): URL | null {
  try {
    return new URL(text);
  } catch {
    return null;
  }
}

function isPlainHttp(url: URL): boolean {
  return ['http:', 'https:'].includes(url.protocol) && url.username === '' && url.password === '' && url.hash === '';
}

/** The service's address: paths are appended to it, so it has no query and no slash at its end. */
export const EnvBaseUrl = z.string().transform((text, context): string => {
  const url = parseUrl(text);
  if (url !== null && isPlainHttp(url) && url.search === '') return url.href.replace(/\/+$/, '');
  context.addIssue({ code: 'custom', message: 'must be an http or https address without user, query or fragment' });
  return z.NEVER;
});

/** The address registered for webhooks, used as it is: HTTPS says the interface, section 2; plain HTTP only within this machine. */
export const EnvWebhookUrl = z.string().refine(
  (text) => {
    const url = parseUrl(text);
    return url !== null && isPlainHttp(url) && (url.protocol === 'https:' || LOOPBACK_HOSTS.has(url.hostname));
  },
  { message: 'must be an https address (http only on loopback) without user or fragment' },
);

/** A PostgreSQL address; it may carry a password, so it is never shown. */
export const EnvDatabaseUrl = z.string().refine(
  (text) => {
    const url = parseUrl(text);
    return url !== null && ['postgres:', 'postgresql:'].includes(url.protocol);
  },
  { message: 'must be an address of the form postgresql://user:password@host:5432/database' },
);
