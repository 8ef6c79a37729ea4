import { Hono } from 'hono';
import { CONSOLE_ICON } from '../http/console-icon.ts';
import { CONSOLE_SCRIPT } from '../http/console-script.ts';
import { CONSOLE_STYLE } from '../http/console-style.ts';

/** What every page loads: its style, its script, its icon. */
export function assetRoutes(): Hono {
  const routes = new Hono();
  routes.get('/style.css', (context) =>
    context.body(CONSOLE_STYLE, 200, { 'content-type': 'text/css; charset=utf-8' }),
  );
  routes.get('/live.js', (context) =>
    context.body(CONSOLE_SCRIPT, 200, { 'content-type': 'text/javascript; charset=utf-8' }),
  );
  routes.get('/icon.svg', (context) => context.body(CONSOLE_ICON, 200, { 'content-type': 'image/svg+xml' }));
  return routes;
}
