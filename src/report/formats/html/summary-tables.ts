import { fill, pluralForm } from '../../../texts/fill.ts';
import { html, table, type SafeHtml } from '../../../texts/html.ts';
import { auditTable, doubtRefs, findingsTable, stateMark, proofLines } from '../../../texts/outcomes/outcome-html.ts';
import { problemWords } from '../../../texts/problems/problem-words.ts';
import type { ReportHistory, ReasonGroup, ReportModel } from '../../report-model.ts';
import type { ReportFormat } from '../../texts/report-format.ts';

/** More findings than a person reads in a page; report.json has all of them. */
const MOST_FINDINGS = 500;

/** Returns a table of reasons with counts and example rows. */
export function reasonsTable(reasons: readonly ReasonGroup[], format: ReportFormat): SafeHtml {
  if (reasons.length === 0) return html``;
  const { texts, count } = format;
  const { heads } = texts;
  const rows = reasons.map(
    ({ state, invoices, code, message, examples }) =>
      html`<tr>
        <td>${stateMark(state)}</td>
        <td class="number">${count(invoices)}</td>
        <td class="text">${problemWords(format, { code, message }, state)}<br /><span class="mono soft">${code}</span></td>
        <td class="text">
          ${examples.map(({ ref, rows: own }) => html`<div>${ref} <span class="soft">${rowList(format, own)}</span></div>`)}
        </td>
      </tr>`,
  );
  return html`<section>
    <h2>${heads.why}</h2>
    ${table(heads.why, [heads.state, { number: heads.invoices }, heads.reason, heads.examples], rows)}
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
  const rows = byState.map(
    ({ from, to, invoices: moved, examples }) =>
      html`<tr><td>${from}</td><td>${to}</td><td class="number">${count(moved)}</td><td>${examples.join(', ')}</td></tr>`,
  );
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
