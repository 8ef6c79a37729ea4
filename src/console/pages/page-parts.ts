import { z } from 'zod';
import type { FileShortfall } from '../../domain/batch-outcomes.ts';
import { givenOnly } from '../../domain/given-only.ts';
import type { Finding } from '../../domain/invoice.ts';
import type { Outcome } from '../../domain/invoice-state.ts';
import { issuedCount } from '../../domain/outcome-counts.ts';
import type { ProfileMisfit } from '../../domain/profile-misfit.ts';
import type { BatchRecord } from '../../domain/records/batch-record.ts';
import type { SavedTotalCheck } from '../../domain/records/total-check.ts';
import { RETRY_BY_ROW_STATES, RETRY_STATES } from '../../domain/retry-decision.ts';
import { fill } from '../../texts/fill.ts';
import { facts, html, type SafeHtml } from '../../texts/html.ts';
import { findingsTable, STATE_ORDER, stateMark, toneOf, type Tone } from '../../texts/outcomes/outcome-html.ts';
import { type Declared, LONGEST_REASON } from '../console-options.ts';
import type { PageFormat } from '../http/page-answers.ts';
import type { ConsoleTexts } from '../texts/en.ts';

/** More findings than a person reads on a page; the report contains all. */
const MOST_FINDINGS = 100;

/** Renders the findings of a file with a heading, or nothing if there are none. */
export function firstFindings(format: PageFormat, findings: readonly Finding[], title: string): SafeHtml {
  if (findings.length === 0) return html``;
  return html`<h2>${title}</h2>
    ${findingsTable(format, findings, { title, most: MOST_FINDINGS })}`;
}

/** Renders the misfits of the service profile, or nothing if there are none. */
export function misfitNote({ texts, time }: PageFormat, misfits: readonly ProfileMisfit[]): SafeHtml {
  if (misfits.length === 0) return html``;
  return html`<section class="card" role="alert">
    <p><strong>${texts.misfits}</strong></p>
    ${misfits.map(({ message, lastAt }) => html`<p>${message} <span class="soft">${time(lastAt)}</span></p>`)}
  </section>`;
}

/** Returns the address of a batch's page. */
export function batchAddress(batchId: string): string {
  return `/batches/${encodeURIComponent(batchId)}`;
}

/** One page of a list that is longer than a page. */
export interface ListPart {
  /** From 1. */
  readonly page: number;
  readonly pages: number;
}

/** Returns the page of a list of `total` entries for `?page=`: by default the first, and the nearest if that page does not exist. */
export function listPart(total: number, size: number, asked: string | undefined): ListPart {
  const pages = Math.max(1, Math.ceil(total / size));
  const wanted = /^\d{1,7}$/u.test(asked ?? '') ? Number(asked) : 1;
  return { page: Math.min(Math.max(1, wanted), pages), pages };
}

/** Renders links to the other pages of a list, or nothing if there is only one page. */
export function listPages(
  { texts, count }: PageFormat,
  { page, pages }: ListPart,
  addressOf: (page: number) => string,
): SafeHtml {
  if (pages === 1) return html``;
  const to = (other: number, label: string) => html`<li><a href="${addressOf(other)}">${label}</a></li>`;
  return html`<nav aria-label="${texts.page}">
    <ul class="plain">
      ${page === 1 ? '' : to(page - 1, texts.previous)}
      <li>${texts.page} ${count(page)} / ${count(pages)}</li>
      ${page === pages ? '' : to(page + 1, texts.next)}
    </ul>
  </nav>`;
}

/** Numbers of invoices by outcome; every outcome has an entry. */
export type StateCounts = Readonly<Record<Outcome, number>>;

/** States in which an invoice needs an operator, now or after Lote has polled again. */
export const PROBLEM_STATES: readonly Outcome[] = STATE_ORDER.filter(
  (state) => toneOf(state) === 'bad' || toneOf(state) === 'open',
);

/** Numbers of invoices not confirmed as issued: those that need an operator and, in a closed batch, all the rest. */
export interface NotOut {
  readonly problems: number;
  /** Staged, being sent or accepted, in a closed batch; 0 while the batch runs, because its progress shows them. */
  readonly underWay: number;
}

