import { html } from 'hono/html';
import type { Finding } from '../domain/invoice.ts';
import type { BatchInvoice, BatchRecord, OutcomeCount } from '../domain/ports/ledger.ts';
import { batchTone } from './batches-page.ts';
import { findingsTable, totalsTable } from './batch-tables.ts';
import { invoiceList } from './invoice-list.ts';
import type { InvoiceView } from './invoice-view.ts';
import type { PageFormat } from './page-format.ts';
import type { Html } from './page-layout.ts';
import { progressBar } from './progress-bar.ts';
import { PROBLEM_STATES, STATE_ORDER, stateCounts, toneOf } from './state-counts.ts';

export interface BatchPage {
  readonly batch: BatchRecord;
  readonly counts: readonly OutcomeCount[];
  readonly view: InvoiceView;
  readonly invoices: readonly BatchInvoice[];
  readonly fileFindings: readonly Finding[];
  readonly reports: readonly string[];
  /** Address of the batch's workflow in the Temporal UI. */
  readonly temporalUi: string | null;
}

/** One batch: how it stands, what is wrong first, then each invoice. */
export function batchPage(format: PageFormat, page: BatchPage): Html {
  const { texts, count } = format;
  const { batch } = page;
  const counts = stateCounts(page.counts);
  const problems = PROBLEM_STATES.reduce((sum, state) => sum + counts[state], 0);
  const present = STATE_ORDER.filter((state) => counts[state] > 0);
  return html`<h1>${batch.file}</h1>
    <p>
      <span class="state ${batchTone(batch, problems)}">${texts.batchStates[batch.state]}</span>
      ${problems === 0 ? '' : html`<strong>${count(problems)} ${texts.needAttention}.</strong>`}
      ${isLive(batch) ? html`<span class="soft">${texts.live}</span>` : ''}
    </p>
    ${facts(format, page)} ${progressBar(counts)}
    ${
      present.length === 0
        ? ''
        : html`<h2>${texts.balance}</h2>
            <ul class="plain">
              ${present.map((state) => html`<li><span class="state ${toneOf(state)}">${state}</span> ${count(counts[state])} <span class="soft">${texts.states[state]}</span></li>`)}
            </ul>`
    }
    ${totalsTable(format, page.counts)} ${findingsTable(format, page.fileFindings)}
    ${batch.invoices === 0 ? '' : invoiceList(format, { batchId: batch.batchId, counts, view: page.view, invoices: page.invoices })}`;
}

/** A batch that may look different in two seconds. */
export function isLive({ state }: BatchRecord): boolean {
  return state === 'staging' || state === 'running' || state === 'paused';
}

function facts({ texts, count, time }: PageFormat, { batch, reports, temporalUi }: BatchPage): Html {
  const base = `/batches/${encodeURIComponent(batch.batchId)}/files`;
  return html`<dl>
    <dt>Id</dt>
    <dd class="mono">${batch.batchId}</dd>
    <dt>SHA-256</dt>
    <dd class="mono">${batch.sha256}</dd>
    <dt>${texts.rows}</dt>
    <dd>${count(batch.rows)}</dd>
    <dt>${texts.rowsWithoutInvoice}</dt>
    <dd>${count(batch.rowsWithoutInvoice)}</dd>
    <dt>${texts.invoices}</dt>
    <dd>${count(batch.invoices)}</dd>
    <dt>${texts.started}</dt>
    <dd>${time(batch.startedAt)}</dd>
    ${
      batch.finishedAt === null
        ? ''
        : html`<dt>${texts.finished}</dt>
            <dd>${time(batch.finishedAt)}</dd>`
    }
    <dt>${texts.report}</dt>
    <dd>
      ${
        reports.length === 0
          ? texts.noReport
          : html`<ul class="plain">
              ${reports.map((name) => html`<li><a href="${base}/${name}">${name}</a></li>`)}
            </ul>`
      }
    </dd>
    ${
      temporalUi === null
        ? ''
        : html`<dt>Temporal</dt>
            <dd><a href="${temporalUi}">${texts.openInTemporal}</a></dd>`
    }
  </dl>`;
}
