import type { Context, Handler } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { html, type SafeHtml } from '../../texts/html.ts';
import { chooseLanguage, type Language, LANGUAGES } from '../../texts/languages.ts';
import { speechFormat, type SpeechFormat } from '../../texts/speech-format.ts';
import type { ConsoleOptions } from '../console-options.ts';
import { callerOf } from './people.ts';
import { type ConsoleTexts, TEXTS_EN } from '../texts/en.ts';
import { TEXTS_ES } from '../texts/es.ts';
import { TEXTS_PT } from '../texts/pt.ts';

/** All texts of the console by language. */
export const CONSOLE_TEXTS: Readonly<Record<Language, ConsoleTexts>> = { en: TEXTS_EN, pt: TEXTS_PT, es: TEXTS_ES };

const LANGUAGE_COOKIE = 'lote_language';
const ONE_YEAR_S = 365 * 24 * 60 * 60;

/** Texts, numbers and times in the form that one reader expects. */
export interface PageFormat extends SpeechFormat {
  readonly texts: ConsoleTexts;
}

/** What a page says in the frame that all pages share. */
export interface Page {
  readonly title: string;
  readonly content: SafeHtml;
  readonly live?: boolean;
  readonly status?: 200 | 400 | 403 | 404 | 500 | 503;
}

/** The answers that every route can give. */
export type PageAnswers = ReturnType<typeof pageAnswers>;

/** Answers with pages in the language of `?lang=` (kept in a cookie for a year), otherwise of the cookie, otherwise of `Accept-Language`. */
export function pageAnswers({ links, version, timeZone, language = 'en' }: ConsoleOptions) {
  function formatOf(context: Context): PageFormat {
    const browser = `${context.req.header('accept-language') ?? ''},${language}`;
    const chosen = chosenLanguage(context);
    const speech = chooseLanguage(chosen ?? browser);
    return { ...speechFormat(speech, { timeZone }), texts: CONSOLE_TEXTS[speech.language] };
  }

  function show(context: Context, { title, content, live = false, status = 200 }: Page): Response | Promise<Response> {
    const format = formatOf(context);
    const { texts } = format;
    const written = html`<!doctype html>
      <html lang="${format.language}">
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          <title>${title} - Lote</title>
          <link rel="icon" href="/icon.svg" />
          <link rel="stylesheet" href="/style.css" />
          <script src="/live.js" defer></script>
          ${live ? html`<noscript><meta http-equiv="refresh" content="5" /></noscript>` : ''}
        </head>
        <body>
          <a class="skip" href="#content">${texts.skip}</a>
          ${navigation(texts, context.req.path, webAddress(links.temporalUi))}
          ${live ? html`<main id="content" data-live>${content}</main>` : html`<main id="content">${content}</main>`}
          <footer class="soft">
            ${signedIn(texts, context)} <span>Lote ${version}</span> <span>${texts.timesIn} ${format.timeZone}</span>
            <ul class="plain">
              ${LANGUAGES.map((other) => html`<li>${languageLink(format, context, other)}</li>`)}
            </ul>
          </footer>
        </body>
      </html>`;
    return context.html(written.safe, status);
  }

  /** Makes a handler of a function that returns a page, or null if there is nothing at the address. */
  function page(render: (context: Context, format: PageFormat) => Promise<Page | Response | null>): Handler {
    return async (context) => {
      const answer = await render(context, formatOf(context));
      if (answer instanceof Response) return answer;
      return answer === null ? notFound(context) : show(context, answer);
    };
  }

  function notFound(context: Context): Response | Promise<Response> {
    const { texts } = formatOf(context);
    return show(context, { title: texts.notFound, content: html`<h1>${texts.notFound}</h1>`, status: 404 });
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

  return { formatOf, show, page, notFound, roleMissing };
}

function chosenLanguage(context: Context): string | null {
  const asked = LANGUAGES.find((language) => language === context.req.query('lang'));
  if (asked !== undefined) {
    setCookie(context, LANGUAGE_COOKIE, asked, { path: '/', sameSite: 'Lax', maxAge: ONE_YEAR_S, httpOnly: true });
    return asked;
  }
  return LANGUAGES.find((language) => language === getCookie(context, LANGUAGE_COOKIE)) ?? null;
}

function navigation(texts: ConsoleTexts, path: string, temporalUi: string | null): SafeHtml {
  const to = (address: string, name: string) =>
    html`<a href="${address}" ${path === address ? html`aria-current="page"` : ''}>${name}</a>`;
  return html`<header class="top">
    <nav aria-label="Lote">
      <strong>Lote</strong>
      ${to('/', texts.batches)} ${to('/nights', texts.nights.title)} ${to('/figures', texts.figures.title)} ${to('/health', texts.health)} ${to('/profile', texts.profile)}
      ${temporalUi === null ? '' : html`<a href="${temporalUi}">${texts.temporalUi}</a>`}
      <form class="search" action="/search" role="search">
        <input type="search" name="q" aria-label="${texts.search.label}" placeholder="${texts.search.hint}" maxlength="200" required />
        <button>${texts.search.title}</button>
      </form>
    </nav>
  </header>`;
}

function signedIn({ people }: ConsoleTexts, context: Context): SafeHtml {
  const caller = callerOf(context);
  if (caller.kind !== 'person') return html``;
  return html`<span>${people.signedInAs} <strong>${caller.name}</strong> (${people.roles[caller.role]})</span>`;
}

/** Returns the address of the present page in another language. */
function languageLink(format: PageFormat, { req }: Context, language: Language): SafeHtml {
  const { languageName } = CONSOLE_TEXTS[language];
  if (language === format.language) return html`<span aria-current="true">${languageName}</span>`;
  // The first address of a browser may hold the console's token.
  const { token: _, ...query } = req.query();
  const address = `${req.path}?${new URLSearchParams({ ...query, lang: language }).toString()}`;
  return html`<a href="${address}" lang="${language}" hreflang="${language}">${languageName}</a>`;
}

/** Returns a web address, or null: a mistaken setting must not become a `javascript:` link. */
function webAddress(address: string | null): string | null {
  return address !== null && /^https?:\/\//u.test(address) ? address : null;
}

/** Returns the address of a workflow's page in the Temporal UI, or null if there is no UI. */
export function workflowAddress({ temporalUi, namespace }: ConsoleOptions['links'], workflowId: string): string | null {
  const base = webAddress(temporalUi)?.replace(/\/+$/u, '');
  const space = encodeURIComponent(namespace ?? 'default');
  return base === undefined ? null : `${base}/namespaces/${space}/workflows/${encodeURIComponent(workflowId)}`;
}
