import type { Outcome } from '../../domain/invoice-state.ts';
import type { PageProgress, SettledInvoice, SettlingLedger, StatusNews } from '../../domain/ports/ledger.ts';
import type { Database } from '../database/database.ts';
import { shareUnderToken } from '../batches/claim-proof.ts';
import { createGroupCommit } from '../database/batcher.ts';
import { applyDeliveries } from '../webhooks/apply-deliveries.ts';
import { applyEvents, applyPastEvents, settledInvoices } from './settled.ts';
import { column } from '../database/array-literal.ts';
import { CLOSE_BATCH } from './close-batch-sql.ts';
import { CLOSE_PAGE } from './close-page-sql.ts';
import type { ProgressRow } from './page-progress-sql.ts';
import { PAGE_PROGRESS } from './page-progress-sql.ts';
import type { RecordedStatus } from './record-status-sql.ts';
import { FAIL_OTHER_DOCUMENTS, RECORD_STATUS } from './record-status-sql.ts';
import type { SilentRow } from './pending-sql.ts';
import { SILENT } from './pending-sql.ts';
import { UNAPPLIED_EVENTS } from './unapplied-events-sql.ts';

/** What the service says later: by GET, or not at all. */
export function createSettling(database: Database): SettlingLedger {
  const recordStatus = createGroupCommit<StatusNews, readonly SettledInvoice[]>({
    keyOf: (news) => news.invoiceId,
    write: (news) => writeStatus(database, news),
  });

  return {
    async pageProgress(batchId, page) {
      const unapplied = await database.query<{ service_id: string }>(UNAPPLIED_EVENTS, [batchId, page]);
      await applyDeliveries(
        database,
        unapplied.map((row) => row.service_id),
      );
      return pageProgress(await database.query<ProgressRow>(PAGE_PROGRESS, [batchId, page]));
    },

    async silent(batchId, page, acceptedBefore, limit) {
      const rows = await database.query<SilentRow>(SILENT, [batchId, page, acceptedBefore, limit]);
      return rows.map((row) => ({
        invoiceId: row.invoice_id,
        ordinal: row.ordinal,
        serviceId: row.service_id,
        acceptedAt: row.accepted_at,
        asks: row.asks,
      }));
    },

    async recordStatus(news) {
      return (await recordStatus(news)).flat();
    },

    async closePage(batchId, page, { acceptedBefore, reason, now, fencingToken }) {
      await database.transaction(async (queries) => {
        await shareUnderToken(queries, batchId, fencingToken);
        await queries.query(CLOSE_PAGE, [batchId, page, acceptedBefore, reason.code, reason.message, now]);
      });
    },

    async closeBatch(batchId, { reason, now, fencingToken }) {
      return database.transaction(async (queries) => {
        const { state } = await shareUnderToken(queries, batchId, fencingToken);
        // Reconciliation may be repeating what a batch left `unknown`, as soon as the batch is closed.
        if (state !== 'running' && state !== 'paused') return 0;
        return (await queries.query(CLOSE_BATCH, [batchId, reason.code, reason.message, now])).length;
      });
    },
  };
}

async function writeStatus(
  database: Database,
  news: readonly StatusNews[],
): Promise<ReadonlyMap<number, readonly SettledInvoice[]>> {
  const recorded = await database.query<RecordedStatus>(RECORD_STATUS, [
    column(news, (one) => one.invoiceId),
    column(news, (one) => one.status),
    column(news, (one) => one.reason?.code ?? null),
    column(news, (one) => one.reason?.message ?? null),
    column(news, (one) => one.now),
    column(news, (one) => one.serviceId),
    column(news, (one) => one.asks ?? null),
    column(news, (one) => one.unconfirmed ?? false),
  ]);
  const failed = recorded.flatMap((row) => (row.state === 'failed' && row.service_id !== null ? [row.service_id] : []));
  // An `issued` event may have come while the GET was on its way; it wins.
  await applyEvents(database, failed);
  const settled = await settledInvoices(
    database,
    recorded.filter((row) => row.state !== 'accepted').map((row) => row.invoice_id),
  );
  return withPast(database, { news, recorded, settled });
}

/**
 * An answer about a document that a correction has replaced meanwhile, or about the other one of a key that brought two: `issued` must reach
 * whoever called it failed.
 */
async function withPast(
  database: Database,
  told: {
    readonly news: readonly StatusNews[];
    readonly recorded: readonly RecordedStatus[];
    readonly settled: ReadonlyMap<number, readonly SettledInvoice[]>;
  },
): Promise<ReadonlyMap<number, readonly SettledInvoice[]>> {
  const current = new Set(told.recorded.map((row) => row.service_id));
  const failed = told.news.filter(({ status, serviceId }) => status === 'failed' && !current.has(serviceId));
  if (failed.length > 0)
    await database.query(FAIL_OTHER_DOCUMENTS, [
      column(failed, (one) => one.serviceId),
      column(failed, (one) => one.now),
    ]);
  const past = told.news.filter(({ status, serviceId }) => status === 'issued' && !current.has(serviceId));
  if (past.length === 0) return told.settled;
  const found = await applyPastEvents(database, [], past);
  return new Map([
    ...told.settled,
    ...past.map(({ invoiceId, serviceId }) => [invoiceId, found.get(serviceId) ?? []] as const),
  ]);
}

function pageProgress(rows: readonly ProgressRow[]): PageProgress {
  const counts: Partial<Record<Outcome, number>> = {};
  let unsent = 0;
  let accepted = 0;
  let attached = 0;
  let oldestAcceptedAt: number | null = null;
  let newestAcceptedAt: number | null = null;
  for (const row of rows) {
    const outcome = row.outcome as Outcome;
    counts[outcome] = (counts[outcome] ?? 0) + row.invoices;
    if (!row.live) continue;
    if (outcome === 'staged' || outcome === 'sending') {
      if (row.owned === true) unsent += row.invoices;
      else attached += row.invoices;
    }
    if (outcome === 'accepted') {
      accepted += row.invoices;
      oldestAcceptedAt = pick(Math.min, oldestAcceptedAt, row.oldest_accepted_at);
      newestAcceptedAt = pick(Math.max, newestAcceptedAt, row.newest_accepted_at);
    }
  }
  return { unsent, accepted, attached, oldestAcceptedAt, newestAcceptedAt, counts };
}

function pick(choose: (a: number, b: number) => number, a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b;
  return choose(a, b);
}
