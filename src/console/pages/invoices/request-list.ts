import { html } from 'hono/html';
import type { InvoiceGeneration } from '../../../domain/ports/invoice-lookup.ts';
import type { PageFormat } from '../page-format.ts';
import type { Html } from '../page-layout.ts';
import { toneOf } from '../state-counts.ts';

/** String members that name a person or a company; the rest of a body is amounts and texts of goods. */
const PERSONAL = /("(?:name|tax_id|legal_name|email|nif)"\s*:\s*)"((?:[^"\\]|\\.)*)"/gu;

/** What went to the service under each key, newest first, fit to be shown to the service's support. */
export function requestList(format: PageFormat, generations: readonly InvoiceGeneration[]): Html {
  const { invoice } = format.texts;
  const sent = generations.filter(({ attempts, body }) => attempts > 0 || body !== null);
  return html`<h2>${invoice.requests}</h2>
    ${sent.length === 0 ? html`<p>${invoice.notSent}</p>` : html`<p class="soft">${invoice.requestsNote}</p>`}
    ${sent.map((life) => request(format, life))}`;
}

function request({ texts, time, count }: PageFormat, life: InvoiceGeneration): Html {
  const { invoice } = texts;
  const fact = (name: string, value: string | Html) =>
    html`<dt>${name}</dt>
      <dd>${value}</dd>`;
  return html`<article class="card">
    <p><code>POST /v1/invoices</code></p>
    <dl>
      ${fact(invoice.key, html`<span class="mono">${life.idempotencyKey}</span>`)}
      ${fact(invoice.generation, life.generation < 0 ? '–' : count(life.generation))} ${fact(texts.attempts, count(life.attempts))}
      ${life.firstSentAt === null ? '' : fact(invoice.firstSent, time(life.firstSentAt))}
      ${life.acceptedAt === null ? '' : fact(invoice.accepted, time(life.acceptedAt))}
      ${life.settledAt === null ? '' : fact(invoice.settled, time(life.settledAt))}
      ${fact(
        invoice.answer,
        html`<span class="state ${toneOf(life.state)}">${life.state}</span>
          ${life.serviceId === null ? '' : html`<span class="mono">${life.serviceId}</span>`} ${life.reason?.message ?? ''}`,
      )}
    </dl>
    ${
      life.body === null
        ? ''
        : html`<details>
            <summary>${invoice.body}</summary>
            <pre tabindex="0">${maskedBody(life.body)}</pre>
          </details>`
    }
  </article>`;
}

/**
 * A request's body as it may be shown to somebody else: names and tax numbers become dots, everything else stays byte for byte. It is
 * not parsed: a number would lose its exact text.
 */
export function maskedBody(body: string): string {
  return body.replaceAll(PERSONAL, (_, member: string, value: string) => `${member}"${masked(value)}"`);
}

/** The last two signs stay, so that two requests can be told apart; short values go whole. */
function masked(value: string): string {
  const signs = Array.from(value);
  return signs.length < 6 || value.includes('\\') ? '•••' : `•••${signs.slice(-2).join('')}`;
}
