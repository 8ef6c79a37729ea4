import { type Context, Hono } from 'hono';
import { batchOutcomes, shortfallOf } from '../../domain/batch-outcomes.ts';
import { OPEN_STATES, OUTCOMES } from '../../domain/invoice-state.ts';
import { currencyTotals, everyCountByOutcome, issuedCount, settledCount } from '../../domain/outcome-counts.ts';
import type { BatchInvoice, BatchRecord } from '../../domain/records/batch-record.ts';
import { awaitsConfirmation } from '../../domain/records/total-check.ts';
import { fill } from '../../texts/fill.ts';
import { facts, html, table, type HtmlValue, type Row, type SafeHtml } from '../../texts/html.ts';
import {
  doubtRefs,
  doubtSentence,
  outcomeVerdict,
  reasonLines,
  STATE_ORDER,
  stateBar,
  stateLegend,
  stateMark,
  totalsTable,
} from '../../texts/outcomes/outcome-html.ts';
import type { BatchWatch, ConsoleOptions, Operation } from '../console-options.ts';
import { workflowAddress, type PageAnswers, type PageFormat } from '../http/page-answers.ts';
import { reportFileAnswer, reportFiles } from '../http/report-downloads.ts';
import {
  batchAddress,
  batchTone,
  firstFindings,
  isLive,
  listPages,
  listPart,
  misfitNote,
  notOutOf,
  PROBLEM_STATES,
  reasonField,
  reconcileForm,
  retryBatchForm,
  SETTLED_BY_POLLING,
  type StateCounts,
  totalForm,
  uploadForm,
} from '../pages/page-parts.ts';
import { actionsFor, noteAct } from '../http/people.ts';
import { doneNote } from './operate-routes.ts';

/** Serves one batch and the files of its report. */
export function batchRoutes(options: ConsoleOptions, pages: PageAnswers): Hono {
  const { ledger, application = 'default', reportsDir } = options;
  const batchPageAt = pages.page(async (context, format) => {
    const { id = '' } = context.req.param();
    const { started, ...query } = context.req.query();
    const batch = await ledger.findBatch(id);
    if (batch !== null) {
      const page = await readBatchPage(context, batch, options);
      const content = batchPage(format, page, doneNote(format, query));
      // The batch ends a moment before its report is written: a page that stopped reloading then would never show the report.
      return { title: batch.file, content, live: isLive(batch) || page.reports.length === 0 };
    }
    if (started === undefined) return null;
    // The batch was started a moment ago: the worker has not read it yet, or knows its bytes as another batch.
    const known = await ledger.batchOfFile(application, started);
    if (known !== null) return context.redirect(batchAddress(known.batchId), 303);
    const content = html`<h1>${id}</h1>
      <p role="status">${format.texts.waitingForWorker}</p>`;
    return { title: id, content, live: true };
  });

  const reportFile = pages.page(async (context) => {
    const { id = '', name = '' } = context.req.param();
    const batch = await ledger.findBatch(id);
    if (batch === null || !(await reportFiles(reportsDir, id)).includes(name)) return null;
    await noteAct(context, options.people, [id], { what: 'download', why: name });
    return reportFileAnswer(reportsDir, id, name);
  });

  return new Hono().get('/:id', batchPageAt).get('/:id/files/:name', reportFile);
}

/** States in which invoices wait for an answer that a wrong profile may keep from them. */
const WAITING_STATES = ['unsettled', 'unknown', 'held'] as const;

type BatchPage = Awaited<ReturnType<typeof readBatchPage>>;

/** Reads everything that the page of a batch shows to this caller. */
async function readBatchPage(context: Context, batch: BatchRecord, options: ConsoleOptions) {
  const { ledger } = options;
  const actions = actionsFor(context, options.actions);
  const { batchId } = batch;
  const outcomes = await batchOutcomes(ledger, batchId);
  const counts = everyCountByOutcome(outcomes);
  const view = invoiceView(counts, context.req.query());
  const fileFindings = await ledger.fileFindings(batchId);
  const contradicted = (await ledger.contradictedInvoices([batchId])).get(batchId);
  const mayMisfit = isLive(batch) || WAITING_STATES.some((state) => counts[state] > 0);
  return {
    ...{ batch, outcomes, counts, view, fileFindings, canAct: actions !== undefined },
    shortfall: shortfallOf(batch, fileFindings, contradicted),
    invoices: await ledger.invoicesWith(batchId, {
      ...{ outcomes: view.states, after: 0 },
      ...{ skip: (view.page - 1) * WINDOW_SIZE, limit: WINDOW_SIZE },
    }),
    reports: await reportFiles(options.reportsDir, batchId),
    temporalUi: workflowAddress(options.links, batch.workflowId),
    watch: isLive(batch) ? ((await actions?.watch(batch.workflowId)) ?? null) : null,
    misfits: mayMisfit ? ((await options.misfits?.()) ?? []) : [],
    total: await ledger.totalCheck(batchId),
    audited: (await ledger.auditOf(batchId)).length,
  };
}

