import { html, type SafeHtml } from './html.ts';
import type { ReportedAction, ReportHistory } from '../../report-history.ts';
import { rowList } from '../../row-list.ts';

const MOVES: Readonly<Record<string, string>> = {
  release: 'released',
  regenerate: 'sent again under a new key',
  repeat: 'sent again under the same key',
  abandon: 'sent again under a new key, the first one unsettled',
};

const WHAT: Readonly<Record<string, string>> = {
  retry: 'sent again',
  pause: 'paused',
  resume: 'resumed',
  'cancel-remaining': 'the rest was cancelled',
  'settle-now': 'the service was asked at once',
  start: 'the file was started',
  reconcile: 'the service was asked again',
};

/** What changed since the report before, and what was done by hand; nothing where there is nothing to tell. */
export function historySection({ changes, audit }: ReportHistory): SafeHtml {
  return html`${changes === null ? '' : changesTable(changes)}${audit.length === 0 ? '' : auditTable(audit)}`;
}

function changesTable({ sinceRevision, byState }: NonNullable<ReportHistory['changes']>): SafeHtml {
  return html`<section aria-label="Changes">
      <h2>Changed since report ${sinceRevision}</h2>
      ${
        byState.length === 0
          ? html`<p>No invoice changed its state.</p>`
          : html`<div class="scroll" tabindex="0" role="region" aria-label="Changes"><table>
            <thead><tr><th scope="col">Was</th><th scope="col">Is</th><th scope="col" class="number">Invoices</th><th scope="col">Among them</th></tr></thead>
            <tbody>${byState.map(
              ({ from, to, invoices, examples }) =>
                html`<tr><td>${from}</td><td>${to}</td><td class="number">${invoices}</td><td>${examples.join(', ')}</td></tr>`,
            )}</tbody>
          </table></div>`
      }
    </section>`;
}

function auditTable(audit: readonly ReportedAction[]): SafeHtml {
  return html`<section aria-label="Done by hand">
      <h2>What was done</h2>
      <div class="scroll" tabindex="0" role="region" aria-label="What was done"><table>
        <thead><tr><th scope="col">When</th><th scope="col">Who</th><th scope="col">What</th><th scope="col">Why</th><th scope="col" class="number">Invoices</th><th scope="col">Among them</th></tr></thead>
        <tbody>${audit.map(
          (action) =>
            html`<tr><td>${action.at.slice(0, 16).replace('T', ' ')} UTC</td><td>${action.who ?? 'not known'}</td><td>${WHAT[action.what] ?? action.what}</td>
              <td>${action.why}${action.acceptedDuplicateRisk ? html` <strong>The risk of a duplicate was accepted.</strong>` : ''}</td>
              <td class="number">${action.invoices === 0 && action.what !== 'retry' ? '' : action.invoices}</td>
              <td>${action.examples.map(({ ref, rows, move, from }) => html`<div>${ref} (${rowList(rows)}): ${from}, ${MOVES[move] ?? move}</div>`)}</td></tr>`,
        )}</tbody>
      </table></div>
    </section>`;
}
