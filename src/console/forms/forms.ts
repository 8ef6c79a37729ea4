import type { Outcome } from '../../domain/invoice-state.ts';
import { RETRY_BY_ROW_STATES, RETRY_STATES } from '../../domain/retry-decision.ts';
import { html, type SafeHtml } from '../../texts/html.ts';
import { stateMark } from '../../texts/outcomes/outcome-html.ts';
import type { PageFormat } from '../pages/page-format.ts';
import type { StateCounts } from '../pages/state-counts.ts';
import { ENCODINGS } from './declared.ts';
import type { ConsoleTexts } from '../texts/en.ts';

/** Longer ones are no reasons but stories; history keeps each of them. */
export const LONGEST_REASON = 300;

/** Why the person does it: without it nothing is done. */
export function reasonField({ heads }: ConsoleTexts, id: string): SafeHtml {
  return html`<label for="${id}">${heads.reason}</label>
    <input id="${id}" name="reason" required maxlength="${LONGEST_REASON}" autocomplete="off" />`;
}

/** A choice of a form. */
export interface Select {
  readonly name: string;
  readonly label: string;
  readonly chosen: string | undefined;
  /** Text of the choice that declares nothing; left out: something is always chosen. */
  readonly none?: string;
  readonly choices: readonly (readonly [value: string, label: string])[];
}

/** A choice with its label. */
export function select({ name, label, chosen, none, choices }: Select): SafeHtml {
  return html`<label
    >${label}
    <select name="${name}">
      ${none === undefined ? '' : html`<option value="">${none}</option>`}
      ${choices.map(([value, text]) => html`<option value="${value}" ${value === chosen ? 'selected' : ''}>${text}</option>`)}
    </select></label
  >`;
}

/** How a file is written, as far as it does not prove it itself. */
export function writtenAs(
  { texts: { dryRun } }: PageFormat,
  what: 'decimal' | 'encoding',
  chosen: string | undefined,
): SafeHtml {
  const choices =
    what === 'encoding'
      ? ENCODINGS.map((encoding) => [encoding, encoding] as const)
      : ([
          [',', dryRun.comma],
          ['.', dryRun.point],
        ] as const);
  return select({ name: what, label: dryRun[what], chosen, none: dryRun.prove, choices });
}

/** Choose a file and have it checked; works without JavaScript. */
export function uploadForm({ texts: { upload }, action }: PageFormat): SafeHtml {
  return html`<form class="card" action="${action('/files')}" method="post" enctype="multipart/form-data">
    <label for="file">${upload.choose}</label>
    <div class="row">
      <input id="file" type="file" name="file" required accept=".csv,.tsv,.txt,.json,.ndjson,.jsonl,.xlsx,.xlsm,.ods" />
      <button class="main">${upload.button}</button>
    </div>
    <p class="soft">${upload.promise}</p>
  </form>`;
}

/** What reconciliation can settle: the service may know more of it than the ledger. */
export const SETTLED_BY_POLLING: readonly Outcome[] = ['unknown', 'unsettled'];

/** Asks the service now instead of in a quarter of an hour; `back` is the page that was left. */
export function reconcileForm({ texts: { reconcile }, action }: PageFormat, back: string): SafeHtml {
  return html`<section class="card" aria-label="${reconcile.title}">
    <h2>${reconcile.title}</h2>
    <form action="${action(`${back}/reconcile`)}" method="post">
      <button>${reconcile.button}</button>
      <p class="soft">${reconcile.note}</p>
    </form>
  </section>`;
}

/** Of a batch: by states, never by reference, for the history of Temporal keeps what is asked. Nothing where nothing can go again. */
export function retryBatchForm(format: PageFormat, batchId: string, counts: StateCounts): SafeHtml {
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
              ${stateMark(state)} (${format.count(counts[state])})</label
            >`,
        )}
      </fieldset>
      ${reasonField(format.texts, 'retry-reason')}
      <button>${retry.title}</button>
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
export function retryInvoiceForm(
  { texts, action }: PageFormat,
  { batchId, ordinal, state }: RetryInvoiceForm,
): SafeHtml {
  const { retry, operations } = texts;
  if (!(RETRY_BY_ROW_STATES as readonly Outcome[]).includes(state)) return html``;
  return html`<section class="card" aria-label="${retry.title}">
    <h2>${retry.title}</h2>
    <form action="${action(`/batches/${encodeURIComponent(batchId)}/invoices/${ordinal}/retry`)}" method="post">
      <p>${state === 'unknown' ? retry.repeatNote : retry.note}</p>
      ${reasonField(texts, 'retry-reason')}
      <label class="choice"><input type="checkbox" name="acceptDuplicateRisk" value="yes" /> ${retry.risk}</label>
      <p class="soft">${retry.riskNote}</p>
      <button>${retry.title}</button>
      <p class="soft">${operations.reasonNote}</p>
    </form>
  </section>`;
}
