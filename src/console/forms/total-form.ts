import { html } from 'hono/html';
import type { SavedTotalCheck } from '../../domain/ports/ledger/total-ledger.ts';
import type { PageFormat } from '../pages/page-format.ts';
import type { Html } from '../pages/page-layout.ts';
import { fill } from '../../texts/fill.ts';
import { reasonField } from './reason-field.ts';

export interface TotalForm {
  readonly batchId: string;
  readonly saved: SavedTotalCheck;
  /** False: this process only shows, or no run waits for the answer. */
  readonly canConfirm: boolean;
}

/** What an unusual total is compared with, and the form that confirms it: whoever confirms types the number. */
export function totalForm(format: PageFormat, { batchId, saved, canConfirm }: TotalForm): Html {
  const { texts, count, action } = format;
  const { total: words, operations } = texts;
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
            ${reasonField(operations, 'total-reason')}
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
): Html {
  const row = (name: string, found: string, before: string) =>
    html`<tr>
      <th scope="row">${name}</th>
      <td class="number">${found}</td>
      <td class="number">${before}</td>
    </tr>`;
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${texts.totals}">
    <table>
      <thead>
        <tr>
          <th scope="col">${texts.totals}</th>
          <th scope="col" class="number">${texts.total.found}</th>
          <th scope="col" class="number">${texts.total.usual}</th>
        </tr>
      </thead>
      <tbody>
        ${row(texts.invoices, count(total.invoices), count(usual.invoices))}
        ${Object.entries(usual.net).map(([currency, net]) => row(`${texts.net} ${currency}`, money(total.net[currency] ?? '0'), money(net)))}
      </tbody>
    </table>
  </div>`;
}

/** Whether the total of a batch was compared with earlier ones, in a sentence. */
export function comparedText({ texts: { total: words }, count }: PageFormat, saved: SavedTotalCheck): string {
  const { check, pattern } = saved;
  if (check.kind === 'usual') return fill(words.compared.usual, { n: count(check.batches), pattern });
  if (check.kind === 'too-few')
    return fill(words.compared.tooFew, { n: count(check.batches), needed: count(check.needed), pattern });
  if (check.kind === 'unusual') return saved.confirmedAt === null ? words.state : words.compared.confirmed;
  return words.compared[check.kind];
}
