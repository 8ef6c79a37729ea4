import type { Finding } from '../../../domain/invoice.ts';
import { groupedDigits, shownMoney } from './grouped-digits.ts';
import { proofLines } from './proof.ts';
import { toneOf } from './state-bar.ts';
import { html, type SafeHtml } from './html.ts';
import type { CurrencyTotal, ReasonGroup, ReportModel } from '../../report-model.ts';
import { STATE_ORDER } from '../../report-texts.ts';
import { rowList } from '../../row-list.ts';

/** More findings than anybody reads in a page; all of them stand in report.json. */
const MOST_FINDINGS = 500;

/** Reasons grouped with counts and example rows. */
export function reasonsTable(reasons: readonly ReasonGroup[]): SafeHtml {
  if (reasons.length === 0) return html``;
  return html`<section>
    <h2>Why</h2>
    <div class="scroll" tabindex="0" role="region" aria-label="Reasons">
      <table>
        <thead>
          <tr>
            <th scope="col">State</th>
            <th scope="col" class="number">Invoices</th>
            <th scope="col">Reason</th>
            <th scope="col">For example</th>
          </tr>
        </thead>
        <tbody>
          ${reasons.map(
            ({ state, invoices, code, message, examples }) =>
              html`<tr>
                <td><span class="state ${toneOf(state)}">${state}</span></td>
                <td class="number">${groupedDigits(String(invoices))}</td>
                <td class="text">${message}<br /><span class="mono soft">${code}</span></td>
                <td class="text">
                  ${examples.map(({ ref, rows }) => html`<div>${ref} <span class="soft">${rowList(rows)}</span></div>`)}
                </td>
              </tr> `,
          )}
        </tbody>
      </table>
    </div>
  </section> `;
}

/** Totals by currency: the column of each adds up to the line under it. */
export function totalsTable({ totals }: ReportModel): SafeHtml {
  if (totals.length === 0) return html``;
  const states = STATE_ORDER.filter((state) => totals.some(({ byState }) => byState[state] !== undefined));
  const unreadable = totals.filter(({ withoutAmount }) => withoutAmount > 0);
  const line = (name: string, cellOf: (total: CurrencyTotal) => string) =>
    html`<tr>
      <th scope="row">${name}</th>
      ${totals.map((total) => html`<td class="number">${cellOf(total)}</td>`)}
    </tr> `;
  return html`<section>
    <h2>Totals</h2>
    <p class="soft">Net without tax, exact, as in the file: the states add up to all invoices.</p>
    <div class="scroll" tabindex="0" role="region" aria-label="Totals">
      <table>
        <thead>
          <tr>
            <th scope="col">Net</th>
            ${totals.map(({ currency }) => html`<th scope="col" class="number">${currency ?? 'no currency'}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${states.map((state) => line(state, ({ byState }) => (byState[state] === undefined ? '' : shownMoney(byState[state]))))}
        </tbody>
        <tfoot>
          ${line('all invoices', ({ net }) => shownMoney(net))}${line('number of invoices', ({ invoices }) => groupedDigits(String(invoices)))}${unreadable.length === 0 ? '' : line('of them without a readable amount', ({ withoutAmount }) => groupedDigits(String(withoutAmount)))}
        </tfoot>
      </table>
    </div>
  </section> `;
}

/** What was found about the file as a whole and about rows without an invoice, and how it was read. */
export function fileSection({ batch, counts, fileFindings }: ReportModel): SafeHtml {
  const shown = fileFindings.slice(0, MOST_FINDINGS);
  const left = fileFindings.length - shown.length;
  return html`<section>
    <h2>The file</h2>
    <p>
      ${counts.rows} rows: ${counts.rows - counts.rowsWithoutInvoice} in ${counts.invoices} invoices,
      ${counts.rowsWithoutInvoice} without an invoice. SHA-256 <span class="mono">${batch.sha256}</span>.
    </p>
${proofLines(batch.proof)}
    ${shown.length === 0 ? '' : findingsTable(shown)}${left === 0 ? '' : html`<p>${left} more in report.json.</p>`}
  </section> `;
}

function findingsTable(findings: readonly Finding[]): SafeHtml {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Findings about the file">
    <table>
      <thead>
        <tr>
          <th scope="col">Severity</th>
          <th scope="col" class="number">Row</th>
          <th scope="col">Column</th>
          <th scope="col">Finding</th>
        </tr>
      </thead>
      <tbody>
        ${findings.map(
          ({ severity, row, column, message, code }) =>
            html`<tr>
              <td><span class="state ${SEVERITY_TONES[severity]}">${severity}</span></td>
              <td class="number">${row ?? ''}</td>
              <td>${column ?? ''}</td>
              <td class="text">${message} <span class="mono soft">${code}</span></td>
            </tr> `,
        )}
      </tbody>
    </table>
  </div>`;
}

const SEVERITY_TONES = { error: 'bad', warning: 'open', info: 'under-way' } as const;
