import type { MiddlewareHandler } from 'hono';

/** Own style sheet and own script; nothing inline, nothing from elsewhere, no frame around it. */
const POLICY =
  "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/** On every answer. A handler that sets its own Content-Security-Policy keeps it. */
export function securityHeaders(): MiddlewareHandler {
  return async (context, next) => {
    await next();
    const { headers } = context.res;
    if (!headers.has('content-security-policy')) headers.set('content-security-policy', POLICY);
    headers.set('x-content-type-options', 'nosniff');
    // Not `no-referrer`: with it browsers send `Origin: null` with the console's own forms.
    headers.set('referrer-policy', 'same-origin');
    headers.set('cross-origin-opener-policy', 'same-origin');
    headers.set('cross-origin-resource-policy', 'same-origin');
    // Pages carry tax numbers; nothing of them belongs in a cache on disk.
    headers.set('cache-control', 'no-store');
  };
}
