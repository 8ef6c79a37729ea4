import { Hono } from 'hono';
import { batchOutcomes, withShortfalls } from '../../domain/batch-outcomes.ts';
import type { ConsoleActions, ConsoleOptions } from '../console-options.ts';
import { applicationFilter } from '../forms/application-filter.ts';
import { healthChecks, healthPage } from '../pages/health-page.ts';
import type { PageAnswers } from '../http/page-answers.ts';
import { actionsFor } from '../people/allowed-actions.ts';
import { batchesPage } from '../pages/batches-page.ts';
import { stateCounts } from '../pages/state-counts.ts';
import { isLive } from '../pages/verdict.ts';
import type { BatchRecord } from '../../domain/ports/ledger/batch-record.ts';

/** Older batches are found by their address; a page of more is a page that nobody reads. */
const BATCHES_SHOWN = 100;
/** Batches that are asked for on one page; each costs a few questions to Temporal. */
const MOST_ASKED = 10;

/** The pages about no single batch: all batches, and the installation's health. */
export function overviewRoutes(options: ConsoleOptions, pages: PageAnswers): Hono {
  const { ledger, actions } = options;
  const routes = new Hono();

  routes.get('/', async (context) => {
    const format = pages.formatOf(context);
    const filter = applicationFilter(options, context.req.query('application'));
    const records = await ledger.listBatches(BATCHES_SHOWN, filter?.chosen ?? null);
    const batches = await Promise.all(
      (await withShortfalls(ledger, records)).map(async ({ batch, shortfall }) => ({
        ...{ batch, shortfall },
        counts: stateCounts(await batchOutcomes(ledger, batch.batchId)),
      })),
    );
    const stuck = await stuckAmong(records, actions);
    return pages.show(context, {
      title: format.texts.batches,
      content: batchesPage(format, {
        batches,
        stuck,
        filter,
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
      ...(checks.some(({ state }) => state === 'trouble') ? { status: 503 } : {}),
    });
  });

  return routes;
}

/** Ids of the batches whose run does not go on, as far as Temporal answers in time. */
async function stuckAmong(
  records: readonly BatchRecord[],
  actions: ConsoleActions | undefined,
): Promise<ReadonlySet<string>> {
  const live = records.filter(isLive).slice(0, MOST_ASKED);
  const found = await Promise.all(
    live.map(async ({ batchId, workflowId }) =>
      ((await actions?.stuck?.(workflowId)) ?? null) === null ? [] : [batchId],
    ),
  );
  return new Set(found.flat());
}