/** Counts the invoices of a batch that did not go out. In a closed batch, these are all invoices that neither it nor an earlier batch has issued. */
export function notOutOf({ state, invoices }: Pick<BatchRecord, 'state' | 'invoices'>, counts: StateCounts): NotOut {
  const problems = PROBLEM_STATES.reduce((sum, one) => sum + counts[one], 0);
  if (state !== 'finished' && state !== 'cancelled') return { problems, underWay: 0 };
  return { problems, underWay: invoices - issuedCount(counts) - problems };
}

/** Returns the colour of a batch from its state and from open or under-way invoices of a finished batch. A totals row does not count as open. */
export function batchTone(
  { state }: Pick<BatchRecord, 'state'>,
  { problems, underWay }: NotOut,
  { rowsLost, totalsDiffer, contradicted }: FileShortfall,
): Tone {
  if (state === 'refused' || contradicted > 0) return 'bad';
  if (state === 'paused' || state === 'cancelled') return 'open';
  if (state !== 'finished') return 'under-way';
  if (problems > 0 || rowsLost > 0 || totalsDiffer !== null) return 'open';
  return underWay > 0 ? 'under-way' : 'good';
}

/** Returns true if the batch may look different in two seconds. */
export function isLive({ state }: Pick<BatchRecord, 'state'>): boolean {
  return state === 'staging' || state === 'running' || state === 'paused';
}

/** The field for the person's reason, which every such form requires. */
export function reasonField({ heads }: ConsoleTexts, id: string): SafeHtml {
  return html`<label for="${id}">${heads.reason}</label>
    <input id="${id}" name="reason" required maxlength="${LONGEST_REASON}" autocomplete="off" />`;
}

/** Renders a text field in its label. */
export function field(label: string, name: string, value: string, longest = 200): SafeHtml {
  return html`<label>${label} <input name="${name}" maxlength="${longest}" value="${value}" /></label>`;
}

interface Select {
  readonly name: string;
  readonly label: string;
  readonly chosen: string | undefined;
  /** Text of the choice that declares nothing. Optional: without it, one of `choices` is always chosen. */
  readonly none?: string;
  readonly choices: readonly (readonly [value: string, label: string])[];
}

/** Renders a choice with its label. */
export function select({ name, label, chosen, none, choices }: Select): SafeHtml {
  return html`<label
    >${label}
    <select name="${name}">
      ${none === undefined ? '' : html`<option value="">${none}</option>`}
      ${choices.map(([value, text]) => html`<option value="${value}" ${value === chosen ? 'selected' : ''}>${text}</option>`)}
    </select></label
  >`;
}

/** Renders a choice of how a file is written, for what the file itself does not prove. */
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

/** Renders the form that uploads a file for a check; works without JavaScript. */
export function uploadForm({ texts: { upload } }: PageFormat): SafeHtml {
  return html`<form class="card" action="/files" method="post" enctype="multipart/form-data">
    <label for="file">${upload.choose}</label>
    <div class="row">
      <input id="file" type="file" name="file" required accept=".csv,.tsv,.txt,.json,.ndjson,.jsonl,.xlsx,.xlsm,.ods" />
      <button class="main">${upload.button}</button>
    </div>
    <p class="soft">${upload.promise}</p>
  </form>`;
}

/** States that reconciliation can settle, because the service may know more than the ledger. */
export const SETTLED_BY_POLLING: readonly Outcome[] = ['unknown', 'unsettled'];

/** Renders a card with the fields of a form. */
function formCard(title: string, address: string, fields: SafeHtml): SafeHtml {
  return html`<section class="card" aria-label="${title}">
    <h2>${title}</h2>
    <form action="${address}" method="post">${fields}</form>
  </section>`;
}

/** Renders the form that asks the service now instead of in a quarter of an hour; `back` is the page with the form. */
export function reconcileForm(format: PageFormat, back: string): SafeHtml {
  const { title, button, note } = format.texts.reconcile;
  const fields = html`<button>${button}</button>
    <p class="soft">${note}</p>`;
  return formCard(title, `${back}/reconcile`, fields);
}

