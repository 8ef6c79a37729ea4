import { html } from 'hono/html';
import type { FileShortfall } from '../../domain/batch-outcomes.ts';
import type { Finding } from '../../domain/invoice.ts';
import type { BatchRecord } from '../../domain/ports/ledger/batch-record.ts';
import { settledCount } from '../../domain/outcome-counts.ts';
import { CONTRADICTION_TEXTS } from '../../texts/contradictions.ts';
import { fill } from '../../texts/fill.ts';
import type { PageFormat } from './page-format.ts';
import type { Html } from './page-layout.ts';
import { notOutOf } from './state-counts.ts';
import type { NotOut, StateCounts } from './state-counts.ts';

type Tone = 'good' | 'under-way' | 'open' | 'bad';

export interface VerdictOf {
  readonly batch: BatchRecord;
  readonly counts: StateCounts;
  readonly shortfall: FileShortfall;
  readonly fileFindings: readonly Finding[];
}

/** One sentence: did everything go out. */
export function verdict(format: PageFormat, { batch, counts, shortfall, fileFindings }: VerdictOf): Html {
  const { verdicts } = format.texts;
  const [sentence, beside] = sentencesOf(format, batch, { counts, notOut: notOutOf(batch, counts), shortfall });
  const refusals = batch.state === 'refused' ? fileFindings.filter(({ severity }) => severity === 'error') : [];
  return html`<p class="big"><strong>${sentence}</strong></p>
    ${beside === undefined ? '' : html`<p>${beside}</p>`} ${inDoubt(format, shortfall, sentence)} ${refusals.slice(0, MOST_REFUSALS).map(({ message }) => html`<p>${message}</p>`)}
    ${shortfall.rowsLost === 0 ? '' : html`<p>${format.plural(verdicts.rowsLeft, shortfall.rowsLost)}</p>`}`;
}

/** Which invoices went out and must be looked up at the service, also while the batch runs; what to do about them, unless the verdict says it. */
function inDoubt(format: PageFormat, { contradicted, contradictedRefs }: FileShortfall, verdictSaid: string): Html {
  if (contradicted === 0) return html``;
  const sentence = doubt(format, contradicted);
  const more = contradicted > contradictedRefs.length ? '; …' : '';
  return html`<p>
    ${sentence === verdictSaid ? '' : sentence} <strong>${format.texts.inDoubt}: ${contradictedRefs.join('; ')}${more}</strong>
  </p>`;
}

/** That so many invoices went out and may exist twice, or have failed. */
function doubt({ language, plural }: PageFormat, contradicted: number): string {
  return plural(CONTRADICTION_TEXTS[language].sentence, contradicted);
}

/** A refused file has one cause, or a page of like ones. */
const MOST_REFUSALS = 3;

/** The verdict; and what would be it without the doubt, which must not hide it. */
function sentencesOf(
  format: PageFormat,
  { state, invoices }: BatchRecord,
  {
    counts,
    notOut: { problems, underWay },
    shortfall,
  }: { readonly counts: StateCounts; readonly notOut: NotOut; readonly shortfall: FileShortfall },
): readonly [string, string | undefined] | readonly [string] {
  const { texts, plural, count } = format;
  const { verdicts } = texts;
  if (state === 'refused') return [verdicts.refused];
  if (state === 'staging') return [verdicts.staging];
  if (state === 'running' || state === 'paused')
    return [fill(verdicts.running, { n: count(settledCount(counts)), of: count(invoices) })];
  if (problems > 0) return [plural(verdicts.notAll, problems, invoices)];
  const totals = shortfall.totalsDiffer === null ? undefined : verdicts.totalsDiffer;
  const open = underWay > 0 ? plural(verdicts.underWay, underWay, invoices) : totals;
  if (shortfall.contradicted > 0) return [doubt(format, shortfall.contradicted), open];
  return [open ?? plural(verdicts.allIssued, invoices)];
}

/** Colour of a batch: what its state says, and whether a finished one left something open, or has it under way. A totals row is nothing open. */
export function batchTone(
  { state }: BatchRecord,
  { problems, underWay }: NotOut,
  { rowsLost, totalsDiffer, contradicted }: FileShortfall,
): Tone {
  if (state === 'refused' || contradicted > 0) return 'bad';
  if (state === 'paused' || state === 'cancelled') return 'open';
  if (state !== 'finished') return 'under-way';
  if (problems > 0 || rowsLost > 0 || totalsDiffer !== null) return 'open';
  return underWay > 0 ? 'under-way' : 'good';
}

/** A batch that may look different in two seconds. */
export function isLive({ state }: BatchRecord): boolean {
  return state === 'staging' || state === 'running' || state === 'paused';
}
