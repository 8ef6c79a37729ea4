import type { Context, MiddlewareHandler } from 'hono';
import { ONCE_FIELD } from '../forms/form-token.ts';

/** A form that comes again later is sent on purpose. */
const SAME_MS = 10_000;

interface Sent {
  readonly at: number;
  /** Where it led; null: it was not done. */
  readonly location: Promise<string | null>;
}

/**
 * Does once what a page sends twice, as a double click does, and leads both to the same place: a second retry would wait
 * for the end of the first, and send again what has failed meanwhile. What was refused may come again at once.
 */
export function doneOnce(now: () => number = () => performance.now()): MiddlewareHandler {
  const sent = new Map<string, Sent>();
  return async (context, next) => {
    if (context.req.method !== 'POST' || context.req.query(ONCE_FIELD) === undefined) return next();
    for (const [key, { at }] of sent) if (now() - at > SAME_MS) sent.delete(key);
    const key = JSON.stringify([context.req.url, await context.req.text()]);
    const before = sent.get(key);
    // Not awaited where there is none: the other one would pass here meanwhile.
    const known = before === undefined ? null : await before.location;
    if (known !== null) return context.redirect(known, 303);
    let settle = (_location: string | null): void => undefined;
    sent.set(key, { at: now(), location: new Promise((resolve) => (settle = resolve)) });
    try {
      await next();
    } finally {
      const location = locationOf(context);
      settle(location);
      if (location === null) sent.delete(key);
    }
  };
}

function locationOf({ res }: Context): string | null {
  return res.status === 303 ? res.headers.get('location') : null;
}
