import { randomBytes } from 'node:crypto';
import { type Context, Hono, type MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { html } from 'hono/html';
import type { ConsoleOptions } from './console-options.ts';
import { formTokens } from './forms/form-token.ts';
import { guard } from './http/guard.ts';
import { doneOnce } from './http/once.ts';
import { type PageAnswers, pageAnswers } from './http/page-answers.ts';
import { securityHeaders } from './http/security-headers.ts';
import { shownError } from './http/shown-error.ts';
import { endUnreadBody } from './http/unread-body.ts';
import { peopleGuard } from './people/people-guard.ts';
import { mappingRoutes } from './mapping/mapping-routes.ts';
import { assetRoutes } from './routes/asset-routes.ts';
import { batchFileRoutes } from './routes/batch-file-routes.ts';
import { batchRoutes } from './routes/batch-routes.ts';
import { consoleApi } from './routes/console-api.ts';
import { figuresRoutes } from './routes/figures-routes.ts';
import { fileRoutes } from './routes/file-routes.ts';
import { nightlyRoutes } from './routes/nightly-routes.ts';
import { operateRoutes } from './routes/operate-routes.ts';
import { overviewRoutes } from './routes/overview-routes.ts';
import { profileRoutes } from './routes/profile-routes.ts';
import { probeRoutes, readyOf } from './routes/probe-routes.ts';
import { searchRoutes } from './routes/search-routes.ts';

/** Every form but those that carry a file or a profile. */
const MOST_FORM_BYTES = 16 * 1024;
/** A hundred columns, and forty words for taxes. */
const MOST_MAPPING_FORM_BYTES = 64 * 1024;
/** A profile is of at most 256 kB; as the field of a form it may take three times as much. */
const MOST_PROFILE_FORM_BYTES = 1024 * 1024;

/** The console's pages and its JSON API, over any ledger. */
export function createConsoleApp(options: ConsoleOptions): Hono {
  const { onError, actions, people } = options;
  const app = new Hono();
  const forms = formTokens(
    (options.token ?? '') === '' ? randomBytes(32).toString('hex') : (options.token ?? ''),
    people?.signIn.publicUrl.startsWith('https:') === true,
  );
  const pages = pageAnswers(options, forms);
  const smallForm = limitedForm(MOST_FORM_BYTES);

  app.use(endUnreadBody());
  app.use(securityHeaders());
  probeRoutes(app, options);
  const { access = 'loopback', hosts = [] } = options;
  const guarded = { token: options.token, hosts, forms, ready: readyOf(options) };
  app.use(
    people === undefined
      ? guard({ ...guarded, access })
      : peopleGuard({ ...guarded, signIn: people.signIn, roleMissing: (context) => pages.roleMissing(context) }),
  );
  app.use(refuseNul(pages));
  app.route('/', assetRoutes());
  app.route('/api', consoleApi(options));

  app.route('/', overviewRoutes(options, pages));
  app.route('/', searchRoutes(options, pages));
  app.route('/', figuresRoutes(options, pages));

  const once = doneOnce();
  app.use('/start', smallForm, once);
  app.use('/batches/*', smallForm, once);
  app.route('/batches', batchFileRoutes(options, pages));
  app.route('/batches', batchRoutes(options, pages));
  app.route('/batches', operateRoutes(options, pages));
  app.route('/nights', nightlyRoutes(options, pages));
  app.use('/profile/*', limitedForm(MOST_PROFILE_FORM_BYTES));
  app.route('/profile', profileRoutes(options, pages));
  if (actions?.files !== undefined) {
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

function limitedForm(bytes: number): ReturnType<typeof bodyLimit> {
  return bodyLimit({
    maxSize: bytes,
    onError: (context) => context.text(`A form must be of at most ${bytes} bytes.`, 413),
  });
}

/** No id and no name holds a NUL, and PostgreSQL refuses one in a text: there is nothing at such an address. */
function refuseNul(pages: PageAnswers): MiddlewareHandler {
  return async (context, next) => (context.req.url.includes('%00') ? nothingHere(context, pages) : next());
}

function nothingHere(context: Context, pages: PageAnswers): Response | Promise<Response> {
  return context.req.path.startsWith('/api/')
    ? context.json({ error: { code: 'not-found', message: 'There is nothing at this address.' } }, 404)
    : pages.notFound(context);
}

function showFailure(context: Context, error: Error, pages: PageAnswers): Response | Promise<Response> {
  const { texts } = pages.formatOf(context);
  const { code, message, status } = shownError(error, texts.failure);
  if (context.req.path.startsWith('/api/')) return context.json({ error: { code, message } }, status);
  const content = html`<h1>${message}</h1>
    <p class="soft"><a href="/">${texts.back}</a> · ${code}</p>`;
  return pages.show(context, { title: code, content, status });
}