/** Renders one batch: its state, its problems, then each invoice. `done` says what an operation did. */
function batchPage(format: PageFormat, page: BatchPage, done: SafeHtml): SafeHtml {
  const { texts } = format;
  const { batch, counts, shortfall, watch, total } = page;
  const { batchId } = batch;
  const held = isLive(batch) && awaitsConfirmation(total);
  const tone = held ? 'open' : batchTone(batch, notOutOf(batch, counts), shortfall);
  return html`<h1>${batch.file}</h1>
    ${done}
    <section class="verdict ${tone}">
      <p><span class="state ${tone}">${held ? texts.total.state : texts.batchStates[batch.state]}</span></p>
      ${verdict(format, page)}
      ${isLive(batch) ? html`<p class="soft">${texts.live}</p>` : ''} ${downloads(format, page)}
    </section>
    ${held && total !== null ? totalForm(format, { batchId, saved: total, canConfirm: watch !== null && !watch.cancelled }) : ''}
    ${misfitNote(format, page.misfits)} ${stateBar(counts)}
    <h2 class="unseen">${texts.balance}</h2>
    ${stateLegend(counts, format)} ${isLive(batch) ? progressWords(format, page) : ''}
    ${watch === null ? '' : operationsForm(format, batchAddress(batch.batchId), watch)}
    ${totalsTable(format, currencyTotals(page.outcomes))} ${openForms(format, page)}
    ${firstFindings(format, page.fileFindings, texts.fileFindings)}
    ${invoiceList(format, page)}
    ${aboutBatch(format, page)}`;
}

const MOST_REFUSALS = 3;

/** Says in one sentence whether every invoice went out. Also names doubt and lost rows of a running batch. */
function verdict(format: PageFormat, { batch, fileFindings, counts, shortfall }: BatchPage): SafeHtml {
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

function openForms(format: PageFormat, { batch, counts, canAct }: BatchPage): SafeHtml {
  if (!canAct || isLive(batch)) return html``;
  const open = SETTLED_BY_POLLING.some((state) => counts[state] > 0);
  return html`${open ? reconcileForm(format, batchAddress(batch.batchId)) : ''} ${retryBatchForm(format, batch.batchId, counts)}`;
}

function progressWords(format: PageFormat, { batch, counts }: BatchPage): SafeHtml {
  const { texts, count, duration } = format;
  const settled = counts.issued + counts.failed + counts.rejected;
  const left = OPEN_STATES.reduce((sum, state) => sum + counts[state], 0);
  const perMs = settled / Math.max(1, Date.now() - batch.startedAt);
  const rate = perMs * 1_000 >= 10 ? Math.round(perMs * 1_000) : Math.round(perMs * 10_000) / 10;
  if (batch.state !== 'running' || settled === 0 || left === 0) return html``;
  return html`<p class="rate">${fill(texts.rate.settled, { n: count(rate) })} <strong>${fill(texts.rate.left, { time: duration(left / perMs) })}</strong></p>`;
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
    [
      texts.audit.title,
      audited === 0 ? null : html`<a href="${batchAddress(batch.batchId)}/audit">${count(audited)}</a>`,
    ],
    ['Id', html`<span class="mono">${batch.batchId}</span>`],
    ['SHA-256', html`<span class="mono">${batch.sha256}</span>`],
    ['Temporal', temporalUi === null ? null : html`<a href="${temporalUi}">${texts.temporalUi}</a>`],
  ];
  return html`<h2>${texts.details}</h2>
    ${facts(lines)}`;
}

function operationsForm({ texts }: PageFormat, address: string, watch: BatchWatch): SafeHtml {
  const { operations } = texts;
  const order = (kind: Operation['kind'], label: string, look: string, fields: HtmlValue = '') =>
    html`<form action="${address}/operations" method="post">
      ${fields}
      <button class="${look}" name="kind" value="${kind}">${label}</button>
    </form>`;
  const waits = watch.waitingFor === null ? html`` : html`<p>${operations.waitingFor} ${watch.waitingFor}</p>`;
  if (watch.cancelled) return html`<p>${operations.done.cancelRemaining}</p>${waits}`;
  const pause = order('pause', operations.pause, '', reasonField(texts, 'pause-reason'));
  const cancelFields = html`<p>${operations.cancelNote}</p>${reasonField(texts, 'cancel-reason')}`;
  return html`<section class="card" aria-label="${operations.title}">
    ${watch.paused ? html`<p><strong>${operations.paused}</strong></p>` : ''} ${waits}
    ${watch.paused ? order('resume', operations.resume, 'main') : pause} ${order('settleNow', operations.settleNow, '')}
    <details>
      <summary>${operations.cancel}</summary>
      ${order('cancelRemaining', operations.cancel, 'danger', cancelFields)}
    </details>
    <p class="soft">${operations.reasonNote}</p>
  </section>`;
}

