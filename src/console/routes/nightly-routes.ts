import { Hono } from 'hono';
import { batchOutcomes } from '../../domain/batch-outcomes.ts';
import { countsByOutcome, issuedCount } from '../../domain/outcome-counts.ts';
import type { NightlyRunEntry } from '../../domain/records/night.ts';
import { fill } from '../../texts/fill.ts';
import { html, table, type SafeHtml } from '../../texts/html.ts';
import { nightSections } from '../../texts/nights/night-html.ts';
import { nightTone, nightVerdict } from '../../texts/nights/night-verdict.ts';
import type { ConsoleLedger, ConsoleOptions } from '../console-options.ts';
import type { PageAnswers } from '../http/page-answers.ts';
import { listNights, NIGHTLY_DATE, readNight, type ListedNight, type StoredNight } from '../nightly-files.ts';
import { listPages } from '../pages/notes.ts';
import type { PageFormat } from '../pages/page-format.ts';

/** Most batches of a night that are looked up; each costs two queries. */
const BATCHES_ASKED = 100;

/** What the nights took, from the summaries that they wrote. */
export function nightlyRoutes(options: ConsoleOptions, pages: PageAnswers): Hono {
  const routes = new Hono();

  routes.get('/', async (context) => {
    const format = pages.formatOf(context);
    const { title } = format.texts.nights;
    const { nights, part } = await listNights(options.reportsDir, context.req.query('page'));
    const content = html`<h1>${title}</h1>
      ${nightList(format, nights)} ${listPages(format, part, (page) => `/nights?page=${page}`)}`;
    return pages.show(context, { title, content });
  });

  routes.get(`/:date{${NIGHTLY_DATE}}`, async (context) => {
    const night = await readNight(options.reportsDir, context.req.param('date'));
    if (night === 'missing') return pages.notFound(context);
    const format = pages.formatOf(context);
    const { title, unreadable } = format.texts.nights;
    if (night === 'unreadable') return pages.show(context, { title, content: html`<p>${unreadable}</p>` });
    const now = await batchesNowIfKnown(format, options, night);
    const content = html`<p><a href="/nights">← ${title}</a></p>
      <h1>${format.texts.nights.night}: ${format.date(night.date)}</h1>
      ${nightSections(format, night, { name: linkedName, below: ({ batchId }) => now.get(batchId ?? '') ?? '' })}`;
    return pages.show(context, { title: format.date(night.date), content });
  });

  return routes;
}

/** Every night, newest first: did every file go through. */
function nightList(format: PageFormat, listed: readonly ListedNight[]): SafeHtml {
  const { nights, heads } = format.texts;
  if (listed.length === 0) return html`<p>${nights.none}</p>`;
  const columns = [
    ...[nights.night, nights.outcome],
    ...[nights.files, heads.invoices, nights.issued].map((number) => ({ number })),
  ];
  return html`<p class="soft">${nights.asOfEach}</p>
    ${table(
      nights.title,
      columns,
      listed.map((night) => listRow(format, night)),
    )}`;
}

function listRow({ texts, count, plural, date: dated }: PageFormat, { date, summary }: ListedNight): SafeHtml {
  const name = html`<th scope="row"><a href="/nights/${date}">${dated(date)}</a></th>`;
  if (summary === null)
    return html`<tr>
      ${name}
      <td colspan="4">${texts.nights.unreadable}</td>
    </tr>`;
  const { files, waiting, invoices, notIssued } = summary.totals;
  return html`<tr>
    ${name}
    <td><span class="state ${nightTone(summary)}">${nightVerdict(texts, plural, summary)}</span></td>
    ${[files + waiting, invoices, invoices - notIssued].map((number) => html`<td class="number">${count(number)}</td>`)}
  </tr>`;
}

function linkedName({ batchId, name }: NightlyRunEntry): SafeHtml {
  return batchId === null ? html`${name}` : html`<a href="/batches/${encodeURIComponent(batchId)}">${name}</a>`;
}

/** The summary is a file: a ledger that is away in the morning takes nothing of it, and of how batches are by now nothing is said. */
async function batchesNowIfKnown(
  format: PageFormat,
  { ledger, onError }: ConsoleOptions,
  night: StoredNight,
): Promise<ReadonlyMap<string, SafeHtml>> {
  try {
    return await batchesNow(format, ledger, night);
  } catch (error) {
    onError?.(error);
    return new Map();
  }
}

/** How batches are by now. What was issued stays so: only the others may have gone on. */
async function batchesNow(
  { texts, plural }: PageFormat,
  ledger: ConsoleLedger,
  { runs }: StoredNight,
): Promise<ReadonlyMap<string, SafeHtml>> {
  const open = runs.flatMap(({ files }) => files.filter(({ verdict }) => verdict !== 'issued'));
  const ids = [...new Set(open.flatMap(({ batchId }) => batchId ?? []))].slice(0, BATCHES_ASKED);
  const found = ids.map(async (batchId) => {
    const batch = await ledger.findBatch(batchId);
    if (batch === null || batch.state === 'staging' || batch.state === 'refused') return [];
    const out = issuedCount(countsByOutcome(await batchOutcomes(ledger, batchId)));
    const now = fill(texts.nights.now, { state: texts.batchStates[batch.state] });
    return [[batchId, html`<p>${now} ${plural(texts.morning.wentOut, out, batch.invoices)}</p>`] as const];
  });
  return new Map((await Promise.all(found)).flat());
}
