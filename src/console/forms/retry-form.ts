import { html } from 'hono/html';
import type { Outcome } from '../../domain/invoice-state.ts';
import { RETRY_BY_ROW_STATES, RETRY_STATES } from '../../domain/retry-decision.ts';
import type { PageFormat } from '../pages/page-format.ts';
import type { Html } from '../pages/page-layout.ts';
import { reasonField } from './reason-field.ts';
import { toneOf } from '../pages/state-counts.ts';
import type { StateCounts } from '../pages/state-counts.ts';

/** Of a batch: by states, never by reference, for the history of Temporal keeps what is asked. Nothing where nothing can go again. */
export function retryBatchForm(format: PageFormat, batchId: string, counts: StateCounts): Html {
  const { retry, operations } = format.texts;
  const states = RETRY_STATES.filter((state) => counts[state] > 0);
  if (states.length === 0) return html``;
  return html`<section class="card" aria-label="${retry.title}">
    <h2>${retry.title}</h2>
    <form action="${format.action(`/batches/${encodeURIComponent(batchId)}/retry`)}" method="post">
      <fieldset>
        <legend>${retry.states}</legend>
        ${states.map(
          (state) =>
            html`<label class="choice"
              ><input type="checkbox" name="states" value="${state}" checked />
              <span class="state ${toneOf(state)}">${state}</span> (${format.count(counts[state])})</label
            >`,
        )}
      </fieldset>
      ${reasonField(operations, 'retry-reason')}
      <button>${retry.button}</button>
      <p class="soft">${retry.note} ${operations.reasonNote}</p>
    </form>
  </section>`;
}

export interface RetryInvoiceForm {
  readonly batchId: string;
  readonly ordinal: number;
  readonly state: Outcome;
}

/** Of one invoice: also of one without an answer, and where a duplicate is possible only with a word on record. */
export function retryInvoiceForm({ texts, action }: PageFormat, { batchId, ordinal, state }: RetryInvoiceForm): Html {
  const { retry, operations } = texts;
  if (!(RETRY_BY_ROW_STATES as readonly Outcome[]).includes(state)) return html``;
  return html`<section class="card" aria-label="${retry.title}">
    <h2>${retry.title}</h2>
    <form action="${action(`/batches/${encodeURIComponent(batchId)}/invoices/${ordinal}/retry`)}" method="post">
      <p>${state === 'unknown' ? retry.repeatNote : retry.note}</p>
      ${reasonField(operations, 'retry-reason')}
      <label class="choice"><input type="checkbox" name="acceptDuplicateRisk" value="yes" /> ${retry.risk}</label>
      <p class="soft">${retry.riskNote}</p>
      <button>${retry.button}</button>
      <p class="soft">${operations.reasonNote}</p>
    </form>
  </section>`;
}
