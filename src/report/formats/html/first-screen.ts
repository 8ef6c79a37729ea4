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

/** Says whether everything was issued and, if not, how many invoices were not, why, and what to do next. */
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

/** Shows times without seconds, because people read the report in the morning; report.json has the seconds. */
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

/** A refused file has one cause or a page of similar ones; the section "The file" shows the rest. */
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

/** Shows by currency how much of the file's money was issued, only if it is not all of it. */
function moneyOut({ totals, everythingIssued }: ReportModel, { texts, money }: ReportFormat): SafeHtml {
  const amounts = totals.flatMap(({ currency, net, byState }) => {
    if (currency === null) return [];
    const out = money(sumDecimals(OUTCOMES.filter(wentOut).map((state) => byState[state] ?? '0')));
    const shown = everythingIssued ? out : fill(texts.verdict.partOf, { out, all: money(net) });
    return [`${shown} ${currency}`];
  });
  return amounts.length === 0 ? html`` : html`<p>${fill(texts.verdict.moneyOut, { amounts: amounts.join('; ') })}</p>`;
}

/** Who must act on an invoice: the author of the file, the operator of Lote, or Lote itself. */
export type Doer = 'back-office' | 'operator' | 'lote';

/** In order of urgency: work for a person comes before work of Lote alone. */
export const DOERS: readonly Doer[] = ['back-office', 'operator', 'lote'];

/** Who must act on the invoices of a state; null for issued invoices. The texts of the report say what to do. */
export const DOER_OF: Readonly<Record<Outcome, Doer | null>> = {
  issued: null,
  'already-issued': null,
  invalid: 'back-office',
  rejected: 'back-office',
  failed: 'back-office',
  conflict: 'back-office',
  held: 'operator',
  // Lote repeats most of these invoices, but not for ever, so a person must not only wait.
  unknown: 'operator',
  unsettled: 'lote',
  staged: 'lote',
  sending: 'lote',
  accepted: 'lote',
};
