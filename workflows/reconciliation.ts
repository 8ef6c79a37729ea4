import { proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import * as options from './activity-options.ts';
import type { ReconciliationInput, ReconciliationResult } from './messages.ts';

const { repeatUnknown } = proxyActivities<Activities>({
  ...options.RECONCILE,
  summary: 'unknown invoices again, same key and bytes',
});
const { askOpenDocuments } = proxyActivities<Activities>({
  ...options.RECONCILE,
  summary: 'documents without a final word',
});
const { outdatedReports } = proxyActivities<Activities>({
  ...options.BOOKKEEPING,
  summary: 'which reports have changed',
});
const { writeReport } = proxyActivities<Activities>({ ...options.REPORT, summary: 'a report that has changed' });

/**
 * What batches left open when they closed. Started by a schedule, by `lote reconcile`, or here without any input.
 * repeat unknown invoices, same key and bytes -> ask for documents without a final word -> rewrite the reports that this, or late news, changed.
 */
export async function reconciliation(input?: ReconciliationInput | null): Promise<ReconciliationResult> {
  const request = { ledgerId: input?.ledgerId, all: input?.all ?? false };
  const repeated = await repeatUnknown(request);
  const asked = await askOpenDocuments(request);
  const outdated = await outdatedReports({ ledgerId: repeated.ledgerId });
  for (const batchId of outdated) await writeReport({ ledgerId: repeated.ledgerId, batchId, standing: false });
  const result = {
    repeated: repeated.repeated,
    found: repeated.found,
    ...asked,
    serviceAway: repeated.serviceAway || asked.serviceAway,
    reports: outdated,
  };
  setCurrentDetails(details(result));
  return result;
}

function details(result: ReconciliationResult): string {
  const rows: readonly (readonly [string, number | string])[] = [
    ['Unknown invoices repeated', result.repeated],
    ['of them found', result.found],
    ['Documents asked for', result.asked],
    ['of them settled', result.settled],
    ['Reports written again', result.reports.length],
    ...(result.serviceAway ? [['The service', 'did not answer; the rest waits for the next time'] as const] : []),
  ];
  return `| | |\n|---|---|\n${rows.map(([name, value]) => `| ${name} | ${value} |`).join('\n')}\n\n&nbsp;`;
}
