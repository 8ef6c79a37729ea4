import { html } from 'hono/html';
import type { FileShortfall } from '../../domain/batch-outcomes.ts';
import type { BatchRecord } from '../../domain/ports/ledger/batch-record.ts';
import { CONTRADICTION_TEXTS } from '../../texts/contradictions.ts';
import { settledCount } from '../../domain/outcome-counts.ts';
import { applicationFilterForm, commandEnd, type ApplicationFilter } from '../forms/application-filter.ts';
import type { PageFormat } from './page-format.ts';
import type { Html } from './page-layout.ts';
import { progressBar } from './progress-bar.ts';
import { notOutOf } from './state-counts.ts';
import type { NotOut, StateCounts } from './state-counts.ts';
import { uploadForm } from '../forms/upload-form.ts';
import { batchTone } from './verdict.ts';

export interface BatchWithCounts {
  readonly batch: BatchRecord;
  readonly counts: StateCounts;
  readonly shortfall: FileShortfall;
}

export interface BatchesPage {
  readonly batches: readonly BatchWithCounts[];
  /** Ids of those whose run does not go on. */
  readonly stuck: ReadonlySet<string>;
  /** Null: there is one application. */
  readonly filter: ApplicationFilter | null;
  /** Whether a file can be checked and started here. */
  readonly upload: boolean;
  /** Nothing can be set in motion here. */
  readonly showsOnly: boolean;
}

/** Every batch, newest first, with its state, its progress and what is open. */
export function batchesPage(format: PageFormat, { batches, stuck, filter, upload, showsOnly }: BatchesPage): Html {
  const { texts } = format;
  return html`${
    upload
      ? html`<h1>${texts.upload.title}</h1>
            ${uploadForm(format)}
            <h2>${texts.batches}</h2>`
      : html`<h1>${texts.batches}</h1>
          ${showsOnly ? html`<p class="done">${texts.withoutTemporal}</p>` : ''}`
  }
    ${filter === null ? '' : applicationFilterForm(format, filter, '/')}
    ${batches.length === 0 ? html`<p>${texts.noBatches}${commandEnd(filter)}</p>` : table(format, { batches, stuck, filter })}`;
}

function table(
  format: PageFormat,
  { batches, stuck, filter }: Pick<BatchesPage, 'batches' | 'stuck' | 'filter'>,
): Html {
  const { texts } = format;
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${texts.batches}">
    <table>
      <thead>
        <tr>
          <th scope="col">${texts.file}</th>
          ${filter === null ? '' : html`<th scope="col">${texts.application}</th>`}
          <th scope="col">${texts.state}</th>
          <th scope="col">${texts.problems}</th>
          <th scope="col" class="number">${texts.invoices}</th>
          <th scope="col">${texts.progress}</th>
          <th scope="col">${texts.started}</th>
        </tr>
      </thead>
      <tbody>
        ${batches.map((entry) => batchRow(format, entry, { isStuck: stuck.has(entry.batch.batchId), named: filter !== null }))}
      </tbody>
    </table>
  </div>`;
}

function batchRow(
  { texts, count, time, plural, language }: PageFormat,
  { batch, counts, shortfall }: BatchWithCounts,
  { isStuck: stuck, named }: { readonly isStuck: boolean; readonly named: boolean },
): Html {
  const notOut = notOutOf(batch, counts);
  const open = whatIsOpen({ texts, plural, language }, notOut, shortfall);
  return html`<tr>
    <td class="text"><a href="/batches/${encodeURIComponent(batch.batchId)}">${batch.file}</a></td>
    ${named ? html`<td>${batch.application}</td>` : ''}
    <td><span class="state ${stuck ? 'bad' : batchTone(batch, notOut, shortfall)}">${stuck ? texts.stuck.state : texts.batchStates[batch.state]}</span></td>
    <td>${batch.state === 'refused' ? texts.verdicts.refused : open}</td>
    <td class="number">${count(batch.invoices)}</td>
    <td>${progressBar(counts)}<span class="soft">${count(settledCount(counts))} / ${count(batch.invoices)}</span></td>
    <td class="time">${time(batch.startedAt)}</td>
  </tr>`;
}

/** What is in doubt although it went out, which nothing else hides and which hides nothing else. */
function whatIsOpen(
  format: Pick<PageFormat, 'texts' | 'plural' | 'language'>,
  notOut: NotOut,
  shortfall: FileShortfall,
): Html {
  const { contradicted } = shortfall;
  const { sentence } = CONTRADICTION_TEXTS[format.language];
  const doubt = contradicted === 0 ? [] : [format.plural(sentence, contradicted)];
  const open = [...doubt, ...otherThingsOpen(format, notOut, shortfall)];
  return open.length === 0 ? html`<span class="soft">${format.texts.nothingOpen}</span>` : html`${open.join(' ')}`;
}

/** What needs somebody; else what is wrong with the file, or what is still on its way. */
function otherThingsOpen(
  { texts, plural }: Pick<PageFormat, 'texts' | 'plural'>,
  { problems, underWay }: NotOut,
  { rowsLost, totalsDiffer }: FileShortfall,
): readonly string[] {
  const { needAttention, stillUnderWay, verdicts } = texts;
  if (problems > 0) return [plural(needAttention, problems)];
  if (totalsDiffer !== null) return [verdicts.totalsDiffer];
  if (rowsLost > 0) return [plural(verdicts.rowsLeft, rowsLost)];
  return underWay > 0 ? [plural(stillUnderWay, underWay)] : [];
}
