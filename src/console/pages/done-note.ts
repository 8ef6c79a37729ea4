import { fill } from '../../texts/fill.ts';
import { html, type SafeHtml } from '../../texts/html.ts';
import type { Operation, ReconcileAnswer, RetryAnswer } from '../console-options.ts';
import type { PageFormat } from './page-format.ts';

type Query = Readonly<Record<string, string>>;

/** Renders the result of an operation once, above the page to which it leads back. Shows only numbers and known words from the address. */
export function doneNote(format: PageFormat, query: Query): SafeHtml {
  const lines = linesOf(format, query);
  if (lines.length === 0) return html``;
  return html`<div class="done" role="status">${lines.map((line) => html`<p>${line}</p>`)}</div>`;
}

function linesOf(format: PageFormat, query: Query): readonly string[] {
  const { operations, total } = format.texts;
  switch (query['done']) {
    case 'retry':
      return retryLines(format, query);
    case 'reconcile':
      return reconcileLines(format, query);
    case 'confirmTotal':
      return [total.done];
    case 'pause':
    case 'resume':
    case 'cancelRemaining':
    case 'settleNow':
      return [operations.done[query['done']]];
    default:
      return [];
  }
}

function numberOf(query: Query, name: string): number {
  return /^\d{1,9}$/u.test(query[name] ?? '') ? Number(query[name]) : 0;
}

function retryLines({ texts: { retry }, plural }: PageFormat, query: Query): readonly string[] {
  if (query['how'] === 'started' || query['how'] === 'joined') return [retry[query['how']]];
  const left = Object.entries(retry.refusals).flatMap(([refusal, words]) => {
    const invoices = numberOf(query, refusal);
    return invoices === 0 ? [] : [`${plural(retry.left, invoices)} ${words}.`];
  });
  return [plural(retry.moved, numberOf(query, 'moved')), ...left];
}

function reconcileLines({ texts: { reconcile }, count }: PageFormat, query: Query): readonly string[] {
  if (query['how'] === 'started') return [reconcile.started];
  const words = (...names: string[]) => Object.fromEntries(names.map((name) => [name, count(numberOf(query, name))]));
  return [
    ...(numberOf(query, 'closed') === 0 ? [] : [fill(reconcile.closed, words('closed'))]),
    fill(reconcile.asked, words('asked', 'settled')),
    ...(numberOf(query, 'repeated') === 0 ? [] : [fill(reconcile.repeated, words('repeated', 'found'))]),
    ...(query['away'] === 'unanswered' || query['away'] === 'profileFoundWrong' ? [reconcile[query['away']]] : []),
  ];
}

/** Returns the query that `doneNote` reads. */
export function doneQuery(
  done: Operation | ({ kind: 'retry' } & RetryAnswer) | ({ kind: 'reconcile' } & ReconcileAnswer),
): string {
  const fields: Record<string, string | number> = { done: done.kind };
  if (done.kind === 'retry' || done.kind === 'reconcile') fields['how'] = done.how;
  if (done.kind === 'retry' && done.how === 'ended') Object.assign(fields, { moved: done.moved, ...done.refused });
  if (done.kind === 'reconcile' && done.how === 'ended') {
    const { asked, settled, repeated, found, orphans, serviceAway, profileFoundWrong } = done;
    Object.assign(fields, { asked, settled, repeated, found, closed: orphans.length });
    if (serviceAway) fields['away'] = profileFoundWrong === true ? 'profileFoundWrong' : 'unanswered';
  }
  return new URLSearchParams(
    Object.entries(fields).map(([name, value]): [string, string] => [name, `${value}`]),
  ).toString();
}
