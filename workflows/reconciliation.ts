import { isCancellation, log, setCurrentDetails } from '@temporalio/workflow';
import { activities } from './activities.ts';
import { FLAG, optionalInput, TEXT } from './typed-by-hand.ts';
import { pinToBuild } from './pin-build.ts';
import type { ReconciliationInput, ReconciliationResult } from '../src/domain/messages/messages.ts';

const { repeatUnknown, pollOpenDocuments, outdatedReports, writeMissingReport, closeOrphans } = activities;

/**
 * Settles what batches left open. A schedule or `lote reconcile` starts it, or a person, without input. Its steps:
 * close batches whose run was lost -> repeat unknown invoices of other batches, same key and bytes -> poll documents
 * without a final word -> write the reports that these steps or a late answer changed, and the missing ones.
 */
export async function reconciliation(input?: ReconciliationInput | null): Promise<ReconciliationResult> {
  const example = 'for all that was left open with {"all": true}';
  const { ledgerId, all } = optionalInput('reconciliation', input, { ledgerId: TEXT, all: FLAG }, example);
  await pinToBuild(() => [input]);
  const request = { ledgerId, all: all ?? false };
  const orphans = await closeOrphans(request);
  // Comes before the repeats, because reconciliation finds what a batch left open in the batch's last report.
  const unwritten = new Set(await writeReports(ledgerId, orphans));
  const repeated = await repeatUnknown(request);
  const asked = await pollOpenDocuments(request);
  const outdated = await outdatedReports({ ledgerId });
  for (const batchId of await writeReports(ledgerId, outdated)) unwritten.add(batchId);
  const written = [...new Set([...orphans, ...outdated])].filter((batchId) => !unwritten.has(batchId));
  const result = {
    repeated: repeated.repeated,
    found: repeated.found,
    ...asked,
    ...(repeated.profileFoundWrong ? { profileFoundWrong: true as const } : {}),
    serviceAway: repeated.serviceAway || asked.serviceAway,
    orphans,
    stopped: repeated.stopped,
    reports: written,
    unwritten: [...unwritten],
  };
  setCurrentDetails(details(result));
  return result;
}

/** Returns the batches without a written report. */
async function writeReports(ledgerId: string | undefined, batchIds: readonly string[]): Promise<string[]> {
  const unwritten: string[] = [];
  for (const batchId of batchIds) {
    try {
      await writeMissingReport({ ledgerId, batchId, standing: false });
    } catch (error) {
      if (isCancellation(error)) throw error;
      log.warn('a report could not be written', { batchId });
      unwritten.push(batchId);
    }
  }
  return unwritten;
}

function details({ orphans, stopped, unwritten, ...result }: ReconciliationResult): string {
  const away = result.profileFoundWrong
    ? 'was not asked for the rest: its profile was found to be wrong'
    : 'did not answer; the rest waits for the next time';
  const rows: readonly (readonly [string, string | number])[] = [
    ['Unknown invoices repeated', result.repeated],
    ['of them found', result.found],
    ['Documents asked for', result.asked],
    ['of them settled', result.settled],
    ...(orphans.length > 0 ? [['Batches without a run, closed', orphans.length] as const] : []),
    ...(stopped.length > 0 ? [['Stopped batches, left alone', stopped.length] as const] : []),
    ['Reports written again', result.reports.length],
    ...(unwritten.length > 0 ? [['Reports that could not be written', unwritten.length] as const] : []),
    ...(result.serviceAway ? [['The service', away] as const] : []),
  ];
  return `| | |\n|---|---|\n${rows.map(([name, value]) => `| ${name} | ${value} |`).join('\n')}\n\n\u00A0`;
}
