import { Hono } from 'hono';
import { batchOutcomes, withShortfalls, type FileShortfall } from '../../domain/batch-outcomes.ts';
import { everyCountByOutcome, settledCount } from '../../domain/outcome-counts.ts';
import type { BatchRecord } from '../../domain/records/batch-record.ts';
import { html, table, type SafeHtml } from '../../texts/html.ts';
import { doubtSentence, stateBar } from '../../texts/outcomes/outcome-html.ts';
import type { ConsoleOptions } from '../console-options.ts';
import { uploadForm } from '../forms/forms.ts';
import type { PageAnswers } from '../http/page-answers.ts';
import { healthChecks, healthPage } from '../pages/health-page.ts';
import type { PageFormat } from '../pages/page-format.ts';
import { batchTone, isLive, notOutOf, type NotOut, type StateCounts } from '../pages/state-counts.ts';
import { actionsFor } from '../people/caller.ts';

/** Older batches are found by their address; no person reads a page of more. */
const BATCHES_SHOWN = 100;

/** The pages about no single batch: all batches, and the installation's health. */
export function overviewRoutes(options: ConsoleOptions, pages: PageAnswers): Hono {
  const { ledger, actions } = options;
  const routes = new Hono();

  routes.get('/', async (context) => {
    const format = pages.formatOf(context);
    const records = await ledger.listBatches(BATCHES_SHOWN);
    const batches = await Promise.all(
      (await withShortfalls(ledger, records)).map(async ({ batch, shortfall }) => ({
        ...{ batch, shortfall },
        counts: everyCountByOutcome(await batchOutcomes(ledger, batch.batchId)),
      })),
    );
    return pages.show(context, {
      title: format.texts.batches,
      content: batchesPage(format, {
        batches,
        upload: actionsFor(context, actions)?.files !== undefined,
        showsOnly: options.showsOnly === true,
      }),
      live: records.some(isLive),
    });
  });

  routes.get('/health', async (context) => {
    const format = pages.formatOf(context);
    const checks = await healthChecks(options);
    return pages.show(context, {
      title: format.texts.health,
      content: healthPage(format, checks),
      status: checks.some(({ state }) => state === 'trouble') ? 503 : 200,
    });
  });

  return routes;
}

interface BatchWithCounts {
  readonly batch: BatchRecord;
  readonly counts: StateCounts;
  readonly shortfall: FileShortfall;
}

interface BatchesPage {
  readonly batches: readonly BatchWithCounts[];
  /** Whether a file can be checked and started here. */
  readonly upload: boolean;
  /** Nothing can be set in motion here. */
  readonly showsOnly: boolean;
}

/** Every batch, newest first, with its state, its progress and what is open. */
function batchesPage(format: PageFormat, { batches, upload, showsOnly }: BatchesPage): SafeHtml {
  const { texts } = format;
  return html`${
    upload
      ? html`<h1>${texts.upload.title}</h1>
            ${uploadForm(format)}
            <h2>${texts.batches}</h2>`
      : html`<h1>${texts.batches}</h1>
          ${showsOnly ? html`<p class="done">${texts.withoutTemporal}</p>` : ''}`
  }
    ${batches.length === 0 ? html`<p>${texts.noBatches}</p>` : batchTable(format, batches)}`;
}

function batchTable(format: PageFormat, batches: readonly BatchWithCounts[]): SafeHtml {
  const { texts } = format;
  const { file, state, invoices } = texts.heads;
  const columns = [file, state, texts.problems, { number: invoices }, texts.progress, texts.started];
  return table(
    texts.batches,
    columns,
    batches.map((entry) => batchRow(format, entry)),
  );
}

function batchRow(format: PageFormat, { batch, counts, shortfall }: BatchWithCounts): SafeHtml {
  const { texts, count, time } = format;
  const notOut = notOutOf(batch, counts);
  const open = whatIsOpen(format, notOut, shortfall);
  return html`<tr>
    <td class="text"><a href="/batches/${encodeURIComponent(batch.batchId)}">${batch.file}</a></td>
    <td><span class="state ${batchTone(batch, notOut, shortfall)}">${texts.batchStates[batch.state]}</span></td>
    <td>${batch.state === 'refused' ? texts.verdicts.refused : open}</td>
    <td class="number">${count(batch.invoices)}</td>
    <td>${stateBar(counts)}<span class="soft">${count(settledCount(counts))} / ${count(batch.invoices)}</span></td>
    <td class="time">${time(batch.startedAt)}</td>
  </tr>`;
}

/** What is in doubt although it went out, which nothing else hides; then what needs a person, else what is wrong with the file or still on its way. */
function whatIsOpen(format: PageFormat, { problems, underWay }: NotOut, shortfall: FileShortfall): SafeHtml {
  const { texts, plural } = format;
  const { needAttention, stillUnderWay, verdicts } = texts;
  const { rowsLost, totalsDiffer } = shortfall;
  const others = [
    ...(problems > 0 ? [plural(needAttention, problems)] : []),
    ...(totalsDiffer === null ? [] : [verdicts.totalsDiffer]),
    ...(rowsLost > 0 ? [plural(verdicts.rowsLeft, rowsLost)] : []),
    ...(underWay > 0 ? [plural(stillUnderWay, underWay)] : []),
  ];
  const open = [...doubtSentence(format, shortfall), ...others.slice(0, 1)];
  return open.length === 0 ? html`<span class="soft">${texts.nothingOpen}</span>` : html`${open.join(' ')}`;
}
