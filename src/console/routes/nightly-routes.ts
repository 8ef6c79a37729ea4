import { Hono } from 'hono';
import { html } from 'hono/html';
import { batchOutcomes } from '../../domain/batch-outcomes.ts';
import { countsByOutcome, issuedCount } from '../../domain/outcome-counts.ts';
import type { ConsoleLedger, ConsoleOptions } from '../console-options.ts';
import { listNightlySummaries, NIGHTLY_DATE, readNightlySummary, type StoredNightlySummary } from '../nightly-files.ts';
import { applicationFilter, applicationFilterForm, type ApplicationFilter } from '../forms/application-filter.ts';
import { reportsDirOf } from '../http/report-downloads.ts';
import { listPages } from '../pages/list-part.ts';
import { type BatchNow, nightlyDatePage, nightlyRunsPage } from '../pages/nightly-runs-page.ts';
import type { PageAnswers } from '../http/page-answers.ts';

/** Most batches of a night that are looked up; each costs two queries. */
const BATCHES_ASKED = 100;
const NO_NIGHTS = { nights: [], part: { page: 1, pages: 1 } };

/** What the nights took, from the summaries that they wrote. */
export function nightlyRoutes(options: ConsoleOptions, pages: PageAnswers): Hono {
  const routes = new Hono();

  routes.get('/', async (context) => {
    const format = pages.formatOf(context);
    const filter = applicationFilter(options, context.req.query('application'));
    const folder = nightsOf(options, filter);
    const application = filter?.chosen ?? null;
    const { nights, part } =
      folder === null ? NO_NIGHTS : await listNightlySummaries(folder, context.req.query('page'));
    const content = html`${filter === null ? '' : applicationFilterForm(format, filter, '/nights')}
    ${nightlyRunsPage(format, nights, filter)}
    ${listPages(format, part, (page) => `/nights?${new URLSearchParams({ ...(application === null ? {} : { application }), page: String(page) }).toString()}`)}`;
    return pages.show(context, { title: format.texts.nights.title, content });
  });

  routes.get(`/:date{${NIGHTLY_DATE}}`, async (context) => {
    const date = context.req.param('date');
    const folder = nightsOf(options, applicationFilter(options, context.req.query('application')));
    const summary = folder === null ? 'missing' : await readNightlySummary(folder, date);
    if (summary === 'missing') return pages.notFound(context);
    const format = pages.formatOf(context);
    if (summary === 'unreadable') {
      const { title, unreadable } = format.texts.nights;
      return pages.show(context, { title, content: html`<p>${unreadable}</p>` });
    }
    const content = nightlyDatePage(format, summary, await batchesNowIfKnown(options, summary));
    return pages.show(context, { title: format.date(summary.date), content });
  });

  return routes;
}

/** The summary is a file: a ledger that is away in the morning takes nothing of it, and of how batches are by now nothing is said. */
async function batchesNowIfKnown(
  { ledger, onError }: ConsoleOptions,
  summary: StoredNightlySummary,
): Promise<ReadonlyMap<string, BatchNow>> {
  try {
    return await batchesNow(ledger, summary);
  } catch (error) {
    onError?.(error);
    return new Map();
  }
}

/** What was issued stays so: only the others may have gone on. Batches that the ledger does not know are left out. */
async function batchesNow(
  ledger: ConsoleLedger,
  { runs }: StoredNightlySummary,
): Promise<ReadonlyMap<string, BatchNow>> {
  const open = runs.flatMap(({ files }) => files.filter(({ verdict }) => verdict !== 'issued'));
  const ids = [...new Set(open.flatMap(({ batchId }) => batchId ?? []))].slice(0, BATCHES_ASKED);
  const found = await Promise.all(
    ids.map(async (batchId) => {
      const batch = await ledger.findBatch(batchId);
      if (batch === null || batch.state === 'staging' || batch.state === 'refused') return [];
      const out = issuedCount(countsByOutcome(await batchOutcomes(ledger, batchId)));
      return [[batchId, { state: batch.state, invoices: batch.invoices, out }] as const];
    }),
  );
  return new Map(found.flat());
}

/** Null: there are several applications, each with nights of its own, and none is chosen. */
function nightsOf(options: ConsoleOptions, filter: ApplicationFilter | null): string | null {
  if (filter === null) return options.reportsDir;
  return filter.chosen === null ? null : reportsDirOf(options, { application: filter.chosen });
}
