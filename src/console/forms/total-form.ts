import { html, table, type SafeHtml } from '../../texts/html.ts';
import type { PageFormat } from '../pages/page-format.ts';
import { fill } from '../../texts/fill.ts';
import { reasonField } from './forms.ts';
import type { SavedTotalCheck } from '../../domain/records/total-check.ts';

export interface TotalForm {
  readonly batchId: string;
  readonly saved: SavedTotalCheck;
  /** False: this process only shows, or no run waits for the answer. */
  readonly canConfirm: boolean;
}

/** What an unusual total is compared with, and the form that confirms it: the person types the number. */
export function totalForm(format: PageFormat, { batchId, saved, canConfirm }: TotalForm): SafeHtml {
  const { texts, count, action } = format;
  const { total: words } = texts;
  const { check, pattern } = saved;
  if (check.kind !== 'unusual') return html``;
  const sentence = fill(words.sentence, { factor: count(check.factor), n: count(check.batches), pattern });
  return html`<section class="card" aria-label="${words.title}">
    <h2>${words.title}</h2>
    <p role="alert">${sentence}</p>
    ${comparison(format, saved, check.usual)}
    <p>${words.note}</p>
    ${
      canConfirm
        ? html`<form action="${action(`/batches/${encodeURIComponent(batchId)}/operations`)}" method="post">
            <label for="total-invoices">${words.number}</label>
            <input id="total-invoices" name="invoices" required inputmode="numeric" pattern="[0-9]{1,9}" autocomplete="off" />
            ${reasonField(texts, 'total-reason')}
            <button class="main" name="kind" value="confirmTotal">${words.button}</button>
          </form>`
        : ''
    }
  </section>`;
}

function comparison(
  { texts, count, money }: PageFormat,
  { total }: SavedTotalCheck,
  usual: SavedTotalCheck['total'],
): SafeHtml {
  const row = (name: string, found: string, before: string) =>
    html`<tr>
      <th scope="row">${name}</th>
      <td class="number">${found}</td>
      <td class="number">${before}</td>
    </tr>`;
  const { heads, totals } = texts;
  const rows = [
    row(heads.invoices, count(total.invoices), count(usual.invoices)),
    ...Object.entries(usual.net).map(([currency, net]) =>
      row(`${heads.net} ${currency}`, money(total.net[currency] ?? '0'), money(net)),
    ),
  ];
  return table(totals.title, [totals.title, { number: texts.total.found }, { number: texts.total.usual }], rows);
}
