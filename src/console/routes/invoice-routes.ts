import { Hono, type Context } from 'hono';
import type { Invoice } from '../../domain/invoice.ts';
import type { BatchRecord } from '../../domain/records/batch-record.ts';
import type { InvoiceAction, InvoiceDetails, InvoiceGeneration } from '../../ledger/batches/lookup.ts';
import type { AuditEntry } from '../../ledger/operations/audit.ts';
import { fill } from '../../texts/fill.ts';
import { facts, html, table, type SafeHtml } from '../../texts/html.ts';
import { auditTable, stateMark, toneOf, wordOf } from '../../texts/outcomes/outcome-html.ts';
import type { ConsoleOptions } from '../console-options.ts';
import type { PageAnswers, PageFormat } from '../http/page-answers.ts';
import {
  batchAddress,
  firstFindings,
  listPages,
  listPart,
  reconcileForm,
  retryInvoiceForm,
  SETTLED_BY_POLLING,
} from '../pages/page-parts.ts';
import { actionsFor } from '../http/people.ts';
import type { ConsoleTexts } from '../texts/en.ts';
import { doneNote } from './operate-routes.ts';

/** Serves the invoices of a batch, and its audit of manual acts. */
export function invoiceRoutes({ ledger, actions }: ConsoleOptions, pages: PageAnswers): Hono {
  const batchAt = (context: Context) => ledger.findBatch(context.req.param('id') ?? '');

  const invoice = pages.page(async (context, format) => {
    const batch = await batchAt(context);
    const ordinal = Number(context.req.param('ordinal'));
    const details = batch === null ? null : await ledger.invoiceDetails(batch.batchId, ordinal);
    if (batch === null || details === null) return null;
    const canAct = actionsFor(context, actions) !== undefined;
    const done = doneNote(format, context.req.query());
    const content = invoicePage(format, { batch, details, canAct, done });
    return { title: details.line.ref, content };
  });

  const auditOfBatch = pages.page(async (context, format) => {
    const batch = await batchAt(context);
    if (batch === null) return null;
    const audit = await ledger.auditOf(batch.batchId);
    const content = auditPage(format, batch, { audit, asked: context.req.query('page') });
    return { title: format.texts.audit.title, content };
  });

  return new Hono().get('/:id/invoices/:ordinal{[0-9]{1,9}}', invoice).get('/:id/audit', auditOfBatch);
}

interface InvoicePage {
  readonly batch: BatchRecord;
  readonly details: InvoiceDetails;
  readonly canAct: boolean;
  readonly done: SafeHtml;
}

/** Renders one invoice in the order of a phone call about it: its state and reason, the file's content, the requests, the answers. */
function invoicePage(format: PageFormat, page: InvoicePage): SafeHtml {
  const { batch, details, done } = page;
  const { texts } = format;
  const { line, content } = details;
  const { contradictions = [] } = line;
  const tone = contradictions.length > 0 ? 'bad' : toneOf(line.state);
  return html`<p><a href="${batchAddress(batch.batchId)}">← ${batch.file}</a></p>
    <h1>${texts.invoice.title} ${line.ref}</h1>
    ${done}
    <section class="verdict ${tone}">
      <p class="big">
        ${stateMark(line.state)} <strong>${texts.states[line.state]}</strong>
      </p>
      ${line.reason === null ? '' : html`<p>${line.reason.message} <span class="mono soft">${line.reason.code}</span></p>`}
      ${contradictions.map((flag) => html`<p><strong>${texts.contradictions.flags[flag]}</strong></p>`)}
      ${line.flags.length === 0 ? '' : html`<p>${texts.invoice.flags}: <span class="mono">${line.flags.join(', ')}</span></p>`}
    </section>
    ${invoiceFacts(format, page)}
    <h2>${texts.invoice.lines}</h2>
    ${content === null ? html`<p>${texts.invoice.noContent}</p>` : contentTable(format, content)}
    ${firstFindings(format, line.findings, texts.dryRun.findings)} ${invoiceHistory(format, details)}
    ${requestTable(format, details.generations)} ${openForms(format, page)}`;
}

