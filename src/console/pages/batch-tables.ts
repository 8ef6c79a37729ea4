import { html } from 'hono/html';
import type { Finding } from '../../domain/invoice.ts';
import { sumDecimals } from '../../domain/money.ts';
import type { OutcomeCount } from '../../domain/ports/ledger/batch-record.ts';
import type { PageFormat } from './page-format.ts';
import type { Html } from './page-layout.ts';
import { STATE_ORDER } from './state-counts.ts';

/** More than anybody reads on a page; the report holds all. */
const MOST_FINDINGS = 100;
const SEVERITY_TONES = { error: 'bad', warning: 'open', info: 'under-way' } as const;

/** Amounts by state and currency, with their sum. */
export function totalsTable({ texts, money, count }: PageFormat, counts: readonly OutcomeCount[]): Html {
  const currencies = [...new Set(counts.map(({ currency }) => currency))].sort(
    (a, b) => Number((a ?? '~') > (b ?? '~')) - Number((a ?? '~') < (b ?? '~')),
  );
  if (currencies.length === 0) return html``;
  const states = STATE_ORDER.filter((state) => counts.some(({ outcome }) => outcome === state));
  const net = (currency: string | null, among: readonly OutcomeCount[]) =>
    money(sumDecimals(among.filter((entry) => entry.currency === currency).map((entry) => entry.net)));
  const line = (name: string, cellOf: (currency: string | null) => string) =>
    html`<tr>
      <th scope="row">${name}</th>
      ${currencies.map((currency) => html`<td class="number">${cellOf(currency)}</td>`)}
    </tr>`;
  const unreadable = (currency: string | null) =>
    counts.filter((entry) => entry.currency === currency).reduce((sum, { withoutAmount }) => sum + withoutAmount, 0);
  return html`<h2>${texts.totals}</h2>
    <div class="scroll" tabindex="0" role="region" aria-label="${texts.totals}">
      <table>
        <thead>
          <tr>
            <th scope="col">${texts.net}</th>
            ${currencies.map((currency) => html`<th scope="col" class="number">${currency ?? texts.noCurrency}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${states.map((state) =>
            line(state, (currency) =>
              net(
                currency,
                counts.filter(({ outcome }) => outcome === state),
              ),
            ),
          )}
        </tbody>
        <tfoot>
          ${line(texts.all, (currency) => net(currency, counts))}
          ${counts.some(({ withoutAmount }) => withoutAmount > 0) ? line(texts.withoutAmount, (currency) => count(unreadable(currency))) : ''}
        </tfoot>
      </table>
    </div>`;
}

/** What was found in a file, located. */
export function findingsTable(format: PageFormat, findings: readonly Finding[], title: string): Html {
  const { texts } = format;
  if (findings.length === 0) return html``;
  const left = findings.length - MOST_FINDINGS;
  return html`<h2>${title}</h2>
    <div class="scroll" tabindex="0" role="region" aria-label="${title}">
      <table>
        <thead>
          <tr>
            <th scope="col">${texts.severity}</th>
            <th scope="col" class="number">${texts.row}</th>
            <th scope="col">${texts.column}</th>
            <th scope="col">${texts.finding}</th>
          </tr>
        </thead>
        <tbody>
          ${findings.slice(0, MOST_FINDINGS).map((finding) => findingRow(format, finding))}
        </tbody>
      </table>
    </div>
    ${left > 0 ? html`<p class="soft">${format.plural(texts.more, left)}</p>` : ''}`;
}

function findingRow({ texts }: PageFormat, { severity, row, column, message, code }: Finding): Html {
  return html`<tr>
    <td><span class="state ${SEVERITY_TONES[severity]}">${texts.severities[severity]}</span></td>
    <td class="number">${row ?? ''}</td>
    <td>${column ?? ''}</td>
    <td class="text">${message} <span class="mono soft">${code}</span></td>
  </tr>`;
}
