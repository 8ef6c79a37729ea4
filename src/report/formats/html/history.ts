import { contradictedRefs } from './contradicted-refs.ts';
import { fill } from '../../../texts/fill.ts';
import { html, type SafeHtml } from './html.ts';
import type { Contradicted } from '../../../domain/ports/ledger/batch-record.ts';
import type { ReportModel } from '../../report-model.ts';
import type { ReportedAction, ReportHistory } from '../../report-history.ts';
import { rowList } from '../../row-list.ts';
import type { ReportFormat } from '../../texts/report-format.ts';

/** What changed since the report before, and what was done by hand; nothing where there is nothing to tell. */
export function historySection(
  { history: { changes, audit }, contradicted }: Pick<ReportModel, 'history' | 'contradicted'>,
  format: ReportFormat,
): SafeHtml {
  return html`${changes === null ? '' : changesTable(changes, contradicted, format)}${audit.length === 0 ? '' : auditTable(audit, format)}`;
}

function changesTable(
  { sinceRevision, byState, contradictedBefore = 0 }: NonNullable<ReportHistory['changes']>,
  contradicted: Contradicted,
  format: ReportFormat,
): SafeHtml {
  const {
    texts: { changes: texts },
    count,
  } = format;
  const { invoices: inDoubt } = contradicted;
  const doubt =
    inDoubt === contradictedBefore
      ? ''
      : html`<p>${fill(texts.inDoubt, { n: count(inDoubt), before: count(contradictedBefore) })} ${contradictedRefs(contradicted, format)}</p>`;
  return html`<section aria-label="${texts.label}">
      <h2>${fill(texts.title, { n: count(sinceRevision) })}</h2>${doubt}
      ${
        byState.length === 0
          ? html`<p>${texts.none}</p>`
          : html`<div class="scroll" tabindex="0" role="region" aria-label="${texts.label}"><table>
            <thead><tr><th scope="col">${texts.was}</th><th scope="col">${texts.is}</th><th scope="col" class="number">${texts.invoices}</th><th scope="col">${texts.examples}</th></tr></thead>
            <tbody>${byState.map(
              ({ from, to, invoices, examples }) =>
                html`<tr><td>${from}</td><td>${to}</td><td class="number">${count(invoices)}</td><td>${examples.join(', ')}</td></tr>`,
            )}</tbody>
          </table></div>`
      }
    </section>`;
}

function auditTable(audit: readonly ReportedAction[], format: ReportFormat): SafeHtml {
  const { audit: texts, changes } = format.texts;
  return html`<section aria-label="${texts.label}">
      <h2>${texts.title}</h2>
      <div class="scroll" tabindex="0" role="region" aria-label="${texts.title}"><table>
        <thead><tr><th scope="col">${texts.when}</th><th scope="col">${texts.who}</th><th scope="col">${texts.what}</th><th scope="col">${texts.why}</th><th scope="col" class="number">${changes.invoices}</th><th scope="col">${changes.examples}</th></tr></thead>
        <tbody>${audit.map((action) => actionRow(action, format))}</tbody>
      </table></div>
    </section>`;
}

function actionRow(action: ReportedAction, format: ReportFormat): SafeHtml {
  const { texts, time, count } = format;
  const { nobody, risk, actions, moves } = texts.audit;
  return html`<tr><td>${time(Date.parse(action.at))}</td><td>${action.who ?? nobody}</td><td>${wordOf(actions, action.what)}</td>
              <td>${action.why}${action.acceptedDuplicateRisk ? html` <strong>${risk}</strong>` : ''}</td>
              <td class="number">${action.invoices === 0 && action.what !== 'retry' ? '' : count(action.invoices)}</td>
              <td>${action.examples.map(({ ref, rows, move, from }) => html`<div>${ref} (${rowList(format, rows)}): ${from}, ${wordOf(moves, move)}</div>`)}</td></tr>`;
}

function wordOf(words: Readonly<Record<string, string>>, word: string): string {
  return Object.hasOwn(words, word) ? (words[word] ?? word) : word;
}
