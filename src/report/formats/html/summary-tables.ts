import type { Finding } from '../../../domain/invoice.ts';
import { fill } from '../../../texts/fill.ts';
import { proofLines } from './proof.ts';
import { toneOf } from './state-bar.ts';
import { html, type SafeHtml } from './html.ts';
import type { CurrencyTotal, ReasonGroup, ReportModel } from '../../report-model.ts';
import { STATE_ORDER } from '../../doers.ts';
import type { ReportFormat } from '../../texts/report-format.ts';
import { problemWords } from './problem-words.ts';
import { rowList } from '../../row-list.ts';

/** More findings than anybody reads in a page; all of them stand in report.json. */
const MOST_FINDINGS = 500;

/** Reasons grouped with counts and example rows. */
export function reasonsTable(reasons: readonly ReasonGroup[], format: ReportFormat): SafeHtml {
  if (reasons.length === 0) return html``;
  const { texts, count } = format;
  return html`<section>
    <h2>${texts.reasons.title}</h2>
    <div class="scroll" tabindex="0" role="region" aria-label="${texts.reasons.label}">
      <table>
        <thead>
          <tr>
            <th scope="col">${texts.reasons.state}</th>
            <th scope="col" class="number">${texts.reasons.invoices}</th>
            <th scope="col">${texts.reasons.reason}</th>
            <th scope="col">${texts.reasons.examples}</th>
          </tr>
        </thead>
        <tbody>
          ${reasons.map(
            ({ state, invoices, code, message, examples }) =>
              html`<tr>
                <td><span class="state ${toneOf(state)}">${state}</span></td>
                <td class="number">${count(invoices)}</td>
                <td class="text">${problemWords(format, { code, message }, state)}<br /><span class="mono soft">${code}</span></td>
                <td class="text">
                  ${examples.map(({ ref, rows }) => html`<div>${ref} <span class="soft">${rowList(format, rows)}</span></div>`)}
                </td>
              </tr> `,
          )}
        </tbody>
      </table>
    </div>
  </section> `;
}

/** Totals by currency: the column of each adds up to the line under it. */
export function totalsTable({ totals }: ReportModel, { texts, money, count }: ReportFormat): SafeHtml {
  if (totals.length === 0) return html``;
  const words = texts.totals;
  const states = STATE_ORDER.filter((state) => totals.some(({ byState }) => byState[state] !== undefined));
  const unreadable = totals.filter(({ withoutAmount }) => withoutAmount > 0);
  const line = (name: string, cellOf: (total: CurrencyTotal) => string) =>
    html`<tr>
      <th scope="row">${name}</th>
      ${totals.map((total) => html`<td class="number">${cellOf(total)}</td>`)}
    </tr> `;
  return html`<section>
    <h2>${words.title}</h2>
    <p class="soft">${words.note}</p>
    <div class="scroll" tabindex="0" role="region" aria-label="${words.title}">
      <table>
        <thead>
          <tr>
            <th scope="col">${words.net}</th>
            ${totals.map(({ currency }) => html`<th scope="col" class="number">${currency ?? words.noCurrency}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${states.map((state) => line(state, ({ byState }) => (byState[state] === undefined ? '' : money(byState[state]))))}
        </tbody>
        <tfoot>
          ${line(words.all, ({ net }) => money(net))}${line(words.number, ({ invoices }) => count(invoices))}${unreadable.length === 0 ? '' : line(words.unreadable, ({ withoutAmount }) => count(withoutAmount))}
        </tfoot>
      </table>
    </div>
  </section> `;
}

/** What was found about the file as a whole and about rows without an invoice, and how it was read. */
export function fileSection({ batch, counts, fileFindings }: ReportModel, format: ReportFormat): SafeHtml {
  const { texts, count } = format;
  const shown = fileFindings.slice(0, MOST_FINDINGS);
  const left = fileFindings.length - shown.length;
  return html`<section>
    <h2>${texts.file.title}</h2>
    <p>
      ${fill(texts.file.counts, { rows: count(counts.rows), taken: count(counts.rows - counts.rowsWithoutInvoice), invoices: count(counts.invoices), left: count(counts.rowsWithoutInvoice) })}
      SHA-256 <span class="mono">${batch.sha256}</span>.
    </p>
${proofLines(batch.proof, format)}
    ${shown.length === 0 ? '' : findingsTable(shown, format)}${left === 0 ? '' : html`<p>${fill(texts.file.more, { n: count(left) })}</p>`}
  </section> `;
}

function findingsTable(findings: readonly Finding[], format: ReportFormat): SafeHtml {
  const { file } = format.texts;
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${file.findings}">
    <table>
      <thead>
        <tr>
          <th scope="col">${file.severity}</th>
          <th scope="col" class="number">${file.row}</th>
          <th scope="col">${file.column}</th>
          <th scope="col">${file.finding}</th>
        </tr>
      </thead>
      <tbody>
        ${findings.map(
          ({ severity, row, column, message, code }) =>
            html`<tr>
              <td><span class="state ${SEVERITY_TONES[severity]}">${file.severities[severity]}</span></td>
              <td class="number">${row ?? ''}</td>
              <td>${column ?? ''}</td>
              <td class="text">${problemWords(format, { code, message })} <span class="mono soft">${code}</span></td>
            </tr> `,
        )}
      </tbody>
    </table>
  </div>`;
}

const SEVERITY_TONES = { error: 'bad', warning: 'open', info: 'under-way' } as const;
