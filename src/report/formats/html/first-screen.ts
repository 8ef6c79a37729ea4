import { type Outcome, OUTCOMES, wentOut } from '../../../domain/invoice-state.ts';
import { differingTotals } from '../../../domain/control-totals.ts';
import { sumDecimals } from '../../../domain/money.ts';
import { issuedCount } from '../../../domain/outcome-counts.ts';
import { fill } from '../../../texts/fill.ts';
import { html, type SafeHtml } from '../../../texts/html.ts';
import {
  outcomeVerdict,
  STATE_ORDER,
  stateBar,
  stateLegend,
  stateMark,
  toneOf,
} from '../../../texts/outcomes/outcome-html.ts';
import { problemWords } from '../../../texts/problems/problem-words.ts';
import type { ReportModel } from '../../report-model.ts';
import { noteText, type ReportFormat } from '../../texts/report-format.ts';

/** Did everything go out; if not, how many did not, why, and what to do next. */
export function firstScreen(model: ReportModel, corrections: string | null, format: ReportFormat): SafeHtml {
  const { batch, counts } = model;
  const { texts } = format;
  return html`<header>
      <h1>${batch.file}</h1>
      <p class="soft">
        ${texts.heads.batch} <span class="mono">${batch.id}</span>, ${aboutBatch(model, format)}
      </p>
    </header>
    <section class="verdict ${verdictTone(model)}" aria-label="${texts.verdict.title}">
      ${batch.state === 'refused' ? refused(model, format) : outcome(model, corrections, format)}
    </section>
    ${stateBar(counts)} ${stateLegend(counts, format)}`;
}

/** Times without seconds: a report is read in the morning, seconds stand in report.json. */
function aboutBatch({ batch }: ReportModel, { texts, time, count }: ReportFormat): string {
  const at = (iso: string): string => time(Date.parse(iso));
  const application =
    batch.application === 'default' ? '' : `, ${fill(texts.application, { name: batch.application })}`;
  const started = at(batch.startedAt);
  const times =
    batch.finishedAt === null
      ? fill(texts.started, { started })
      : fill(texts.times, { started, finished: at(batch.finishedAt) });
  const revision = fill(texts.revision, { n: count(batch.revision), time: at(batch.writtenAt) });
  return `${texts.batchStates[batch.state]}${application}. ${times} ${revision}`;
}

function verdictTone(model: ReportModel): string {
  if (model.everythingIssued) return 'good';
  if (model.batch.state === 'refused' || model.contradicted.invoices > 0) return 'bad';
  const present = OUTCOMES.filter((state) => model.counts[state] > 0).map(toneOf);
  if (present.includes('bad') || model.fileFindings.some(({ severity }) => severity === 'error')) return 'bad';
  return present.includes('open') ? 'open' : 'under-way';
}

/** A refused file has one cause or a page of like ones; the rest stands under "The file". */
const MOST_ERRORS = 10;

function refused({ fileFindings }: ReportModel, format: ReportFormat): SafeHtml {
  const { texts } = format;
  const errors = fileFindings.filter(({ severity }) => severity === 'error').slice(0, MOST_ERRORS);
  return html`<p class="big"><strong>${texts.verdicts.refused}</strong></p>
    <ul>
      ${errors.map((error) => html`<li>${rowOf(error, format)}${problemWords(format, error)}</li>`)}
    </ul>
    <p>${texts.verdict.refusedNext}</p>`;
}

function rowOf(
  { row, message }: { readonly row: number | null; readonly message: string },
  { texts, language }: ReportFormat,
): string {
  if (row === null || (language === 'en' && message.startsWith(`Row ${row}`))) return '';
  return fill(texts.verdict.row, { n: String(row) });
}

function outcome(model: ReportModel, corrections: string | null, format: ReportFormat): SafeHtml {
  const { texts } = format;
  const { counts, fileFindings, contradicted } = model;
  return html`${outcomeVerdict(format, {
    ...{ invoices: counts.invoices, issued: issuedCount(counts), rowsLost: counts.rowsLost },
    totalsDiffer: differingTotals(fileFindings),
    ...{ contradicted: contradicted.invoices, contradictedRefs: contradicted.refs },
  })}
  ${moneyOut(model, format)} ${DOERS.map((who) => tasksOf(model, who, format))}
  ${corrections === null ? '' : html`<p>${texts.verdict.corrections} <a href="${corrections}">${corrections}</a> ${texts.verdict.correctionsHold}</p>`}
  ${model.notes.map((note) => html`<p>${noteText(format, note)}</p>`)}
  ${model.misfits.map(({ message }) => html`<p>${texts.verdict.misfit} <span lang="en">${message}</span></p>`)}`;
}

function tasksOf({ counts }: ReportModel, who: Doer, { texts, plural }: ReportFormat): SafeHtml {
  const states = STATE_ORDER.toReversed().filter((state) => counts[state] > 0 && DOER_OF[state] === who);
  if (states.length === 0) return html``;
  return html`<h2 class="doer">${texts.doers[who]}</h2>
    <ul class="tasks">
      ${states.map((state) => html`<li>${stateMark(state)} ${plural(texts.invoices, counts[state])}. ${texts.next[state] ?? ''}</li>`)}
    </ul>`;
}

/** By currency: what of the file's money went out. Said only where there is a difference to see. */
function moneyOut({ totals, everythingIssued }: ReportModel, { texts, money }: ReportFormat): SafeHtml {
  const amounts = totals.flatMap(({ currency, net, byState }) => {
    if (currency === null) return [];
    const out = money(sumDecimals(OUTCOMES.filter(wentOut).map((state) => byState[state] ?? '0')));
    const shown = everythingIssued ? out : fill(texts.verdict.partOf, { out, all: money(net) });
    return [`${shown} ${currency}`];
  });
  return amounts.length === 0 ? html`` : html`<p>${fill(texts.verdict.moneyOut, { amounts: amounts.join('; ') })}</p>`;
}

/** Who has to do something about an invoice: the author of the file, the operator of Lote, or Lote itself. */
export type Doer = 'back-office' | 'operator' | 'lote';

/** In the order of their urgency: what waits for a person comes before what Lote does alone. */
export const DOERS: readonly Doer[] = ['back-office', 'operator', 'lote'];

/** Who has to do something about the invoices of a state; null: they went out. What it is stands in the texts of the report. */
export const DOER_OF: Readonly<Record<Outcome, Doer | null>> = {
  issued: null,
  'already-issued': null,
  invalid: 'back-office',
  rejected: 'back-office',
  failed: 'back-office',
  conflict: 'back-office',
  held: 'operator',
  // Lote repeats most of them, but not for ever: a person who only waits may wait in vain.
  unknown: 'operator',
  unsettled: 'lote',
  staged: 'lote',
  sending: 'lote',
  accepted: 'lote',
};
