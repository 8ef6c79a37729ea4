import type { Context } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { html, type SafeHtml } from '../../texts/html.ts';
import { chooseLanguage } from '../../texts/choose-language.ts';
import type { ConsoleOptions } from '../console-options.ts';
import type { FormTokens } from '../forms/form-token.ts';
import { callerOf } from '../people/caller.ts';
import { pageFormat } from '../pages/page-format.ts';
import type { PageFormat } from '../pages/page-format.ts';
import { pageLayout } from '../pages/page-layout.ts';
import { LANGUAGES } from '../../texts/languages.ts';

const LANGUAGE_COOKIE = 'lote_language';
const ONE_YEAR_S = 365 * 24 * 60 * 60;

export interface Page {
  readonly title: string;
  readonly content: SafeHtml;
  readonly live?: boolean;
  readonly status?: 200 | 400 | 403 | 404 | 413 | 500 | 501 | 503;
}

/** What every route answers with. */
export interface PageAnswers {
  formatOf(context: Context): PageFormat;
  show(context: Context, page: Page): Response | Promise<Response>;
  notFound(context: Context): Response | Promise<Response>;
  /** For a person who may only look. */
  roleMissing(context: Context): Response | Promise<Response>;
}

/**
 * Answers with pages in the language of the request: the query `lang`, else the cookie, else `Accept-Language`. `lang`
 * also sets the cookie, for one year.
 */
export function pageAnswers(
  { links, version, timeZone, language = 'en' }: ConsoleOptions,
  forms: FormTokens,
): PageAnswers {
  function formatOf(context: Context): PageFormat {
    const browser = `${context.req.header('accept-language') ?? ''},${language};q=0.001`;
    const chosen = chosenLanguage(context);
    const speech = chooseLanguage(chosen === null ? browser : preferring(chosen, browser));
    return pageFormat(speech, timeZone, forms.tokenFor(context));
  }

  function show(context: Context, { title, content, live = false, status = 200 }: Page) {
    const { path, method } = context.req;
    // The query of a form holds the page's token, and the first address of a browser may hold the console's.
    const { token: _, ...query } = method === 'POST' ? {} : context.req.query();
    return context.html(
      pageLayout({
        ...{ format: formatOf(context), title, content, live, version, path, query },
        ...{ temporalUi: links.temporalUi, caller: callerOf(context) },
      }).safe,
      status,
    );
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
    notFound(context) {
      const { texts } = formatOf(context);
      return show(context, { title: texts.notFound, content: html`<h1>${texts.notFound}</h1>`, status: 404 });
    },
  };
}

/** `?lang=` is kept for the next pages. */
function chosenLanguage(context: Context): string | null {
  const asked = LANGUAGES.find((language) => language === context.req.query('lang'));
  if (asked !== undefined) {
    setCookie(context, LANGUAGE_COOKIE, asked, { path: '/', sameSite: 'Lax', maxAge: ONE_YEAR_S, httpOnly: true });
    return asked;
  }
  return LANGUAGES.find((language) => language === getCookie(context, LANGUAGE_COOKIE)) ?? null;
}

/** The chosen language; its region, where the browser has one of it, keeps deciding about number marks. */
function preferring(language: string, browser: string): string {
  const regional = new RegExp(`\\b${language}-[A-Za-z]{2}\\b`, 'u').exec(browser)?.[0];
  return regional ?? language;
}
