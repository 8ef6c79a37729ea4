import { differingTotals } from '../../../domain/control-totals.ts';
import { OUTCOMES, wentOut } from '../../../domain/invoice-state.ts';
import { issuedCount } from '../../../domain/outcome-counts.ts';
import { isWholeFile } from '../../../domain/row.ts';
import { contradictedRefs } from './contradicted-refs.ts';
import { toneOf, stateBar } from './state-bar.ts';
import { html, type SafeHtml } from './html.ts';
import type { ReportModel } from '../../report-model.ts';
import { sumDecimals } from '../../../domain/money.ts';
import { CONTRADICTION_TEXTS } from '../../../texts/contradictions.ts';
import { fill } from '../../../texts/fill.ts';
import { DOER_OF, DOERS, STATE_ORDER, type Doer } from '../../doers.ts';
import { noteText, type ReportFormat } from '../../texts/report-format.ts';
import { problemWords } from './problem-words.ts';

/** Did everything go out; if not, how many did not, why, and what to do next. */
export function firstScreen(model: ReportModel, corrections: string | null, format: ReportFormat): SafeHtml {
  const { batch } = model;
  const { texts } = format;
  return html`<header>
      <h1>${batch.file}</h1>
      <p class="soft">
        ${texts.batch} <span class="mono">${batch.id}</span>, ${aboutBatch(model, format)}
      </p>
    </header>
    <section class="verdict ${verdictTone(model)}" aria-label="${texts.verdict.title}">
      <p class="big"><strong>${verdict(model, format)}</strong></p>${besideDoubt(model, format)}
      ${moneyOut(model, format)}
      ${nextSteps(model, corrections, format)}
    </section>
    ${stateBar(model.counts, format)}`;
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
      : fill(texts.startedAndFinished, { started, finished: at(batch.finishedAt) });
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

function verdict(model: ReportModel, format: ReportFormat): string {
  const { batch, counts, contradicted, everythingIssued } = model;
  const { texts, plural, language } = format;
  if (batch.state === 'refused') return texts.verdict.refused;
  const invoices = plural(texts.invoices, counts.invoices);
  if (everythingIssued) return fill(texts.verdict.allOut, { invoices, rows: plural(texts.rows, counts.rows) });
  const missing = missingOf(model);
  if (missing > 0) return fill(plural(texts.verdict.notAll, missing), { invoices });
  if (contradicted.invoices > 0) return plural(CONTRADICTION_TEXTS[language].sentence, contradicted.invoices);
  return shortOfFile(model, format);
}

/** What is wrong with a file of which every invoice went out: its control totals are others, or rows of it are in no invoice. */
function shortOfFile({ counts, fileFindings }: ReportModel, { texts, plural }: ReportFormat): string {
  const { rowsLeft, totalsDiffer } = texts.verdict;
  const sentence = differingTotals(fileFindings) === null ? rowsLeft : totalsDiffer;
  return fill(sentence, { invoices: plural(texts.invoices, counts.invoices) });
}

/** The doubt alone would hide that the file is wrong, too. */
function besideDoubt(model: ReportModel, format: ReportFormat): SafeHtml {
  const isDoubtTheVerdict = model.contradicted.invoices > 0 && missingOf(model) === 0;
  if (model.batch.state === 'refused' || !isDoubtTheVerdict || isWholeFile(model.counts.rowsLost, model.fileFindings))
    return html``;
  return html`<p>${shortOfFile(model, format)}</p>`;
}

function missingOf({ counts }: Pick<ReportModel, 'counts'>): number {
  return counts.invoices - issuedCount(counts);
}

function nextSteps(model: ReportModel, corrections: string | null, format: ReportFormat): SafeHtml {
  const { texts } = format;
  if (model.batch.state === 'refused') {
    const errors = model.fileFindings.filter(({ severity }) => severity === 'error').slice(0, MOST_ERRORS);
    return html`<ul>
        ${errors.map((error) => html`<li>${rowOf(error, format)}${problemWords(format, error)}</li>`)}
      </ul>
      <p>${texts.verdict.refusedNext}</p>`;
  }
  return html`${inDoubt(model, format)}${DOERS.map((who) => tasksOf(model, who, format))}
  ${corrections === null ? '' : html`<p>${texts.verdict.corrections} <a href="${corrections}">${corrections}</a> ${corrections.endsWith('.xlsx') ? texts.verdict.workbookHolds : texts.verdict.correctionsHold}</p>`}
  ${model.notes.map((note) => html`<p>${noteText(format, note)}</p>`)}
  ${model.misfits.map(({ message }) => html`<p>${texts.verdict.misfit} ${inEnglish(format, message)}</p>`)}`;
}

/** Which invoices went out and must be looked up at the service; what to do about them, unless the verdict above says it. */
function inDoubt(model: ReportModel, format: ReportFormat): SafeHtml {
  const { invoices } = model.contradicted;
  if (invoices === 0) return html``;
  const { texts, language, plural } = format;
  const sentence = missingOf(model) > 0 ? plural(CONTRADICTION_TEXTS[language].sentence, invoices) : '';
  return html`<p>${sentence} <strong>${texts.list.inDoubt}: ${contradictedRefs(model.contradicted, format)}</strong></p>`;
}

/** `Row 7: `; many messages begin with it. */
function rowOf(
  { row, message }: { readonly row: number | null; readonly message: string },
  { texts, language }: ReportFormat,
): string {
  if (row === null || (language === 'en' && message.startsWith(`Row ${row}`))) return '';
  return fill(texts.verdict.row, { n: String(row) });
}

/** Sentences for whoever keeps the service profile: its schema is English, and they name its members. */
function inEnglish({ language }: ReportFormat, message: string): SafeHtml {
  return language === 'en' ? html`${message}` : html`<span lang="en">${message}</span>`;
}

/** What one of them has to do, the most urgent state first. */
function tasksOf({ counts }: ReportModel, who: Doer, { texts, plural }: ReportFormat): SafeHtml {
  const states = STATE_ORDER.toReversed().filter((state) => counts[state] > 0 && DOER_OF[state] === who);
  if (states.length === 0) return html``;
  return html`<h2 class="doer">${texts.doers[who]}</h2>
    <ul class="tasks">
      ${states.map((state) => html`<li><span class="state ${toneOf(state)}">${state}</span> ${plural(texts.invoices, counts[state])}. ${texts.states[state].next ?? ''}</li>`)}
    </ul>`;
}

/** By currency: what of the file's money went out. Said only where there is a difference to see. */
function moneyOut({ totals, everythingIssued, batch }: ReportModel, { texts, money }: ReportFormat): SafeHtml {
  if (batch.state === 'refused') return html``;
  const amounts = totals.flatMap(({ currency, net, byState }) => {
    if (currency === null) return [];
    const out = money(sumDecimals(OUTCOMES.filter(wentOut).map((state) => byState[state] ?? '0')));
    const shown = everythingIssued ? out : fill(texts.verdict.partOf, { out, all: money(net) });
    return [`${shown} ${currency}`];
  });
  return amounts.length === 0 ? html`` : html`<p>${fill(texts.verdict.moneyOut, { amounts: amounts.join('; ') })}</p>`;
}

/** A refused file has one cause or a page of like ones; the rest stands under "The file". */
const MOST_ERRORS = 10;
