import type { MiddlewareHandler } from 'hono';

/** The answer to a HEAD has no body; what it would have been read from is closed, for nobody will read it. */
export function endUnreadBody(): MiddlewareHandler {
  return async (context, next) => {
    await next();
    if (context.req.method === 'HEAD') await context.res.body?.cancel();
  };
}
