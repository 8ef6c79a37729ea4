import { shortfallOf, type FileShortfall } from '../../domain/batch-outcomes.ts';
import { currencyTotals, everyCountByOutcome, issuedCount, settledCount } from '../../domain/outcome-counts.ts';
import type { Finding } from '../../domain/invoice.ts';
import { OPEN_STATES } from '../../domain/invoice-state.ts';
import type { ProfileMisfit } from '../../domain/profile-misfit.ts';
import type { BatchInvoice, BatchRecord, Contradicted, OutcomeCount } from '../../domain/records/batch-record.ts';
import { awaitsConfirmation, type SavedTotalCheck } from '../../domain/records/total-check.ts';
import { fill } from '../../texts/fill.ts';
import { facts, html, type HtmlValue, type SafeHtml } from '../../texts/html.ts';
import {
  doubtRefs,
  doubtSentence,
  outcomeVerdict,
  stateBar,
  stateLegend,
  totalsTable,
} from '../../texts/outcomes/outcome-html.ts';
import type { BatchWatch } from '../console-options.ts';
import {
  reasonField,
  reconcileForm,
  retryBatchForm,
  SETTLED_BY_POLLING,
  uploadForm,
  totalForm,
} from '../forms/forms.ts';
import type { PageFormat } from './page-format.ts';
import { invoiceList, type InvoiceView } from './invoices/invoice-list.ts';
import { firstFindings, misfitNote } from './notes.ts';
import { batchTone, isLive, notOutOf, type StateCounts } from './state-counts.ts';

export interface BatchPage {
  readonly batch: BatchRecord;
  readonly counts: readonly OutcomeCount[];
  readonly view: InvoiceView;
  readonly invoices: readonly BatchInvoice[];
  readonly fileFindings: readonly Finding[];
  readonly contradicted: Contradicted | undefined;
  readonly reports: readonly string[];
  readonly temporalUi: string | null;
  readonly watch: BatchWatch | null;
  /** Why the batch waits, for a reader without the form of operations, which says it too; null if the batch goes on. */
  readonly waitingFor: string | null;
  /** Epoch milliseconds. */
  readonly now: number;
  /** Misfits of the service profile that may be why the batch is not settled. */
  readonly misfits: readonly ProfileMisfit[];
  readonly total: SavedTotalCheck | null;
  readonly canCheck: boolean;
  readonly canRetry: boolean;
  readonly canReconcile: boolean;
  readonly audited: number;
  readonly done: SafeHtml;
}

/** Renders one batch: its state, its problems, then each invoice. */
export function batchPage(format: PageFormat, page: BatchPage): SafeHtml {
  const { texts } = format;
  const { batch, done, watch } = page;
  const counts = everyCountByOutcome(page.counts);
  const held = isLive(batch) && awaitsConfirmation(page.total);
  const shortfall = shortfallOf(batch, page.fileFindings, page.contradicted);
  const tone = held ? 'open' : batchTone(batch, notOutOf(batch, counts), shortfall);
  return html`<h1>${batch.file}</h1>
    ${done}
    <section class="verdict ${tone}">
      <p><span class="state ${tone}">${held ? texts.total.state : texts.batchStates[batch.state]}</span></p>
      ${verdict(format, page, { counts, shortfall })}
      ${isLive(batch) ? html`<p class="soft">${texts.live}</p>` : ''} ${downloads(format, page)}
    </section>
    ${held && page.total !== null ? totalForm(format, { batchId: batch.batchId, saved: page.total, canConfirm: watch !== null && !watch.cancelled }) : ''}
    ${misfitNote(format, page.misfits)} ${stateBar(counts)}
    <h2 class="unseen">${texts.balance}</h2>
    ${stateLegend(counts, format)} ${isLive(batch) ? progressWords(format, page, counts) : ''}
    ${watch === null || !isLive(batch) ? '' : operationsForm(format, { batchId: batch.batchId, watch })}
    ${totalsTable(format, currencyTotals(page.counts))} ${openForms(format, page, counts)}
    ${firstFindings(format, page.fileFindings, texts.fileFindings)}
    ${batch.invoices === 0 ? '' : invoiceList(format, { batchId: batch.batchId, counts, view: page.view, invoices: page.invoices })}
    ${aboutBatch(format, page)}`;
}

const MOST_REFUSALS = 3;

/** Says in one sentence whether every invoice went out. Also names doubt and lost rows of a running batch. */
function verdict(
  format: PageFormat,
  { batch, fileFindings }: BatchPage,
  { counts, shortfall }: { readonly counts: StateCounts; readonly shortfall: FileShortfall },
): SafeHtml {
  const { plural, count } = format;
  const { verdicts } = format.texts;
  const { state, invoices } = batch;
  if (state === 'finished' || state === 'cancelled')
    return outcomeVerdict(format, { ...shortfall, invoices, issued: issuedCount(counts) });
  const running = fill(verdicts.running, { n: count(settledCount(counts)), of: count(invoices) });
  const refusals = state === 'refused' ? fileFindings.filter(({ severity }) => severity === 'error') : [];
  const lines = [
    ...doubtSentence(format, shortfall),
    ...refusals.slice(0, MOST_REFUSALS).map(({ message }) => message),
    ...(shortfall.rowsLost === 0 ? [] : [plural(verdicts.rowsLeft, shortfall.rowsLost)]),
  ];
  return html`<p class="big"><strong>${state === 'refused' || state === 'staging' ? verdicts[state] : running}</strong></p>
    ${lines.map((line) => html`<p>${line}</p>`)}${doubtRefs(format, shortfall)}`;
}