const REPORT_KINDS = {
  corrections: /^corrections/u,
  html: /^report\.html$/u,
  csv: /^report\.csv$/u,
  json: /^report\.json$/u,
};
const ORDER = ['corrections', 'html', 'csv', 'json'] as const;

/** Renders links to the report's files: first those to correct, then to read, then to keep. Adds an upload for corrected rows if the reader may act. */
function downloads(format: PageFormat, { batch, reports, canAct }: BatchPage): SafeHtml {
  const { texts } = format;
  if (reports.length === 0) return isLive(batch) ? html`` : html`<p class="soft">${texts.noReport}</p>`;
  const kinds = ORDER.flatMap((kind) =>
    reports.filter((name) => REPORT_KINDS[kind].test(name)).map((name) => ({ kind, name })),
  );
  const corrections = kinds.some(({ kind }) => kind === 'corrections');
  return html`${corrections ? html`<p>${texts.useCorrections}</p>` : ''}
    <ul class="plain buttons">
      ${kinds.map(({ kind, name }) => html`<li><a class="button" href="${batchAddress(batch.batchId)}/files/${name}">${texts.reportFiles[kind]}</a></li>`)}
    </ul>
    ${corrections && canAct ? uploadForm(format) : ''}`;
}

/** Number of rows before an ellipsis: an invoice of a thousand lines must not fill the page. */
const MOST_ROWS = 8;

/** Renders one page of invoices, with the choice of states above and the other pages below. */
function invoiceList(format: PageFormat, page: BatchPage): SafeHtml {
  const { texts } = format;
  const { heads } = texts;
  const { batch, view, invoices } = page;
  if (batch.invoices === 0) return html``;
  const columns = [
    ...[heads.reference, heads.merchant, heads.state, { number: heads.net }],
    ...[heads.rows, { text: heads.reason }, { mono: heads.serviceId }, { number: texts.attempts }],
  ];
  const rows = invoices.map((invoice) => invoiceRow(format, batch, invoice));
  return html`<h2 id="invoices">${heads.invoices}</h2>
    ${choices(format, page)}
    ${invoices.length === 0 ? html`<p>${texts.noInvoices}</p>` : table(heads.invoices, columns, rows)}
    ${listPages(format, view, (other) => listAddress(batch, view.show, other))}`;
}

function choices({ texts, count }: PageFormat, { batch, counts, view }: BatchPage): SafeHtml {
  const sum = (states: readonly (keyof StateCounts)[]) => states.reduce((total, state) => total + counts[state], 0);
  const offered: readonly (readonly [show: string, label: string, invoices: number])[] = [
    ['problems', texts.problems, sum(PROBLEM_STATES)],
    ['all', texts.all, sum(STATE_ORDER)],
    ...STATE_ORDER.filter((state) => counts[state] > 0).map((state) => [state, state, counts[state]] as const),
  ];
  return html`<ul class="plain">
    ${offered.map(
      ([show, label, invoices]) =>
        html`<li>
          <a href="${listAddress(batch, show, 1)}" ${show === view.show ? html`aria-current="true"` : ''}>${label} (${count(invoices)})</a>
        </li>`,
    )}
  </ul>`;
}

function listAddress(batch: BatchRecord, show: string, page: number): string {
  return `${batchAddress(batch.batchId)}?show=${show}&page=${page}#invoices`;
}

function invoiceRow(format: PageFormat, batch: BatchRecord, invoice: BatchInvoice): Row {
  const { ordinal, ref, merchantNif, state, net, currency, rows, serviceId, attempts } = invoice;
  return [
    html`<a href="${batchAddress(batch.batchId)}/invoices/${ordinal}">${ref}</a>`,
    ...[merchantNif, stateMark(state)],
    net === null ? '' : `${format.money(net)} ${currency ?? ''}`,
    `${rows.slice(0, MOST_ROWS).join(', ')}${rows.length > MOST_ROWS ? ', …' : ''}`,
    ...[reasonLines(format, invoice), serviceId ?? '', format.count(attempts)],
  ];
}

/** Number of invoices on one page of a list: with a long reason beside each, the page stays below 100 kB. */
const WINDOW_SIZE = 50;
const VIEWS = ['problems', 'all', ...OUTCOMES] as const;

/** Reads `?show=` and `?page=`; by default the page shows problems first, if there are any. */
function invoiceView(counts: StateCounts, query: Readonly<Record<string, string>>) {
  const usual = PROBLEM_STATES.some((problem) => counts[problem] > 0) ? 'problems' : 'all';
  const show = VIEWS.find((view) => view === query['show']) ?? usual;
  const states = show === 'all' ? OUTCOMES : show === 'problems' ? PROBLEM_STATES : [show];
  const total = states.reduce((sum, state) => sum + counts[state], 0);
  return { show, states: new Set(states), ...listPart(total, WINDOW_SIZE, query['page']) };
}
