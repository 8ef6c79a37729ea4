import { html } from 'hono/html';
import { z } from 'zod';
import type { RetryRefusal } from '../../domain/retry-decision.ts';
import type { Operation, ReconcileAnswer, RetryAnswer } from '../console-options.ts';
import { fill } from '../../texts/fill.ts';
import type { PageFormat } from './page-format.ts';
import type { Html } from './page-layout.ts';

const REFUSALS = [
  'state-not-retryable',
  'generations-spent',
  'needs-accept-duplicate-risk',
  'owned-by-running-batch',
  'total-unconfirmed',
] as const satisfies readonly RetryRefusal[];

const number = z.coerce.number().int().min(0).max(1_000_000_000).catch(0);

/** What the address says has just been done; nothing of it but numbers and known words is shown. */
const Done = z.discriminatedUnion('done', [
  z.object({ done: z.literal('confirmTotal') }),
  z.object({ done: z.enum(['pause', 'resume', 'cancelRemaining', 'settleNow']) }),
  z.object({
    done: z.literal('retry'),
    how: z.enum(['started', 'joined', 'ended']),
    moved: number,
    ...Object.fromEntries(REFUSALS.map((refusal) => [refusal, number])),
  }),
  z.object({
    done: z.literal('reconcile'),
    how: z.enum(['started', 'ended']),
    ...{ asked: number, settled: number, repeated: number, found: number, closed: number },
    away: z.enum(['no', 'unanswered', 'profileFoundWrong']).catch('no'),
  }),
]);

/** Said once, above the page to which an operation leads back. */
export function doneNote(format: PageFormat, query: Readonly<Record<string, string>>): Html {
  const done = Done.safeParse(query);
  if (!done.success) return html``;
  const lines = linesOf(format, done.data);
  return html`<div class="done" role="status">${lines.map((line) => html`<p>${line}</p>`)}</div>`;
}

function linesOf(format: PageFormat, done: z.infer<typeof Done>): readonly string[] {
  if (done.done === 'retry') return retryLines(format, done);
  if (done.done === 'reconcile') return reconcileLines(format, done);
  if (done.done === 'confirmTotal') return [format.texts.total.done];
  return [format.texts.operations.done[done.done]];
}

function retryLines(
  { texts: { retry }, plural }: PageFormat,
  done: { readonly how: string; readonly moved: number } & Readonly<Record<string, unknown>>,
): readonly string[] {
  if (done.how === 'started') return [retry.started];
  if (done.how === 'joined') return [retry.joined];
  const left = REFUSALS.flatMap((refusal) => {
    const invoices = Number(done[refusal] ?? 0);
    return invoices === 0 ? [] : [`${plural(retry.left, invoices)} ${retry.refusals[refusal]}.`];
  });
  return [plural(retry.moved, done.moved), ...left];
}

function reconcileLines(
  { texts: { reconcile }, count }: PageFormat,
  done: Extract<z.infer<typeof Done>, { done: 'reconcile' }>,
): readonly string[] {
  if (done.how === 'started') return [reconcile.started];
  const { asked, settled, repeated, found, closed, away } = done;
  return [
    ...(closed === 0 ? [] : [fill(reconcile.closed, { closed: count(closed) })]),
    fill(reconcile.asked, { asked: count(asked), settled: count(settled) }),
    ...(repeated === 0 ? [] : [fill(reconcile.repeated, { repeated: count(repeated), found: count(found) })]),
    ...(away === 'no' ? [] : [reconcile[away]]),
  ];
}

/** The query that `doneNote` reads. */
export function doneQuery(
  done: Operation | ({ kind: 'retry' } & RetryAnswer) | ({ kind: 'reconcile' } & ReconcileAnswer),
): string {
  const fields: Record<string, string> = { done: done.kind };
  if (done.kind === 'retry') {
    fields['how'] = done.how;
    if (done.how === 'ended') {
      fields['moved'] = String(done.moved);
      for (const [refusal, invoices] of Object.entries(done.refused)) fields[refusal] = String(invoices);
    }
  } else if (done.kind === 'reconcile') {
    fields['how'] = done.how;
    if (done.how === 'ended') {
      for (const name of ['asked', 'settled', 'repeated', 'found'] as const) fields[name] = String(done[name]);
      fields['closed'] = String(done.orphans.length);
      fields['away'] = whyAway(done);
    }
  }
  return new URLSearchParams(fields).toString();
}

function whyAway({ serviceAway, profileFoundWrong }: Extract<ReconcileAnswer, { how: 'ended' }>): string {
  if (!serviceAway) return 'no';
  return profileFoundWrong ? 'profileFoundWrong' : 'unanswered';
}