/** Renders the retry form of a batch by states: Temporal's history keeps the request, so it must not name references. Empty if nothing can be retried. */
export function retryBatchForm(format: PageFormat, batchId: string, counts: StateCounts): SafeHtml {
  const { retry, operations } = format.texts;
  const states = RETRY_STATES.filter((state) => counts[state] > 0);
  if (states.length === 0) return html``;
  const fields = html`<fieldset>
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
    <p class="soft">${retry.note} ${operations.reasonNote}</p>`;
  return formCard(retry.title, `${batchAddress(batchId)}/retry`, fields);
}

/** Renders the retry form of one invoice, also of one without an answer. Where a duplicate is possible, the person must accept the risk on record. */
export function retryInvoiceForm(format: PageFormat, page: string, state: Outcome): SafeHtml {
  const { retry, operations } = format.texts;
  if (!(RETRY_BY_ROW_STATES as readonly Outcome[]).includes(state)) return html``;
  const fields = html`<p>${state === 'unknown' ? retry.repeatNote : retry.note}</p>
    ${reasonField(format.texts, 'retry-reason')}
    <label class="choice"><input type="checkbox" name="acceptDuplicateRisk" value="yes" /> ${retry.risk}</label>
    <p class="soft">${retry.riskNote}</p>
    <button>${retry.title}</button>
    <p class="soft">${operations.reasonNote}</p>`;
  return formCard(retry.title, `${page}/retry`, fields);
}

interface TotalForm {
  readonly batchId: string;
  readonly saved: SavedTotalCheck;
  /** False if this process only shows data, or no run waits for the answer. */
  readonly canConfirm: boolean;
}

/** Renders an unusual total with its comparison, and the form that confirms it: the person types the number. */
export function totalForm(format: PageFormat, { batchId, saved, canConfirm }: TotalForm): SafeHtml {
  const { texts, count } = format;
  const { total: words } = texts;
  const { check, pattern } = saved;
  if (check.kind !== 'unusual') return html``;
  const sentence = fill(words.sentence, { factor: count(check.factor), n: count(check.batches), pattern });
  return html`<section class="card" aria-label="${words.title}">
    <h2>${words.title}</h2>
    <p role="alert">${sentence}</p>
    ${facts([
      [words.found, totalWords(format, saved.total)],
      [words.usual, totalWords(format, check.usual)],
    ])}
    <p>${words.note}</p>
    ${
      canConfirm
        ? html`<form action="${batchAddress(batchId)}/operations" method="post">
            <label for="total-invoices">${texts.totals.number}</label>
            <input id="total-invoices" name="invoices" required inputmode="numeric" pattern="[0-9]{1,9}" autocomplete="off" />
            ${reasonField(texts, 'total-reason')}
            <button class="main" name="kind" value="confirmTotal">${words.button}</button>
          </form>`
        : ''
    }
  </section>`;
}

function totalWords({ texts, count, money }: PageFormat, { invoices, net }: SavedTotalCheck['total']): string {
  const nets = Object.entries(net).map(([currency, sum]) => `${money(sum)} ${currency}`);
  return [`${texts.heads.invoices}: ${count(invoices)}`, ...nets].join(' · ');
}

/** Encodings of the usual exports; the command line can declare another one. */
const ENCODINGS = ['utf-8', 'windows-1252', 'cp850', 'iso-8859-15', 'utf-16le'] as const;

const DeclaredFields = z.object({
  decimal: z.enum([',', '.']).optional().catch(undefined),
  encoding: z.enum(ENCODINGS).optional().catch(undefined),
  profile: z
    .stringFormat('name', /^[a-z0-9][a-z0-9_-]{0,63}$/u)
    .optional()
    .catch(undefined),
  sheet: z.string().min(1).max(200).optional().catch(undefined),
  duplicateRows: z.enum(['refuse', 'keep']).optional().catch(undefined),
  lookAlikes: z.enum(['refuse', 'keep']).optional().catch(undefined),
});

/** Reads what a form or an address declares about a file; ignores empty and unknown values. */
export function readDeclared(fields: Readonly<Record<string, unknown>>): Declared {
  return givenOnly(DeclaredFields.parse(fields));
}
