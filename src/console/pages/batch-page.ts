import { shortfallOf } from '../../domain/batch-outcomes.ts';
import { html } from 'hono/html';
import type { Finding } from '../../domain/invoice.ts';
import type { ProfileMisfit } from '../../domain/profile-misfit.ts';
import type { BatchInvoice, BatchRecord, Contradicted, OutcomeCount } from '../../domain/ports/ledger/batch-record.ts';
import { findingsTable, totalsTable } from './batch-tables.ts';
import type { BatchWatch, StuckBatch } from '../console-options.ts';
import { awaitsConfirmation, type SavedTotalCheck } from '../../domain/ports/ledger/total-ledger.ts';
import { comparedText, totalForm } from '../forms/total-form.ts';
import { fill } from '../../texts/fill.ts';
import { downloads } from '../http/downloads.ts';
import { invoiceList } from './invoices/invoice-list.ts';
import type { InvoiceView } from './invoices/invoice-view.ts';
import { misfitNote } from './misfit-note.ts';
import { operationsForm } from '../forms/operations-form.ts';
import type { PageFormat } from './page-format.ts';
import type { Html } from './page-layout.ts';
import { pacePicture, type PacePicture } from '../pace/pace-picture.ts';
import { progressBar } from './progress-bar.ts';
import { reconcileForm, SETTLED_BY_POLLING } from '../forms/reconcile-form.ts';
import { retryBatchForm } from '../forms/retry-form.ts';
import { notOutOf, STATE_ORDER, stateCounts, toneOf } from './state-counts.ts';
import type { StateCounts } from './state-counts.ts';
import { batchTone, isLive, verdict } from './verdict.ts';

export interface BatchPage {
  readonly batch: BatchRecord;
  readonly counts: readonly OutcomeCount[];
  readonly view: InvoiceView;
  readonly invoices: readonly BatchInvoice[];
  readonly fileFindings: readonly Finding[];
  /** Invoices that went out and are in doubt; undefined: none. */
  readonly contradicted: Contradicted | undefined;
  readonly reports: readonly string[];
  /** Address of the batch's workflow in the Temporal UI. */
  readonly temporalUi: string | null;
  /** Of a batch that can be paused or cancelled here. */
  readonly watch: BatchWatch | null;
  /** How a running batch goes; null: it does not run, or is still being read. */
  readonly pace: PacePicture | null;
  /** Its run does not go on; null: it does, or nobody knows. */
  readonly stuck: StuckBatch | null;
  /** What does not fit the service profile, while that may be why the batch is not settled. */
  readonly misfits: readonly ProfileMisfit[];
  /** Null: its total was never checked. */
  readonly total: SavedTotalCheck | null;
  /** A file can be checked and started here. */
  readonly canCheck: boolean;
  readonly canRetry: boolean;
  readonly canReconcile: boolean;
  /** How often somebody did something to it by hand. */
  readonly audited: number;
  /** Whose batch it is, where there are several applications; else null. */
  readonly application: string | null;
  /** What the operator has just done. */
  readonly done: Html;
}

/** One batch: how it stands, what is wrong first, then each invoice. */
export function batchPage(format: PageFormat, page: BatchPage): Html {
  const { texts } = format;
  const { batch, done, watch, stuck } = page;
  const counts = stateCounts(page.counts);
  const held = isLive(batch) && awaitsConfirmation(page.total);
  const shortfall = shortfallOf(batch, page.fileFindings, page.contradicted);
  const ownTone = batchTone(batch, notOutOf(batch, counts), shortfall);
  const tone = stuck === null ? (held ? 'open' : ownTone) : 'bad';
  return html`<h1>${batch.file}</h1>
    ${done}
    <section class="verdict ${tone}">
      <p><span class="state ${tone}">${stateText(format, page, held)}</span></p>
      ${stuck === null ? '' : html`<p role="alert">${fill(texts.stuck.sentence, { cause: stuck.cause, n: String(stuck.attempts), workflow: stuck.workflowId })}</p>`}
      ${verdict(format, { batch, counts, shortfall, fileFindings: page.fileFindings })}
      ${isLive(batch) ? html`<p class="soft">${texts.live}</p>` : ''} ${downloads(format, batch, { files: page.reports, canCheck: page.canCheck })}
    </section>
    ${held && page.total !== null ? totalForm(format, { batchId: batch.batchId, saved: page.total, canConfirm: watch !== null && !watch.cancelled }) : ''}
    ${misfitNote(format, page.misfits)} ${progressBar(counts)} ${balance(format, counts)}
    ${page.pace === null ? '' : pacePicture(format, page.pace)}
    ${watch === null || !isLive(batch) ? '' : operationsForm(format, { batchId: batch.batchId, watch })}
    ${totalsTable(format, page.counts)} ${openForms(format, page, counts)} ${findingsTable(format, page.fileFindings, texts.fileFindings)}
    ${batch.invoices === 0 ? '' : invoiceList(format, { batchId: batch.batchId, counts, view: page.view, invoices: page.invoices })}
    ${facts(format, page)}`;
}

function stateText({ texts }: PageFormat, { batch, stuck }: BatchPage, isHeld: boolean): string {
  if (stuck !== null) return texts.stuck.state;
  return isHeld ? texts.total.state : texts.batchStates[batch.state];
}

/** What an operator can do about what is not confirmed as issued. */
function openForms(format: PageFormat, { batch, canRetry, canReconcile }: BatchPage, counts: StateCounts): Html {
  const open = SETTLED_BY_POLLING.some((state) => counts[state] > 0);
  return html`${canReconcile && open && !isLive(batch) ? reconcileForm(format, `/batches/${encodeURIComponent(batch.batchId)}`) : ''}
  ${canRetry && !isLive(batch) ? retryBatchForm(format, batch.batchId, counts) : ''}`;
}

function balance({ count, texts }: PageFormat, counts: StateCounts): Html {
  // In the order of the bar above.
  const present = STATE_ORDER.toReversed().filter((state) => counts[state] > 0);
  if (present.length === 0) return html``;
  return html`<h2 class="unseen">${texts.balance}</h2>
    <ul class="legend">
      ${present.map((state) => html`<li><span class="state ${toneOf(state)}">${state}</span> <strong>${count(counts[state])}</strong> <span class="soft">${texts.states[state]}</span></li>`)}
    </ul>`;
}

function facts(format: PageFormat, { batch, application, temporalUi, audited, total }: BatchPage): Html {
  const { texts, count, time } = format;
  const line = (name: string, value: string | Html) =>
    html`<dt>${name}</dt>
      <dd>${value}</dd>`;
  return html`<h2>${texts.details}</h2>
    <dl>
      ${line(texts.rows, count(batch.rows))} ${line(texts.rowsWithoutInvoice, count(batch.rowsWithoutInvoice))}
      ${line(texts.invoices, count(batch.invoices))} ${line(texts.started, time(batch.startedAt))}
      ${batch.finishedAt === null ? '' : line(texts.finished, time(batch.finishedAt))}
      ${total === null ? '' : line(texts.total.compared.title, comparedText(format, total))}
      ${audited === 0 ? '' : line(texts.audit.title, html`<a href="/batches/${encodeURIComponent(batch.batchId)}/audit">${count(audited)}</a>`)}
      ${application === null ? '' : line(texts.application, application)}
      ${line('Id', html`<span class="mono">${batch.batchId}</span>`)}
      ${line('SHA-256', html`<span class="mono">${batch.sha256}</span>`)}
      ${temporalUi === null ? '' : line('Temporal', html`<a href="${temporalUi}">${texts.openInTemporal}</a>`)}
    </dl>`;
}
