import { Hono } from 'hono';
import { CONSOLE_SCRIPT } from '../http/console-script.ts';
import { CONSOLE_STYLE } from '../http/console-style.ts';

/** A sheet with a bar on it: small, sharp on any screen, readable on light and dark tabs. */
const CONSOLE_ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#0550ae"/><path d="M4 4h8M4 7h8" stroke="#fff" stroke-width="1.5"/><rect x="4" y="10" width="6" height="2.5" fill="#3fb950"/><rect x="10" y="10" width="2" height="2.5" fill="#ff7b72"/></svg>';

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