function openForms(format: PageFormat, { batch, details: { line }, canAct }: InvoicePage): SafeHtml {
  if (!canAct) return html``;
  const page = `${batchAddress(batch.batchId)}/invoices/${line.ordinal}`;
  return html`${SETTLED_BY_POLLING.includes(line.state) ? reconcileForm(format, page) : ''}
  ${retryInvoiceForm(format, page, line.state)}`;
}

function invoiceFacts(
  { texts, money }: PageFormat,
  { batch, details: { line, content, batches } }: InvoicePage,
): SafeHtml {
  const { heads } = texts;
  const others = batches.filter(({ batchId }) => batchId !== batch.batchId);
  const otherLinks = others.map(
    ({ batchId, file, ordinal }) => html`<a href="${batchAddress(batchId)}/invoices/${ordinal}">${file}</a> `,
  );
  const customer = [content?.customer.name, content?.customer.taxId].filter((part) => part !== null);
  return facts([
    [heads.merchant, line.merchantNif],
    [texts.customer, content === null ? null : customer.join(', ')],
    [heads.net, line.net === null ? null : html`<strong>${money(line.net)} ${line.currency ?? ''}</strong>`],
    [heads.rows, line.rows.join(', ')],
    [heads.serviceId, line.serviceId === null ? null : html`<span class="mono">${line.serviceId}</span>`],
    [texts.invoice.alsoIn, others.length === 0 ? null : otherLinks],
  ]);
}

function contentTable({ texts, amount, money }: PageFormat, { lines, currency }: Invoice): SafeHtml {
  const { invoice: words } = texts;
  const price = { number: `${words.unitPrice} (${currency})` };
  const columns = [{ text: words.description }, { number: words.quantity }, price, words.taxCode];
  const rows = lines.map(({ description, quantity, unitPrice, taxCode }) => [
    ...[description, amount(quantity), money(unitPrice), taxCode],
  ]);
  return table(words.lines, columns, rows);
}

/** Lists what was sent under each key, newest first. */
function requestTable({ texts, count }: PageFormat, generations: readonly InvoiceGeneration[]): SafeHtml {
  const { invoice: words, attempts } = texts;
  const rows = generations
    .filter((life) => life.attempts > 0 || life.frozenAt !== null)
    .map((life) => [
      ...[life.generation < 0 ? '–' : count(life.generation), life.idempotencyKey, count(life.attempts)],
      ...[stateMark(life.state), life.serviceId ?? '', life.reason?.message ?? ''],
    ]);
  const columns = [
    ...[{ number: words.generation }, { mono: 'Idempotency-Key' }, { number: attempts }],
    ...[texts.heads.state, { mono: texts.heads.serviceId }, { text: words.answer }],
  ];
  return html`<h2>${words.requests}</h2>
    ${rows.length === 0 ? html`<p>${words.notSent}</p>` : table(words.requests, columns, rows)}`;
}

function invoiceHistory(format: PageFormat, details: InvoiceDetails): SafeHtml {
  const { texts, plural, time } = format;
  const moments = invoiceMoments(format, details);
  const asks = details.generations[0]?.asks ?? 0;
  if (moments.length === 0) return html``;
  const columns = [
    ...[{ time: texts.heads.when }, texts.life.source],
    ...[texts.heads.what, texts.heads.reason].map((text) => ({ text })),
  ];
  const rows = moments.map(({ at, source, what, note }) => [time(at), texts.life.sources[source], what, note]);
  return html`<h2>${texts.invoice.history}</h2>
    ${table(texts.invoice.history, columns, rows)}
    ${asks === 0 ? '' : html`<p class="soft">${plural(texts.life.asked, asks)}</p>`}`;
}