function openForms(format: PageFormat, { batch, canRetry, canReconcile }: BatchPage, counts: StateCounts): SafeHtml {
  const open = SETTLED_BY_POLLING.some((state) => counts[state] > 0);
  return html`${canReconcile && open && !isLive(batch) ? reconcileForm(format, addressOf(batch)) : ''}
  ${canRetry && !isLive(batch) ? retryBatchForm(format, batch.batchId, counts) : ''}`;
}

function progressWords(format: PageFormat, { batch, now, waitingFor }: BatchPage, counts: StateCounts): SafeHtml {
  const { texts, count, duration } = format;
  const settled = counts.issued + counts.failed + counts.rejected;
  const left = OPEN_STATES.reduce((sum, state) => sum + counts[state], 0);
  const perMs = settled / Math.max(1, now - batch.startedAt);
  const rate = perMs * 1_000 >= 10 ? Math.round(perMs * 1_000) : Math.round(perMs * 10_000) / 10;
  const words =
    batch.state !== 'running' || settled === 0 || left === 0
      ? ''
      : html`${fill(texts.rate.settled, { n: count(rate) })} <strong>${fill(texts.rate.left, { time: duration(left / perMs) })}</strong>`;
  const waits = waitingFor === null ? '' : `${texts.operations.waitingFor} ${waitingFor}. `;
  return waits === '' && words === '' ? html`` : html`<p class="rate">${waits}${words}</p>`;
}

function aboutBatch(format: PageFormat, { batch, temporalUi, audited }: BatchPage): SafeHtml {
  const { texts, count, time } = format;
  const { heads } = texts;
  const lines: readonly (readonly [string, HtmlValue | null])[] = [
    [heads.rows, count(batch.rows)],
    [texts.rowsWithoutInvoice, count(batch.rowsWithoutInvoice)],
    [heads.invoices, count(batch.invoices)],
    [texts.started, time(batch.startedAt)],
    [texts.finished, batch.finishedAt === null ? null : time(batch.finishedAt)],
    [texts.audit.title, audited === 0 ? null : html`<a href="${addressOf(batch)}/audit">${count(audited)}</a>`],
    ['Id', html`<span class="mono">${batch.batchId}</span>`],
    ['SHA-256', html`<span class="mono">${batch.sha256}</span>`],
    ['Temporal', temporalUi === null ? null : html`<a href="${temporalUi}">${texts.temporalUi}</a>`],
  ];
  return html`<h2>${texts.details}</h2>
    ${facts(lines)}`;
}

function addressOf({ batchId }: Pick<BatchRecord, 'batchId'>): string {
  return `/batches/${encodeURIComponent(batchId)}`;
}

interface OperationsForm {
  readonly batchId: string;
  readonly watch: BatchWatch;
}

function operationsForm({ texts, action: actionOf }: PageFormat, { batchId, watch }: OperationsForm): SafeHtml {
  const { operations } = texts;
  const action = actionOf(`/batches/${encodeURIComponent(batchId)}/operations`);
  const waits = watch.waitingFor === null ? html`` : html`<p>${operations.waitingFor} ${watch.waitingFor}</p>`;
  if (watch.cancelled) return html`<p>${operations.done.cancelRemaining}</p>${waits}`;
  return html`<section class="card" aria-label="${operations.title}">
    ${watch.paused ? html`<p><strong>${operations.paused}</strong></p>` : ''} ${waits}
    ${
      watch.paused
        ? html`<form action="${action}" method="post">
            <button class="main" name="kind" value="resume">${operations.resume}</button>
          </form>`
        : html`<form action="${action}" method="post">
            ${reasonField(texts, 'pause-reason')}
            <button name="kind" value="pause">${operations.pause}</button>
          </form>`
    }
    <form action="${action}" method="post">
      <button name="kind" value="settleNow">${operations.settleNow}</button>
    </form>
    <details>
      <summary>${operations.cancel}</summary>
      <form action="${action}" method="post">
        <p>${operations.cancelNote}</p>
        ${reasonField(texts, 'cancel-reason')}
        <button class="danger" name="kind" value="cancelRemaining">${operations.cancel}</button>
      </form>
    </details>
    <p class="soft">${operations.reasonNote}</p>
  </section>`;
}

const ORDER = ['corrections', 'html', 'csv', 'json'] as const;

/** Renders links to the report's files in the order correct, read, keep, and an upload for corrected rows if this process can check files. */
function downloads(format: PageFormat, { batch, reports, canCheck }: BatchPage): SafeHtml {
  const { texts } = format;
  if (reports.length === 0) return isLive(batch) ? html`` : html`<p class="soft">${texts.noReport}</p>`;
  const kinds = ORDER.flatMap((kind) =>
    reports.filter((name) => kindOf(name) === kind).map((name) => ({ kind, name })),
  );
  const corrections = kinds.some(({ kind }) => kind === 'corrections');
  return html`${corrections ? html`<p>${texts.useCorrections}</p>` : ''}
    <ul class="plain buttons">
      ${kinds.map(({ kind, name }) => html`<li><a class="button" href="${addressOf(batch)}/files/${name}">${texts.reportFiles[kind]}</a></li>`)}
    </ul>
    ${corrections && canCheck ? uploadForm(format) : ''}`;
}

function kindOf(name: string): (typeof ORDER)[number] {
  if (name.startsWith('corrections')) return 'corrections';
  return name.endsWith('.html') ? 'html' : name.endsWith('.csv') ? 'csv' : 'json';
}
