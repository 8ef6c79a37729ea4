import { OUTCOMES, wentOut } from '../../../domain/invoice-state.ts';
import { toneOf, stateBar } from './state-bar.ts';
import { html, type SafeHtml } from './html.ts';
import type { ReportModel } from '../../report-model.ts';
import { sumDecimals } from '../../../domain/money.ts';
import { shownMoney } from './grouped-digits.ts';
import { DOERS, STATE_ORDER, STATE_TEXTS, type Doer } from '../../report-texts.ts';

/** Did everything go out; if not, how many did not, why, and what to do next. */
export function firstScreen(model: ReportModel, corrections: string | null): SafeHtml {
  const { batch } = model;
  return html`<header>
      <h1>${batch.file}</h1>
      <p class="soft">
        Batch <span class="mono">${batch.id}</span>,
        ${batch.state}${batch.application === 'default' ? '' : `, application ${batch.application}`}. Started
        ${shortTime(batch.startedAt)}${batch.finishedAt === null ? '' : `, finished ${shortTime(batch.finishedAt)}`}.
        Report ${batch.revision}, written ${shortTime(batch.writtenAt)}.
      </p>
    </header>
    <section class="verdict ${verdictTone(model)}" aria-label="Outcome">
      <p class="big"><strong>${verdict(model)}</strong></p>
      ${moneyOut(model)}
      ${nextSteps(model, corrections)}
    </section>
    ${stateBar(model.counts)}`;
}

function verdictTone(model: ReportModel): string {
  if (model.everythingIssued) return 'good';
  if (model.batch.state === 'refused') return 'bad';
  const present = OUTCOMES.filter((state) => model.counts[state] > 0).map(toneOf);
  if (present.includes('bad') || model.fileFindings.some(({ severity }) => severity === 'error')) return 'bad';
  return present.includes('open') ? 'open' : 'under-way';
}

function verdict({ batch, counts, everythingIssued }: ReportModel): string {
  if (batch.state === 'refused') return 'The file was refused. Nothing was sent.';
  if (everythingIssued) return `Everything went out: ${count(counts.invoices)}, ${rowCount(counts.rows)}.`;
  const out = OUTCOMES.filter(wentOut).reduce((sum, state) => sum + counts[state], 0);
  const missing = counts.invoices - out;
  if (missing === 0)
    return `All ${count(counts.invoices)} went out, but some rows could not be taken for an invoice. See "The file" below.`;
  return `Not everything went out: ${missing} of ${count(counts.invoices)} did not.`;
}

function nextSteps(model: ReportModel, corrections: string | null): SafeHtml {
  if (model.batch.state === 'refused') {
    const errors = model.fileFindings.filter(({ severity }) => severity === 'error').slice(0, MOST_ERRORS);
    return html`<ul>
        ${errors.map(({ row, message }) => html`<li>${row === null || message.startsWith(`Row ${row}`) ? '' : `Row ${row}: `}${message}</li>`)}
      </ul>
      <p>What to do next: correct the file and drop it again.</p>`;
  }
  return html`${DOERS.map(([who, name]) => tasksOf(model, who, name))}
  ${corrections === null ? '' : html`<p>Corrections file: <a href="${corrections}">${corrections}</a> holds every row that the back office can correct, with${corrections.endsWith('.xlsx') ? ' each wrong cell marked, a note that says why, and' : ''} the reason at its end.</p>`}
  ${model.notes.map((note) => html`<p>${note}</p>`)}
  ${model.misfits.map(({ message }) => html`<p>Alert: the service profile does not fit the service. ${message}</p>`)}`;
}

/** What one of them has to do, the most urgent state first. */
function tasksOf({ counts }: ReportModel, who: Doer, name: string): SafeHtml {
  const tasks = STATE_ORDER.toReversed().flatMap((state) => {
    const { next } = STATE_TEXTS[state];
    return counts[state] > 0 && next?.who === who ? [{ state, what: next.what }] : [];
  });
  if (tasks.length === 0) return html``;
  return html`<h2 class="doer">${name}</h2>
    <ul class="tasks">
      ${tasks.map(({ state, what }) => html`<li><span class="state ${toneOf(state)}">${state}</span> ${count(counts[state])}. ${what}</li>`)}
    </ul>`;
}

/** By currency: what of the file's money went out. Said only where there is a difference to see. */
function moneyOut({ totals, everythingIssued, batch }: ReportModel): SafeHtml {
  if (batch.state === 'refused') return html``;
  const lines = totals.flatMap(({ currency, net, byState }) => {
    if (currency === null) return [];
    const out = shownMoney(sumDecimals(OUTCOMES.filter(wentOut).map((state) => byState[state] ?? '0')));
    return [everythingIssued ? `${out} ${currency}` : `${out} of ${shownMoney(net)} ${currency}`];
  });
  return lines.length === 0 ? html`` : html`<p>Went out, net without tax: ${lines.join('; ')}.</p>`;
}

/** A refused file has one cause or a page of like ones; the rest stands under "The file". */
const MOST_ERRORS = 10;

/** `2026-05-01 11:59 UTC`: a report is read in the morning, seconds stand in report.json. */
function shortTime(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`;
}

function count(invoices: number): string {
  return invoices === 1 ? '1 invoice' : `${invoices} invoices`;
}

function rowCount(rows: number): string {
  return rows === 1 ? '1 row' : `${rows} rows`;
}
