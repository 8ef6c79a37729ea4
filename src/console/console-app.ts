import type { Server } from 'node:http';
import { createAdaptorServer } from '@hono/node-server';
import { Hono, type Context, type MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { LoteError, type LoteErrorCode } from '../domain/errors.ts';
import { closeServer, listenOn } from '../platform/listen.ts';
import { html } from '../texts/html.ts';
import type { ConsoleOptions } from './console-options.ts';
import { guard } from './http/guard.ts';
import { pageAnswers, type PageAnswers } from './http/page-answers.ts';
import { mappingRoutes } from './mapping/mapping-routes.ts';
import { batchRoutes } from './routes/batch-routes.ts';
import { consoleApi } from './routes/console-api.ts';
import { figuresRoutes } from './routes/figures-routes.ts';
import { fileRoutes } from './routes/file-routes.ts';
import { invoiceRoutes } from './routes/invoice-routes.ts';
import { nightlyRoutes } from './routes/nightly-routes.ts';
import { operateRoutes } from './routes/operate-routes.ts';
import { overviewRoutes } from './routes/overview-routes.ts';
import { searchRoutes } from './routes/search-routes.ts';

/** Hosts on which only this machine reaches the console. */
export const LOOPBACK_HOSTS: ReadonlySet<string> = new Set(['127.0.0.1', '::1', 'localhost']);
/** A browser sends its headers at once; a slower client only holds a connection. */
const HEADERS_TIMEOUT_MS = 10_000;
/** Enough for a hundred megabytes over an office's wireless network. */
const REQUEST_TIMEOUT_MS = 5 * 60_000;
/** A browser opens six connections. Without a limit, one account of the machine could take every file that the process may open. */
const MAX_CONNECTIONS = 200;

interface StartConsole extends Omit<ConsoleOptions, 'access' | 'hosts'> {
  readonly host: string;
  readonly port: number;
}

/** A console that listens. `url` has no slash at its end; `close` resolves when the requests in flight are answered, after 5 s at the latest. */
export interface RunningConsole {
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

/** Serves the console. Off loopback, the console needs the token or sign-in. @throws LoteError `configuration-invalid`, `port-taken` */
export async function startConsole({ host, port, ...options }: StartConsole): Promise<RunningConsole> {
  const loopback = LOOPBACK_HOSTS.has(host);
  if (!loopback && (options.token ?? '') === '' && options.people === undefined) {
    const message = `Starting the console: on an address other than loopback a token must be set, found CONSOLE_HOST=${host} and no token. Use 127.0.0.1, or set a token.`;
    throw new LoteError('configuration-invalid', message);
  }
  const access = loopback ? 'loopback' : 'token';
  const server = createAdaptorServer({
    fetch: createConsoleApp({ ...options, access, hosts: [host] }).fetch,
    serverOptions: { headersTimeout: HEADERS_TIMEOUT_MS, requestTimeout: REQUEST_TIMEOUT_MS },
  }) as Server;
  server.maxConnections = MAX_CONNECTIONS;
  const bound = await listenOn(server, { host, port, what: 'Starting the console', variables: 'CONSOLE' });
  return { url: bound.origin, port: bound.port, close: () => closeServer(server) };
}

const MOST_FORM_BYTES = 16 * 1024;
const MOST_MAPPING_FORM_BYTES = 64 * 1024;

/** The console's pages and its JSON API, over any ledger. */
export function createConsoleApp(options: ConsoleOptions): Hono {
  const { actions, onError, ready } = options;
  const app = new Hono();
  const pages = pageAnswers(options);
  const smallForm = limitedForm(MOST_FORM_BYTES);

  app.use(endUnreadBody);
  app.use(securityHeaders);
  app.get('/health/live', (context) => context.json({ status: 'live' }));
  app.get('/health/ready', async (context) => {
    const readiness = await ready();
    return context.json(readiness, readiness.status === 'ready' ? 200 : 503);
  });
  app.use(guard({ ...options, roleMissing: pages.roleMissing }));
  // No id or name contains a NUL, and PostgreSQL refuses a NUL in a text.
  app.use(async (context, next) => (context.req.url.includes('%00') ? nothingHere(context, pages) : next()));
  for (const [path, type, content] of ASSETS)
    app.get(path, (context) => context.body(content, 200, { 'content-type': type }));
  app.route('/api', consoleApi(options));

  app.route('/', overviewRoutes(options, pages));
  app.route('/', searchRoutes(options, pages));
  app.route('/', figuresRoutes(options, pages));

  app.use('/start', smallForm);
  app.use('/batches/*', smallForm);
  app.route('/batches', batchRoutes(options, pages));
  app.route('/batches', invoiceRoutes(options, pages));
  app.route('/batches', operateRoutes(options, pages));
  app.route('/nights', nightlyRoutes(options, pages));
  if (actions !== undefined) {
    app.route('/', fileRoutes(options, actions.files, pages));
    app.use('/mapping', limitedForm(MOST_MAPPING_FORM_BYTES));
    app.route('/', mappingRoutes(actions.files.mapper, pages));
  }

  app.notFound((context) => nothingHere(context, pages));
  app.onError((error, context) => {
    onError?.(error);
    return showFailure(context, error, pages);
  });
  return app;
}

function limitedForm(bytes: number): MiddlewareHandler {
  return bodyLimit({
    maxSize: bytes,
    onError: (context) => context.text(`A form must be of at most ${bytes} bytes.`, 413),
  });
}

function nothingHere(context: Context, pages: PageAnswers): Response | Promise<Response> {
  return context.req.path.startsWith('/api/')
    ? context.json({ error: { code: 'not-found', message: 'There is nothing at this address.' } }, 404)
    : pages.notFound(context);
}

/** A LoteError has a message for any reader; the message of another error may contain data that must not leave the process. */
function showFailure(context: Context, error: Error, pages: PageAnswers): Response | Promise<Response> {
  const { texts } = pages.formatOf(context);
  const isOwn = error instanceof LoteError;
  const { code, message } = isOwn ? error : { code: 'internal', message: texts.failure };
  const status = isOwn ? (STATUS_BY_CODE[error.code] ?? 500) : 500;
  if (context.req.path.startsWith('/api/')) return context.json({ error: { code, message } }, status);
  const content = html`<h1>${message}</h1>
    <p class="soft"><a href="/">${texts.back}</a> · ${code}</p>`;
  return pages.show(context, { title: code, content, status });
}

const STATUS_BY_CODE: Partial<Record<LoteErrorCode, 400 | 404 | 503>> = {
  usage: 400,
  'file-unreadable': 400,
  'file-changed': 400,
  'transition-refused': 400,
  'configuration-invalid': 400,
  'batch-not-found': 404,
  'ledger-unavailable': 503,
  'folder-unusable': 503,
  'input-unusable': 503,
  'temporal-unavailable': 503,
  'service-unreachable': 503,
  'service-unauthorized': 503,
  'service-list-unreadable': 503,
  'worker-missing': 503,
  'owner-leaving': 503,
};

/** Closes the unread body of a HEAD's answer, so that its source is closed too. */
const endUnreadBody: MiddlewareHandler = async (context, next) => {
  await next();
  if (context.req.method === 'HEAD') await context.res.body?.cancel();
};

/** Allows only the console's own style sheet and script; forbids inline code, other origins and frames around a page. */
const POLICY =
  "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/** Sets security headers on every answer. A handler that sets its own Content-Security-Policy keeps it. */
const securityHeaders: MiddlewareHandler = async (context, next) => {
  await next();
  const { headers } = context.res;
  if (!headers.has('content-security-policy')) headers.set('content-security-policy', POLICY);
  headers.set('x-content-type-options', 'nosniff');
  // Does not use `no-referrer`: with it browsers send `Origin: null` with the console's own forms.
  headers.set('referrer-policy', 'same-origin');
  headers.set('cross-origin-opener-policy', 'same-origin');
  headers.set('cross-origin-resource-policy', 'same-origin');
  // Pages contain tax numbers, which must not reach a cache on disk.
  headers.set('cache-control', 'no-store');
};

/** The console's one style sheet. Contrast of each pair of colours is 4.5 or more, in light and in dark. */
export const CONSOLE_STYLE = `
:root{color-scheme:light dark;--ink:#1b1f24;--soft:#57606a;--paper:#fff;--panel:#f6f8fa;--line:#d0d7de;--field:#8c959f;--link:#0550ae;--on-link:#fff;--good:#1a7f37;--under-way:#0969da;--open:#9a6700;--bad:#cf222e}
@media screen and (prefers-color-scheme:dark){:root{--ink:#e6edf3;--soft:#9da7b1;--paper:#0d1117;--panel:#161b22;--line:#30363d;--field:#6e7681;--link:#79c0ff;--on-link:#0d1117;--good:#3fb950;--under-way:#58a6ff;--open:#d29922;--bad:#ff7b72}}
*{box-sizing:border-box}body{margin:0;background:var(--paper);color:var(--ink);font:1rem/1.5 system-ui,sans-serif}
.skip{position:absolute;left:-99rem}.skip:focus{left:.5rem;top:.5rem;background:var(--paper);padding:.25rem .5rem;z-index:1}
.unseen{position:absolute;width:1px;height:1px;margin:-1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
header.top{border-bottom:1px solid var(--line);background:var(--panel)}header.top nav{max-width:76rem;margin:0 auto;padding:.5rem 1rem;display:flex;flex-wrap:wrap;gap:.35rem 1.25rem;align-items:center}
header.top strong{font-size:1.15rem}header.top a[aria-current]{color:var(--ink);font-weight:600;text-decoration:none}
form.search{display:flex;gap:.4rem;margin-left:auto;flex:0 1 22rem}form.search input{flex:1;min-width:0}
main,footer{max-width:76rem;margin:0 auto;padding:1.25rem 1rem}footer{display:flex;flex-wrap:wrap;gap:.25rem 1.5rem;align-items:baseline;border-top:1px solid var(--line);margin-top:2.5rem;font-size:.9rem}footer ul.plain{margin:0 0 0 auto}
h1{font-size:1.55rem;line-height:1.25;margin:.25rem 0 .75rem;overflow-wrap:anywhere}h2{font-size:1.15rem;margin:2rem 0 .5rem}p{margin:.4rem 0}
a{color:var(--link);text-underline-offset:.15em}:focus-visible{outline:2px solid var(--link);outline-offset:2px}
.soft{color:var(--soft)}.big{font-size:1.15rem}code,pre,.mono{font-family:ui-monospace,monospace;font-size:.88em;overflow-wrap:anywhere}
pre{background:var(--panel);border:1px solid var(--line);border-radius:.35rem;padding:.6rem .75rem;overflow-x:auto;white-space:pre-wrap}
.good{--tone:var(--good)}.under-way{--tone:var(--under-way)}.open{--tone:var(--open)}.bad{--tone:var(--bad)}
.state{color:var(--tone);font-weight:600;white-space:nowrap}.state::before{content:"";display:inline-block;width:.7em;height:.7em;margin-right:.4em;border-radius:50%;background:var(--tone)}
.verdict{border-left:.4rem solid var(--tone);background:var(--panel);padding:.75rem 1.25rem;border-radius:.35rem;margin:.75rem 0 1rem}
.card{border:1px solid var(--line);border-radius:.35rem;padding:.75rem 1rem;margin:.75rem 0}.done{background:var(--panel);border:1px solid var(--line);border-radius:.35rem;padding:.5rem .75rem}
svg.bar{display:block;width:100%;height:1.25rem;border-radius:.25rem;background:var(--line)}svg.bar rect{fill:var(--tone)}td svg.bar,th svg.bar{min-width:8rem;max-width:20rem;height:.7rem;margin:.4rem 0 .1rem}
button,.button,input,select{font:inherit;color:var(--ink);background:var(--paper);border:1px solid var(--field);border-radius:.35rem;padding:.35rem .75rem;max-width:100%}
button,.button{cursor:pointer;background:var(--panel);text-decoration:none;display:inline-block}button:hover,.button:hover{border-color:var(--link)}
button.main{background:var(--link);border-color:var(--link);color:var(--on-link);font-weight:600}button.danger{border-color:var(--bad);color:var(--bad);background:var(--paper)}
label{display:block;margin:.35rem 0 .2rem}.row{display:flex;flex-wrap:wrap;gap:.5rem;align-items:center}.row>label{flex-basis:100%;margin:0}.row>input{flex:0 1 26rem;min-width:0}
form.fields select{display:block}fieldset{border:0;margin:0;padding:0}legend{padding:0;color:var(--soft)}label.choice{display:inline-flex;gap:.4rem;align-items:baseline;margin:.2rem 1.1rem .2rem 0}.card h2{margin:.1rem 0 .4rem}.card button{margin-top:.6rem}.card input[name=reason]{display:block;width:min(100%,32rem)}h3{font-size:1rem;margin:1.2rem 0 .3rem}details{margin:.75rem 0}summary{cursor:pointer;padding:.2rem 0;color:var(--link)}details .soft,details p{max-width:60rem}
.scroll{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:.93rem}
th,td{text-align:left;vertical-align:top;padding:.4rem .6rem;border-bottom:1px solid var(--line);unicode-bidi:isolate}
a,code,dd,span,strong{unicode-bidi:isolate}
thead th{color:var(--soft);font-weight:600;white-space:nowrap}tbody th{font-weight:600}td.number,th.number{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}td.time{white-space:nowrap}td.text{overflow-wrap:anywhere;min-width:13rem}td.value{width:15rem;min-width:9rem;max-width:24rem}th:has(+td.value){width:17rem}td pre{margin:.2rem 0;max-height:16rem;overflow:auto}tfoot tr:first-child>*{border-top:2px solid var(--ink);font-weight:700;color:var(--ink)}
ul.legend{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,21rem),1fr));gap:.15rem 1.25rem;list-style:none;margin:.5rem 0;padding:0}ul.plain,ul.figures{list-style:none;margin:.5rem 0;padding:0;display:flex;flex-wrap:wrap;gap:.35rem 1.1rem}ul.plain a[aria-current]{font-weight:700;text-decoration:none;color:var(--ink)}ul.buttons{gap:.5rem}
.figure{font-size:1.3rem;font-weight:600;font-variant-numeric:tabular-nums}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.15rem 1.25rem;margin:.75rem 0}dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}
@media (max-width:40rem){dl{grid-template-columns:1fr}dd{margin-bottom:.4rem}form.search{flex-basis:100%;margin-left:0}footer ul.plain{margin-left:0}.verdict{padding:.6rem .8rem}td.text{min-width:10rem}td.value{min-width:8rem}td .state{white-space:normal;display:inline-block;min-width:6.5rem}th[scope=row]{min-width:7.5rem}}
@media print{header.top,form,footer ul,.skip{display:none}.scroll{overflow:visible}svg.bar,.state::before{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
`;

/** Reloads a live page every two seconds, unless a person is at work in it; follows a redirect of the page. */
const CONSOLE_SCRIPT = `
async function refresh() {
  const main = document.querySelector('main[data-live]');
  if (main === null) return;
  const atWork = main.contains(document.activeElement) || main.querySelector('details[open]') !== null || String(getSelection()) !== '';
  if (!document.hidden && !atWork) {
    try {
      const answer = await fetch(location.href, { headers: { accept: 'text/html' } });
      const next = answer.ok ? new DOMParser().parseFromString(await answer.text(), 'text/html') : null;
      const main2 = next === null ? null : next.querySelector('main');
      if (main2 !== null) {
        main.replaceWith(main2);
        document.title = next.title;
        if (answer.redirected) history.replaceState(null, '', answer.url);
      }
    } catch {
      // The console is restarting: the page stays as it is and asks again.
    }
  }
  setTimeout(refresh, 2000);
}
setTimeout(refresh, 2000);
`;

/** Draws a sheet with a bar: small, sharp on any screen, readable on light and dark tabs. */
const CONSOLE_ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#0550ae"/><path d="M4 4h8M4 7h8" stroke="#fff" stroke-width="1.5"/><rect x="4" y="10" width="6" height="2.5" fill="#3fb950"/><rect x="10" y="10" width="2" height="2.5" fill="#ff7b72"/></svg>';

const ASSETS = [
  ['/style.css', 'text/css; charset=utf-8', CONSOLE_STYLE],
  ['/live.js', 'text/javascript; charset=utf-8', CONSOLE_SCRIPT],
  ['/icon.svg', 'image/svg+xml', CONSOLE_ICON],
] as const;