interface Moment {
  readonly at: number;
  readonly source: keyof ConsoleTexts['life']['sources'];
  readonly what: string;
  readonly note: string;
}

/** Returns every dated event of an invoice, oldest first; events of the same time stand with the cause before its effect. */
function invoiceMoments(format: PageFormat, details: InvoiceDetails): readonly Moment[] {
  const { texts, plural } = format;
  const { generations, deliveries, batches, actions } = details;
  const reads = batches.flatMap(({ file, readAt, rows }) => {
    const what = fill(plural(texts.life.read, rows.length), { file, rows: rows.join(', ') });
    return moment(readAt, 'file', what);
  });
  const webhooks = deliveries.flatMap(({ receivedAt, type, eventId, reason }) => {
    const note = [reason?.message, eventId].filter((part) => part !== undefined && part !== null).join(' · ');
    return moment(receivedAt, 'webhook', fill(texts.life.webhook, { type: type ?? '?' }), note);
  });
  return [
    ...reads,
    ...actions.flatMap((action) => actionMoment(format, action)),
    ...generations.flatMap((life) => sendingMoments(format, life)),
    ...webhooks,
    ...generations.flatMap((life) => endMoments(format, life)),
  ].sort((a, b) => a.at - b.at);
}

function moment(at: number | null, source: Moment['source'], what: string, note = ''): readonly Moment[] {
  return at === null ? [] : [{ at, source, what, note }];
}

function actionMoment({ texts: { audit, life } }: PageFormat, action: InvoiceAction): readonly Moment[] {
  const done = action.move === null ? wordOf(audit.actions, action.what) : audit.moves[action.move];
  const what = fill(life.byHand, { what: done, who: action.who ?? audit.nobody });
  return moment(action.at, 'person', what, action.acceptedDuplicateRisk ? `${action.why} · ${audit.risk}` : action.why);
}

function sendingMoments({ texts, count }: PageFormat, life: InvoiceGeneration): readonly Moment[] {
  return [
    ...moment(life.frozenAt, 'lote', fill(texts.life.frozen, { n: count(life.generation) })),
    ...moment(life.firstSentAt, 'lote', texts.life.firstSent),
    ...moment(life.acceptedAt, 'service', fill(texts.life.accepted, { id: life.serviceId ?? '' })),
  ];
}

/** Returns the final state, or, without a final state, the current state of the invoice. */
function endMoments({ texts }: PageFormat, life: InvoiceGeneration): readonly Moment[] {
  const { state, settledAt, acceptedAt, changedAt } = life;
  const reason = life.reason?.message ?? '';
  // A state without a time of its own: refused, held, unknown, still under way.
  const lastAt = settledAt === null && acceptedAt === null ? changedAt : null;
  return [
    ...moment(settledAt, 'lote', fill(texts.life.settled, { state }), reason),
    ...moment(lastAt, 'lote', fill(texts.life.last, { state }), reason),
  ];
}

/** Entries on one page; each names up to twenty invoices. */
const ENTRIES_OF_A_PAGE = 50;
/** A number beyond every last page. */
const NEWEST = '9999999';

function auditPage(
  format: PageFormat,
  batch: BatchRecord,
  { audit, asked = NEWEST }: { readonly audit: readonly AuditEntry[]; readonly asked: string | undefined },
): SafeHtml {
  const { audit: words, auditPage: own } = format.texts;
  const page = batchAddress(batch.batchId);
  const part = listPart(audit.length, ENTRIES_OF_A_PAGE, asked);
  const shown = audit.slice((part.page - 1) * ENTRIES_OF_A_PAGE, part.page * ENTRIES_OF_A_PAGE);
  return html`<p><a href="${page}">← ${batch.file}</a></p>
    <h1>${words.title}</h1>
    ${audit.length === 0 ? html`<p>${own.none}</p>` : auditTable(format, shown)}
    ${listPages(format, part, (other) => `${page}/audit?page=${other}`)}
    <p class="soft">${own.note}</p>`;
}
