import type { Context } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { html, type SafeHtml } from '../../texts/html.ts';
import { chooseLanguage, type Language, LANGUAGES } from '../../texts/languages.ts';
import type { ConsoleOptions } from '../console-options.ts';
import type { FormTokens } from '../forms/form-token.ts';
import { callerOf, type Caller } from '../people/people.ts';
import { pageFormat, type PageFormat, CONSOLE_TEXTS } from '../pages/page-format.ts';

const LANGUAGE_COOKIE = 'lote_language';
const ONE_YEAR_S = 365 * 24 * 60 * 60;

export interface Page {
  readonly title: string;
  readonly content: SafeHtml;
  readonly live?: boolean;
  readonly status?: 200 | 400 | 403 | 404 | 413 | 500 | 501 | 503;
}

/** The answers that every route can give. */
export type PageAnswers = ReturnType<typeof pageAnswers>;

/** Answers with pages in the language of `?lang=` (kept in a cookie for a year), otherwise of the cookie, otherwise of `Accept-Language`. */
export function pageAnswers({ links, version, timeZone, language = 'en' }: ConsoleOptions, forms: FormTokens) {
  function formatOf(context: Context): PageFormat {
    const browser = `${context.req.header('accept-language') ?? ''},${language};q=0.001`;
    const chosen = chosenLanguage(context);
    const speech = chooseLanguage(chosen === null ? browser : preferring(chosen, browser));
    return pageFormat(speech, timeZone, forms.tokenFor(context));
  }

  function show(context: Context, page: Page): Response | Promise<Response> {
    const { path, method } = context.req;
    // The query of a form holds the page's token, and the first address of a browser may hold the console's.
    const { token: _, ...query } = method === 'POST' ? {} : context.req.query();
    const place = { path, query, version, temporalUi: links.temporalUi, caller: callerOf(context) };
    return context.html(pageLayout(formatOf(context), page, place).safe, page.status ?? 200);
  }

  function roleMissing(context: Context) {
    const { texts } = formatOf(context);
    if (context.req.path.startsWith('/api/')) {
      const message = `This needs the role operate: a name in CONSOLE_OPERATORS, or a group in CONSOLE_OPERATOR_GROUPS. Nothing was done.`;
      return context.json({ error: { code: 'role-missing', message } }, 403);
    }
    const { roleMissing: title, roleMissingNote } = texts.people;
    const content = html`<h1>${title}</h1>
      <p>${roleMissingNote}</p>
      <p class="soft"><a href="/">${texts.back}</a> · role-missing</p>`;
    return show(context, { title, content, status: 403 });
  }

  return {
    formatOf,
    show,
    roleMissing,
    notFound(context: Context): Response | Promise<Response> {
      const { texts } = formatOf(context);
      return show(context, { title: texts.notFound, content: html`<h1>${texts.notFound}</h1>`, status: 404 });
    },
  };
}

function chosenLanguage(context: Context): string | null {
  const asked = LANGUAGES.find((language) => language === context.req.query('lang'));
  if (asked !== undefined) {
    setCookie(context, LANGUAGE_COOKIE, asked, { path: '/', sameSite: 'Lax', maxAge: ONE_YEAR_S, httpOnly: true });
    return asked;
  }
  return LANGUAGES.find((language) => language === getCookie(context, LANGUAGE_COOKIE)) ?? null;
}

/** Returns the chosen language with the browser's region for it, if any, because the region decides about number marks. */
function preferring(language: string, browser: string): string {
  const regional = new RegExp(`\\b${language}-[A-Za-z]{2}\\b`, 'u').exec(browser)?.[0];
  return regional ?? language;
}

/** What a page shows around its content. */
interface Place {
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly version: string;
  readonly temporalUi: string | null;
  readonly caller: Caller;
}

function pageLayout(format: PageFormat, { title, content, live = false }: Page, place: Place): SafeHtml {
  const { texts, language } = format;
  return html`<!doctype html>
    <html lang="${language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="lote-form" content="${format.formToken}" />
        <title>${title} - Lote</title>
        <link rel="icon" href="/icon.svg" />
        <link rel="stylesheet" href="/style.css" />
        <script src="/live.js" defer></script>
        ${live ? html`<noscript><meta http-equiv="refresh" content="5" /></noscript>` : ''}
      </head>
      <body>
        <a class="skip" href="#content">${texts.skip}</a>
        ${navigation(format, place)}
        ${live ? html`<main id="content" data-live>${content}</main>` : html`<main id="content">${content}</main>`}
        <footer class="soft">
          ${signedIn(format, place)} <span>Lote ${place.version}</span> <span>${texts.timesIn} ${format.timeZone}</span>
          <ul class="plain">
            ${LANGUAGES.map((other) => html`<li>${languageLink(format, place, other)}</li>`)}
          </ul>
        </footer>
      </body>
    </html>`;
}

function navigation({ texts }: PageFormat, { temporalUi, path }: Place): SafeHtml {
  const to = (address: string, name: string) =>
    path === address
      ? html`<a href="${address}" aria-current="page">${name}</a>`
      : html`<a href="${address}">${name}</a>`;
  const temporal = webAddress(temporalUi);
  return html`<header class="top">
    <nav aria-label="Lote">
      <strong>Lote</strong>
      ${to('/', texts.batches)} ${to('/nights', texts.nights.title)} ${to('/figures', texts.figures.title)} ${to('/health', texts.health)} ${to('/profile', texts.profile)}
      ${temporal === null ? '' : html`<a href="${temporal}">${texts.temporalUi}</a>`}
      <form class="search" action="/search" role="search">
        <input type="search" name="q" aria-label="${texts.search.label}" placeholder="${texts.search.hint}" maxlength="200" required />
        <button>${texts.search.title}</button>
      </form>
    </nav>
  </header>`;
}

function signedIn({ texts }: PageFormat, { caller }: Place): SafeHtml {
  if (caller.kind !== 'person') return html``;
  const { name, role } = caller;
  return html`<span>${texts.people.signedInAs} <strong>${name}</strong> (${texts.people.roles[role]})</span>`;
}

function languageLink(format: PageFormat, { path, query }: Place, language: Language): SafeHtml {
  const { languageName } = CONSOLE_TEXTS[language];
  const address = `${path}?${new URLSearchParams({ ...query, lang: language }).toString()}`;
  return language === format.language
    ? html`<span aria-current="true">${languageName}</span>`
    : html`<a href="${address}" lang="${language}" hreflang="${language}">${languageName}</a>`;
}

/** Returns a web address, or null: a mistaken setting must not become a `javascript:` link. */
function webAddress(address: string | null): string | null {
  return address !== null && /^https?:\/\//u.test(address) ? address : null;
}

type Links = ConsoleOptions['links'];

/** Returns the address of a workflow's page in the Temporal UI, or null if there is no UI. */
export function workflowAddress({ temporalUi, namespace }: Links, workflowId: string): string | null {
  const base = webAddress(temporalUi)?.replace(/\/+$/u, '');
  const space = encodeURIComponent(namespace ?? 'default');
  return base === undefined ? null : `${base}/namespaces/${space}/workflows/${encodeURIComponent(workflowId)}`;
}
