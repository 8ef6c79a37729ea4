import { differingTotals } from '../../domain/control-totals.ts';
import { type Outcome, OUTCOMES, wentOut } from '../../domain/invoice-state.ts';
import { sumDecimals } from '../../domain/money.ts';
import { issuedCount } from '../../domain/outcome-counts.ts';
import { fill, pluralForm } from '../../texts/fill.ts';
import { html, table, type SafeHtml } from '../../texts/html.ts';
import {
  auditTable,
  doubtRefs,
  findingsTable,
  outcomeVerdict,
  proofLines,
  STATE_ORDER,
  stateBar,
  stateLegend,
  stateMark,
  toneOf,
} from '../../texts/outcomes/outcome-html.ts';
import { problemWords } from '../../texts/problems/problem-words.ts';
import type { ReasonGroup, ReportHistory, ReportModel } from '../report-model.ts';
import { noteText, type ReportFormat } from '../texts/report-format.ts';

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

/** More findings than a person reads in a page; report.json has all of them. */
const MOST_FINDINGS = 500;

/** Returns a table of reasons with counts and example rows. */
export function reasonsTable(reasons: readonly ReasonGroup[], format: ReportFormat): SafeHtml {
  if (reasons.length === 0) return html``;
  const { texts, count } = format;
  const { heads } = texts;
  const columns = [heads.state, { number: heads.invoices }, { text: heads.reason }, { text: heads.examples }];
  const rows = reasons.map(({ state, invoices, code, message, examples }) => [
    ...[stateMark(state), count(invoices)],
    html`${problemWords(format, { code, message }, state)}<br /><span class="mono soft">${code}</span>`,
    examples.map(({ ref, rows: own }) => html`<div>${ref} <span class="soft">${rowList(format, own)}</span></div>`),
  ]);
  return html`<section>
    <h2>${heads.why}</h2>
    ${table(heads.why, columns, rows)}
  </section>`;
}

/** Shows the findings about the file as a whole and about rows without an invoice, and how Lote read the file. */
export function fileSection({ batch, counts, fileFindings }: ReportModel, format: ReportFormat): SafeHtml {
  const { texts, count } = format;
  return html`<section>
    <h2>${texts.file.title}</h2>
    <p>
      ${fill(texts.file.counts, { rows: count(counts.rows), taken: count(counts.rows - counts.rowsWithoutInvoice), invoices: count(counts.invoices), left: count(counts.rowsWithoutInvoice) })}
      SHA-256 <span class="mono">${batch.sha256}</span>.
    </p>
    ${proofLines(batch.proof, format)}
    ${fileFindings.length === 0 ? '' : findingsTable(format, fileFindings, { title: texts.fileFindings, most: MOST_FINDINGS })}
  </section>`;
}

/** Shows the changes since the previous report and the actions of operators; empty without either. */
export function historySection(model: ReportModel, format: ReportFormat): SafeHtml {
  const { changes, audit } = model.history;
  return html`${changes === null ? '' : changesTable(changes, model, format)}
  ${audit.length === 0 ? '' : html`<section><h2>${format.texts.audit.title}</h2>${auditTable(format, audit)}</section>`}`;
}

function changesTable(
  { sinceRevision, byState, contradictedBefore = 0 }: NonNullable<ReportHistory['changes']>,
  { contradicted: { invoices, refs } }: ReportModel,
  format: ReportFormat,
): SafeHtml {
  const { count } = format;
  const { changes: texts, heads } = format.texts;
  const doubt =
    invoices === contradictedBefore
      ? ''
      : html`<p>${fill(texts.inDoubt, { n: count(invoices), before: count(contradictedBefore) })}</p>
          ${doubtRefs(format, { contradicted: invoices, contradictedRefs: refs })}`;
  const rows = byState.map(({ from, to, invoices: moved, examples }) => [from, to, count(moved), examples.join(', ')]);
  return html`<section>
    <h2>${fill(texts.title, { n: count(sinceRevision) })}</h2>
    ${doubt}
    ${byState.length === 0 ? html`<p>${texts.none}</p>` : table(texts.label, [texts.was, texts.is, { number: heads.invoices }, heads.examples], rows)}
  </section>`;
}

/** Number of rows before "and n more", so that an invoice of a thousand lines does not fill the page. */
const MOST_ROWS = 8;

/** Returns the rows as a reader looks them up in the file: `rows 2, 3 and 9 more`. */
export function rowList(format: ReportFormat, rows: readonly number[]): string {
  const { none, named } = format.texts.rowList;
  if (rows.length === 0) return none;
  return fill(pluralForm(named, rows.length, format.language), { rows: rowNumbers(format, rows) });
}

/** Returns the same without the word: `2, 3 and 9 more`. */
export function rowNumbers({ texts, count }: ReportFormat, rows: readonly number[]): string {
  if (rows.length === 0) return texts.rowList.none;
  const named = rows.slice(0, MOST_ROWS).join(', ');
  const left = rows.length - MOST_ROWS;
  return left > 0 ? fill(texts.verdicts.more, { names: named, n: count(left) }) : named;
}
