import { html } from 'hono/html';
import type { PageFormat } from './page-format.ts';

export type Html = ReturnType<typeof html>;

export interface PageLayout {
  readonly format: PageFormat;
  readonly title: string;
  readonly content: Html;
  readonly temporalUi: string | null;
  readonly version: string;
  /** The page changes by itself while something runs. */
  readonly live: boolean;
}

/** The frame around every page. */
export function pageLayout({ format, title, content, temporalUi, version, live }: PageLayout): Html {
  const { texts, language } = format;
  return html`<!doctype html>
    <html lang="${language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title} - Lote</title>
        <link rel="stylesheet" href="/style.css" />
        <script src="/live.js" defer></script>
      </head>
      <body>
        <a class="skip" href="#content">${texts.skip}</a>
        <header class="top">
          <nav aria-label="Lote">
            <strong>Lote</strong> <a href="/">${texts.batches}</a> <a href="/health">${texts.health}</a>
            ${webAddress(temporalUi) === null ? '' : html`<a href="${webAddress(temporalUi)}">${texts.temporalUi}</a>`}
          </nav>
        </header>
        ${live ? html`<main id="content" data-live>${content}</main>` : html`<main id="content">${content}</main>`}
        <footer class="soft">Lote ${version}</footer>
      </body>
    </html>`;
}

/** An address of the web, or null: a `javascript:` link must not come from a mistaken setting. */
export function webAddress(address: string | null): string | null {
  return address !== null && /^https?:\/\//u.test(address) ? address : null;
}
