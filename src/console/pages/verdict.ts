import { html } from 'hono/html';
import { shortfallOf, type FileShortfall } from '../../domain/batch-outcomes.ts';
import type { Finding } from '../../domain/invoice.ts';
import type { BatchRecord } from '../../domain/ports/ledger/batch-record.ts';
import { settledCount } from '../../domain/settled-count.ts';
import { fill } from '../../texts/fill.ts';
import type { PageFormat } from './page-format.ts';
import type { Html } from './page-layout.ts';
import { notOutOf } from './state-counts.ts';
import type { NotOut, StateCounts } from './state-counts.ts';

type Tone = 'good' | 'under-way' | 'open' | 'bad';

export interface VerdictOf {
  readonly batch: BatchRecord;
  readonly counts: StateCounts;
  readonly fileFindings: readonly Finding[];
}

/** One sentence: did everything go out. */
export function verdict(format: PageFormat, { batch, counts, fileFindings }: VerdictOf): Html {
  const { verdicts } = format.texts;
  const shortfall = shortfallOf(batch, fileFindings);
  const sentence = sentenceOf(format, batch, { counts, notOut: notOutOf(batch, counts), shortfall });
  const refusals = batch.state === 'refused' ? fileFindings.filter(({ severity }) => severity === 'error') : [];
  return html`<p class="big"><strong>${sentence}</strong></p>
    ${refusals.slice(0, MOST_REFUSALS).map(({ message }) => html`<p>${message}</p>`)}
    ${shortfall.rowsLost === 0 ? '' : html`<p>${format.plural(verdicts.rowsLeft, shortfall.rowsLost)}</p>`}`;
}

/** A refused file has one cause, or a page of like ones. */
const MOST_REFUSALS = 3;

function sentenceOf(
  { texts: { verdicts }, plural, count }: PageFormat,
  { state, invoices }: BatchRecord,
  {
    counts,
    notOut: { problems, underWay },
    shortfall,
  }: { readonly counts: StateCounts; readonly notOut: NotOut; readonly shortfall: FileShortfall },
): string {
  if (state === 'refused') return verdicts.refused;
  if (state === 'staging') return verdicts.staging;
  if (state === 'running' || state === 'paused')
    return fill(verdicts.running, { n: count(settledCount(counts)), of: count(invoices) });
  if (problems > 0) return plural(verdicts.notAll, problems, invoices);
  if (underWay > 0) return plural(verdicts.underWay, underWay, invoices);
  return shortfall.totalsDiffer === null ? plural(verdicts.allIssued, invoices) : verdicts.totalsDiffer;
}

/** Colour of a batch: what its state says, and whether a finished one left something open, or has it under way. A totals row is nothing open. */
export function batchTone(
  { state }: BatchRecord,
  { problems, underWay }: NotOut,
  { rowsLost, totalsDiffer }: FileShortfall,
): Tone {
  if (state === 'refused') return 'bad';
  if (state === 'paused' || state === 'cancelled') return 'open';
  if (state !== 'finished') return 'under-way';
  if (problems > 0 || rowsLost > 0 || totalsDiffer !== null) return 'open';
  return underWay > 0 ? 'under-way' : 'good';
}

/** A batch that may look different in two seconds. */
export function isLive({ state }: BatchRecord): boolean {
  return state === 'staging' || state === 'running' || state === 'paused';
}
