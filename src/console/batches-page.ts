import { html } from 'hono/html';
import type { BatchRecord } from '../domain/ports/ledger.ts';
import type { PageFormat } from './page-format.ts';
import type { Html } from './page-layout.ts';
import { progressBar } from './progress-bar.ts';
import { atRest, PROBLEM_STATES } from './state-counts.ts';
import type { StateCounts } from './state-counts.ts';

export interface BatchWithCounts {
  readonly batch: BatchRecord;
  readonly counts: StateCounts;
}

/** Every batch, newest first, with its state, its progress and what is open. */
export function batchesPage(format: PageFormat, batches: readonly BatchWithCounts[]): Html {
  const { texts } = format;
  if (batches.length === 0)
    return html`<h1>${texts.batches}</h1>
      <p>${texts.noBatches}</p>`;
  return html`<h1>${texts.batches}</h1>
    <div class="scroll" tabindex="0" role="region" aria-label="${texts.batches}">
      <table>
        <thead>
          <tr>
            <th scope="col">${texts.file}</th>
            <th scope="col">${texts.state}</th>
            <th scope="col">${texts.progress}</th>
            <th scope="col" class="number">${texts.invoices}</th>
            <th scope="col">${texts.problems}</th>
            <th scope="col">${texts.started}</th>
          </tr>
        </thead>
        <tbody>
          ${batches.map((entry) => batchRow(format, entry))}
        </tbody>
      </table>
    </div>`;
}

function batchRow({ texts, count, time }: PageFormat, { batch, counts }: BatchWithCounts): Html {
  const problems = PROBLEM_STATES.reduce((sum, state) => sum + counts[state], 0);
  return html`<tr>
    <td class="text"><a href="/batches/${encodeURIComponent(batch.batchId)}">${batch.file}</a></td>
    <td><span class="state ${batchTone(batch, problems)}">${texts.batchStates[batch.state]}</span></td>
    <td>${progressBar(counts)}<span class="soft">${count(atRest(counts))} / ${count(batch.invoices)}</span></td>
    <td class="number">${count(batch.invoices)}</td>
    <td>${problems === 0 ? texts.nothingOpen : `${count(problems)} ${texts.needAttention}`}</td>
    <td class="time">${time(batch.startedAt)}</td>
  </tr>`;
}

/** Colour of a batch: what its state says, and whether a finished one left something open. */
export function batchTone({ state }: BatchRecord, problems: number): 'good' | 'under-way' | 'open' | 'bad' {
  if (state === 'refused') return 'bad';
  if (state === 'paused' || state === 'cancelled') return 'open';
  if (state === 'finished') return problems === 0 ? 'good' : 'open';
  return 'under-way';
}
