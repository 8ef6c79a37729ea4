import { Context } from '@temporalio/activity';
import type { ActivityDeps, ReportSummary } from '../deps.ts';

const HEARTBEAT_EVERY_MS = 5_000;

export interface ReportInput {
  readonly ledgerId?: string | undefined;
  readonly batchId: string;
  /** The batch was closed before this run: its report is reused, and rewritten only if something has changed since. */
  readonly standing: boolean;
}

/**
 * Writes the outcome report of a batch from the ledger; with `standing`, reuses the report that is there and still
 * true.
 */
export async function writeReport(deps: ActivityDeps, { batchId, standing }: ReportInput): Promise<ReportSummary> {
  const existing = standing ? await deps.reports.reuse(batchId) : null;
  if (existing !== null) return existing;
  const written = await deps.reports.write(batchId);
  await announce(deps, written);
  return written;
}

/** Heartbeats while the command runs: its time limit is longer than a worker may go without a heartbeat. */
async function announce({ announce: notify }: ActivityDeps, { batchId, state, reports }: ReportSummary): Promise<void> {
  const context = Context.current();
  const heartbeat = setInterval(() => context.heartbeat(), HEARTBEAT_EVERY_MS);
  try {
    await notify({ kind: 'batch', id: batchId, state, html: reports.html, json: reports.json });
  } finally {
    clearInterval(heartbeat);
  }
}
