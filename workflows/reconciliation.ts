import { ApplicationFailure, isCancellation, log, proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import { hasPatch } from './has-patch.ts';
import type { Activities } from '../activities/index.ts';
import * as options from './activity-options.ts';
import { FLAG, isOptionalInput, problemOfFields, TEXT, type FieldRules } from './input-fields.ts';
import { detailsFormat, type DetailsFormat } from './texts/details-format.ts';
import type { DetailsTexts } from './texts/details-texts.ts';
import type { ReconciliationInput, ReconciliationResult } from '../src/contract/messages.ts';

const { repeatUnknown } = proxyActivities<Activities>({
  ...options.RECONCILE,
  summary: 'unknown invoices again, same key and bytes',
});
const { askOpenDocuments: pollOpenDocuments } = proxyActivities<Activities>({
  ...options.RECONCILE,
  summary: 'documents without a final word',
});
const { outdatedReports } = proxyActivities<Activities>({
  ...options.BOOKKEEPING,
  summary: 'which reports have changed',
});
/**
 * A folder that cannot be written must not keep the next reconciliation from its work: what is left is written then.
 */
const { writeReport } = proxyActivities<Activities>({
  ...options.REPORT,
  retry: { ...options.REPORT.retry, maximumAttempts: 3 },
  summary: 'a report that has changed, or is missing',
});
const { closeOrphans } = proxyActivities<Activities>({
  ...options.BOOKKEEPING,
  summary: 'batches that no run works on any more',
});

/**
 * Works on what batches left open when they closed. Started by a schedule, by `lote reconcile`, or here without input:
 * close batches whose run was lost -> repeat unknown invoices of other batches, same key and bytes -> poll documents
 * without a final word -> write the reports that this, or a late answer, changed, and those that are missing.
 */
export async function reconciliation(input?: ReconciliationInput | null): Promise<ReconciliationResult> {
  requireInput(input);
  const request = { ledgerId: input?.ledgerId, all: input?.all ?? false };
  const orphans = hasPatch('close-orphans') ? await closeOrphans(request) : [];
  // First: what they left open is known to reconciliation by their report.
  const unwritten = new Set(await writeReports(input?.ledgerId, orphans));
  // Not of what was closed a moment ago: nobody has read yet what it left, and a repeat may be the first POST after the stop of an operator.
  const repeated = await repeatUnknown({ ...request, exceptBatches: orphans });
  const asked = await pollOpenDocuments(request);
  const outdated = await outdatedReports({ ledgerId: repeated.ledgerId });
  for (const batchId of await writeReports(repeated.ledgerId, outdated)) unwritten.add(batchId);
  const written = [...new Set([...orphans, ...outdated])].filter((batchId) => !unwritten.has(batchId));
  const result = {
    repeated: repeated.repeated,
    found: repeated.found,
    ...asked,
    ...(repeated.profileFoundWrong ? { profileFoundWrong: true as const } : {}),
    serviceAway: repeated.serviceAway || asked.serviceAway,
    orphans,
    reports: written,
    unwritten: [...unwritten],
  };
  setCurrentDetails(details(result, detailsFormat(repeated.language)));
  return result;
}

const FIELDS: FieldRules<ReconciliationInput> = { ledgerId: TEXT, application: TEXT, all: FLAG };

/** Runs that an earlier version started with such an input go on as they began. */
function requireInput(input: ReconciliationInput | null | undefined): void {
  const problem = isOptionalInput(input)
    ? problemOfFields('reconciliation', input ?? {}, FIELDS)
    : 'reconciliation needs no input.';
  if (problem === null || !hasPatch('starts-name-their-fields')) return;
  throw ApplicationFailure.nonRetryable(
    `${problem} Start it again with {}, or for all that was left open with {"all": true}`,
    'input-invalid',
  );
}

/** Returns those that could not be written. */
async function writeReports(ledgerId: string | undefined, batchIds: readonly string[]): Promise<string[]> {
  const unwritten: string[] = [];
  for (const batchId of batchIds) {
    try {
      await writeReport({ ledgerId, batchId, standing: false });
    } catch (error) {
      if (isCancellation(error)) throw error;
      log.warn('a report could not be written', { batchId });
      unwritten.push(batchId);
    }
  }
  return unwritten;
}

function details(result: ReconciliationResult, { texts: { reconciliation: texts }, count }: DetailsFormat): string {
  const rows: readonly (readonly [string, string])[] = [
    [texts.repeated, count(result.repeated)],
    [texts.found, count(result.found)],
    [texts.asked, count(result.asked)],
    [texts.settled, count(result.settled)],
    ...(result.orphans.length > 0 ? [[texts.orphans, count(result.orphans.length)] as const] : []),
    [texts.reports, count(result.reports.length)],
    ...(result.unwritten.length > 0 ? [[texts.unwritten, count(result.unwritten.length)] as const] : []),
    ...(result.serviceAway ? [[texts.service, whyNotAsked(result, texts)] as const] : []),
  ];
  return `| | |\n|---|---|\n${rows.map(([name, value]) => `| ${name} | ${value} |`).join('\n')}\n\n\u00A0`;
}

function whyNotAsked({ profileFoundWrong }: ReconciliationResult, texts: DetailsTexts['reconciliation']): string {
  return profileFoundWrong ? texts.profileFoundWrong : texts.serviceAway;
}
