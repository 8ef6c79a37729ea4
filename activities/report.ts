import type { ActivityDeps, ReportSummary } from './deps.ts';

export interface ReportInput {
  readonly ledgerId: string;
  readonly batchId: string;
  /** The batch was closed before this run: its report stands and is not rewritten. */
  readonly standing: boolean;
}

/** Writes the outcome report of a batch from the ledger; the report that stands is left as it is. */
export async function writeReport(deps: ActivityDeps, { batchId, standing }: ReportInput): Promise<ReportSummary> {
  const existing = standing ? await deps.reports.standing(batchId) : null;
  return existing ?? (await deps.reports.write(batchId));
}
