import type { Invoice } from '../../domain/invoice.ts';
import { CONTRADICTION_TEXTS } from '../../texts/contradictions.ts';
import { facts, html, table, type SafeHtml } from '../../texts/html.ts';
import { stateMark, toneOf, wordOf } from '../../texts/outcomes/outcome-html.ts';
import { firstFindings } from './notes.ts';
import { reconcileForm, retryInvoiceForm, SETTLED_BY_POLLING } from '../forms/forms.ts';
import type { PageFormat } from './page-format.ts';
import type { BatchRecord } from '../../domain/records/batch-record.ts';
import type { InvoiceDetails, InvoiceGeneration, InvoiceAction } from '../../ledger/batches/lookup.ts';
import type { ConsoleTexts } from '../texts/en.ts';
import { fill } from '../../texts/fill.ts';

interface InvoicePage {
  readonly batch: BatchRecord;
  readonly details: InvoiceDetails;
  readonly canAct: boolean;
  readonly done: SafeHtml;
}

/** Renders one invoice in the order of a phone call about it: its state and reason, the file's content, the requests, the answers. */
export function invoicePage(format: PageFormat, page: InvoicePage): SafeHtml {
  const { batch, details, done } = page;
  const { texts, language } = format;
  const { line, content } = details;
  const { contradictions = [] } = line;
  const tone = contradictions.length > 0 ? 'bad' : toneOf(line.state);
  return html`<p><a href="/batches/${encodeURIComponent(batch.batchId)}">← ${batch.file}</a></p>
    <h1>${texts.invoice.title} ${line.ref}</h1>
    ${done}
    <section class="verdict ${tone}">
      <p class="big">
        ${stateMark(line.state)} <strong>${texts.states[line.state]}</strong>
      </p>
      ${line.reason === null ? '' : html`<p>${line.reason.message} <span class="mono soft">${line.reason.code}</span></p>`}
      ${contradictions.map((flag) => html`<p><strong>${CONTRADICTION_TEXTS[language].flags[flag]}</strong></p>`)}
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
  const page = `/batches/${encodeURIComponent(batch.batchId)}/invoices/${line.ordinal}`;
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
    ({ batchId, file, ordinal }) =>
      html`<a href="/batches/${encodeURIComponent(batchId)}/invoices/${ordinal}">${file}</a> `,
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
  const columns = [words.description, { number: words.quantity }, price, words.taxCode];
  const rows = lines.map(
    ({ description, quantity, unitPrice, taxCode }) =>
      html`<tr>
        <td class="text">${description}</td>
        <td class="number">${amount(quantity)}</td>
        <td class="number">${money(unitPrice)}</td>
        <td>${taxCode}</td>
      </tr>`,
  );
  return table(words.lines, columns, rows);
}

/** Lists what was sent under each key, newest first. */
function requestTable({ texts, count }: PageFormat, generations: readonly InvoiceGeneration[]): SafeHtml {
  const { invoice: words, attempts } = texts;
  const rows = generations
    .filter((life) => life.attempts > 0 || life.frozenAt !== null)
    .map(
      (life) =>
        html`<tr>
          <td class="number">${life.generation < 0 ? '–' : count(life.generation)}</td>
          <td class="mono">${life.idempotencyKey}</td>
          <td class="number">${count(life.attempts)}</td>
          <td>${stateMark(life.state)}</td>
          <td class="mono">${life.serviceId ?? ''}</td>
          <td class="text">${life.reason?.message ?? ''}</td>
        </tr>`,
    );
  const columns = [
    ...[{ number: words.generation }, 'Idempotency-Key', { number: attempts }],
    ...[texts.heads.state, texts.heads.serviceId, words.answer],
  ];
  return html`<h2>${words.requests}</h2>
    ${rows.length === 0 ? html`<p>${words.notSent}</p>` : table(words.requests, columns, rows)}`;
}

function invoiceHistory(format: PageFormat, details: InvoiceDetails): SafeHtml {
  const { texts, plural } = format;
  const moments = invoiceMoments(format, details);
  const asks = details.generations[0]?.asks ?? 0;
  if (moments.length === 0) return html``;
  const columns = [texts.heads.when, texts.life.source, texts.heads.what, texts.heads.reason];
  const rows = moments.map((moment) => row(format, moment));
  return html`<h2>${texts.invoice.history}</h2>
    ${table(texts.invoice.history, columns, rows)}
    ${asks === 0 ? '' : html`<p class="soft">${plural(texts.life.asked, asks)}</p>`}`;
}

function row({ texts, time }: PageFormat, { at, source, what, note }: Moment): SafeHtml {
  return html`<tr>
    <td class="time">${time(at)}</td>
    <td>${texts.life.sources[source]}</td>
    <td class="text">${what}</td>
    <td class="text">${note}</td>
  </tr>`;
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
    ...generations.flatMap((life) => endMoments(format, life, deliveries)),
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

/** Returns the final state and its source, or, without a final state, the current state of the invoice. */
function endMoments(
  { texts }: PageFormat,
  life: InvoiceGeneration,
  deliveries: InvoiceDetails['deliveries'],
): readonly Moment[] {
  const { state, settledAt, acceptedAt, changedAt, serviceId } = life;
  const reason = life.reason?.message ?? '';
  const byWebhook = deliveries.some(
    (one) => one.serviceId === serviceId && one.verdict === state && one.receivedAt <= (settledAt ?? 0),
  );
  // A failure counts only when a GET has confirmed it, even if a webhook reported it.
  const byGet = state === 'failed' ? !life.flags.includes('failure-unconfirmed') : state === 'issued' && !byWebhook;
  // A state without a time of its own: refused, held, unknown, still under way.
  const lastAt = settledAt === null && acceptedAt === null ? changedAt : null;
  return [
    ...moment(byGet ? settledAt : null, 'service', fill(texts.life.saidByGet, { state })),
    ...moment(settledAt, 'lote', fill(texts.life.settled, { state }), reason),
    ...moment(lastAt, 'lote', fill(texts.life.last, { state }), reason),
  ];
}
