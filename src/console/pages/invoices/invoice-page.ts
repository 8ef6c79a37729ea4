import { html } from 'hono/html';
import type { InvoiceDetails } from '../../../domain/ports/invoice-lookup.ts';
import type { BatchRecord } from '../../../domain/ports/ledger/batch-record.ts';
import type { Invoice } from '../../../domain/invoice.ts';
import { CONTRADICTION_TEXTS } from '../../../texts/contradictions.ts';
import { findingsTable } from '../batch-tables.ts';
import { invoiceHistory } from './invoice-history.ts';
import { reconcileForm, SETTLED_BY_POLLING } from '../../forms/reconcile-form.ts';
import { requestList } from './request-list.ts';
import { retryInvoiceForm } from '../../forms/retry-form.ts';
import type { PageFormat } from '../page-format.ts';
import type { Html } from '../page-layout.ts';
import { toneOf } from '../state-counts.ts';

export interface InvoicePage {
  readonly batch: BatchRecord;
  readonly details: InvoiceDetails;
  readonly canRetry: boolean;
  readonly canReconcile: boolean;
  /** What the operator has just done. */
  readonly done: Html;
}

/** One invoice: how it stands and why, what the file says, what was sent, what came back, in the order of a phone call about it. */
export function invoicePage(format: PageFormat, page: InvoicePage): Html {
  const { batch, details, done } = page;
  const { texts, language } = format;
  const { line, content } = details;
  const { contradictions = [] } = line;
  const tone = contradictions.length > 0 ? 'bad' : toneOf(line.state);
  return html`<p><a href="/batches/${encodeURIComponent(batch.batchId)}">← ${batch.file}</a></p>
    <h1>${texts.invoice.title} ${line.ref}</h1>
    ${done}
    <section class="verdict ${tone}">
      <p class="big">
        <span class="state ${toneOf(line.state)}">${line.state}</span> <strong>${texts.states[line.state]}</strong>
      </p>
      ${line.reason === null ? '' : html`<p>${line.reason.message} <span class="mono soft">${line.reason.code}</span></p>`}
      ${contradictions.map((flag) => html`<p><strong>${CONTRADICTION_TEXTS[language].flags[flag]}</strong></p>`)}
      ${line.flags.length === 0 ? '' : html`<p>${texts.invoice.flags}: <span class="mono">${line.flags.join(', ')}</span></p>`}
    </section>
    ${facts(format, page)}
    <h2>${texts.invoice.lines}</h2>
    ${content === null ? html`<p>${texts.invoice.noContent}</p>` : contentTable(format, content)}
    ${findingsTable(format, line.findings, texts.dryRun.findings)} ${invoiceHistory(format, details)}
    ${requestList(format, details.generations)} ${openForms(format, page)}`;
}

/** What an operator can do about this one. */
function openForms(format: PageFormat, { batch, details: { line }, canRetry, canReconcile }: InvoicePage): Html {
  const { batchId } = batch;
  const page = `/batches/${encodeURIComponent(batchId)}/invoices/${line.ordinal}`;
  return html`${canReconcile && SETTLED_BY_POLLING.includes(line.state) ? reconcileForm(format, page) : ''}
  ${canRetry ? retryInvoiceForm(format, { batchId, ordinal: line.ordinal, state: line.state }) : ''}`;
}

function facts({ texts, money }: PageFormat, { batch, details: { line, content, batches } }: InvoicePage): Html {
  const others = batches.filter(({ batchId }) => batchId !== batch.batchId);
  const fact = (name: string, value: string | Html) =>
    html`<dt>${name}</dt>
      <dd>${value}</dd>`;
  return html`<dl>
    ${fact(texts.merchant, line.merchantNif)}
    ${content === null ? '' : fact(texts.customer, [content.customer.name, content.customer.taxId].filter((part) => part !== null).join(', '))}
    ${line.net === null ? '' : fact(texts.net, html`<strong>${money(line.net)} ${line.currency ?? ''}</strong>`)}
    ${fact(texts.rows, line.rows.join(', '))}
    ${line.serviceId === null ? '' : fact(texts.serviceId, html`<span class="mono">${line.serviceId}</span>`)}
    ${
      others.length === 0
        ? ''
        : fact(
            texts.invoice.alsoIn,
            html`${others.map(({ batchId, file, ordinal }) => html`<a href="/batches/${encodeURIComponent(batchId)}/invoices/${ordinal}">${file}</a> `)}`,
          )
    }
  </dl>`;
}

function contentTable({ texts, amount, money }: PageFormat, { lines, currency }: Invoice): Html {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${texts.invoice.lines}">
    <table>
      <thead>
        <tr>
          <th scope="col">${texts.invoice.description}</th>
          <th scope="col" class="number">${texts.invoice.quantity}</th>
          <th scope="col" class="number">${texts.invoice.unitPrice} (${currency})</th>
          <th scope="col">${texts.invoice.taxCode}</th>
        </tr>
      </thead>
      <tbody>
        ${lines.map(
          ({ description, quantity, unitPrice, taxCode }) =>
            html`<tr>
              <td class="text">${description}</td>
              <td class="number">${amount(quantity)}</td>
              <td class="number">${money(unitPrice)}</td>
              <td>${taxCode}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}
