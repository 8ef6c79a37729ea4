import type { ConsoleOptions } from '../console-options.ts';
import { html, type SafeHtml } from '../../texts/html.ts';
import { type PageFormat, CONSOLE_TEXTS } from './page-format.ts';
import type { Caller } from '../people/caller.ts';
import { LANGUAGES } from '../../texts/languages.ts';

export interface PageLayout {
  readonly format: PageFormat;
  readonly title: string;
  readonly content: SafeHtml;
  readonly temporalUi: string | null;
  readonly version: string;
  /** The page changes by itself while something runs. */
  readonly live: boolean;
  /** The page's own address, for the choice of language. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** Who is shown to be signed in. */
  readonly caller: Caller;
}

/** The frame around every page. */
export function pageLayout(page: PageLayout): SafeHtml {
  const { format, title, content, version, live } = page;
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
        ${navigation(page)}
        ${live ? html`<main id="content" data-live>${content}</main>` : html`<main id="content">${content}</main>`}
        <footer class="soft">
          ${signedIn(page)} <span>Lote ${version}</span> <span>${texts.timesIn} ${format.timeZone}</span>
          <ul class="plain">
            ${LANGUAGES.map((other) => html`<li>${languageLink(page, other)}</li>`)}
          </ul>
        </footer>
      </body>
    </html>`;
}

function navigation({ format: { texts }, temporalUi, path }: PageLayout): SafeHtml {
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

function signedIn({ format: { texts }, caller }: PageLayout): SafeHtml {
  if (caller.kind !== 'person') return html``;
  const { name, role } = caller;
  return html`<span>${texts.people.signedInAs} <strong>${name}</strong> (${texts.people.roles[role]})</span>`;
}

function languageLink({ format, path, query }: PageLayout, language: (typeof LANGUAGES)[number]): SafeHtml {
  const { languageName } = CONSOLE_TEXTS[language];
  const address = `${path}?${new URLSearchParams({ ...query, lang: language }).toString()}`;
  return language === format.language
    ? html`<span aria-current="true">${languageName}</span>`
    : html`<a href="${address}" lang="${language}" hreflang="${language}">${languageName}</a>`;
}

/** An address of the web, or null: a `javascript:` link must not come from a mistaken setting. */
function webAddress(address: string | null): string | null {
  return address !== null && /^https?:\/\//u.test(address) ? address : null;
}

type Links = ConsoleOptions['links'];

/** A workflow's page in the Temporal UI; null where there is none. */
export function workflowAddress({ temporalUi, namespace }: Links, workflowId: string): string | null {
  const base = webAddress(temporalUi)?.replace(/\/+$/u, '');
  const space = encodeURIComponent(namespace ?? 'default');
  return base === undefined ? null : `${base}/namespaces/${space}/workflows/${encodeURIComponent(workflowId)}`;
}
