import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BatchRecord } from '../../domain/ports/ledger/batch-record.ts';
import { keptReports, revisionOf } from '../../report/keep-newer-report.ts';

/** What a report says of invoices that no POST was made for. */
const NOT_SENT: ReadonlySet<string> = new Set(['held', 'conflict']);

interface Said {
  readonly invoices: readonly { readonly state: string; readonly rows: readonly number[] }[];
}

/**
 * The first rows of what a report says was not sent that the ledger, restored from an older copy, does not know; else none. It is in place, or was kept
 * when another one, as reconciliation writes it, took its place.
 */
export async function rowsNotSent(
  reportsDir: string,
  { batchId, revision }: Pick<BatchRecord, 'batchId' | 'revision'>,
): Promise<readonly number[]> {
  const directory = join(reportsDir, batchId);
  const inPlace = join(directory, 'report.json');
  const isUnknown = ((await revisionOf(inPlace)) ?? 0) > revision;
  const lost = [...(await keptReports(directory)), ...(isUnknown ? [inPlace] : [])];
  return [...new Set((await Promise.all(lost.map(rowsIn))).flat())];
}

async function rowsIn(json: string): Promise<readonly number[]> {
  const { invoices } = JSON.parse(await readFile(json, 'utf8')) as Said;
  return invoices.filter(({ state }) => NOT_SENT.has(state)).flatMap(({ rows }) => rows.slice(0, 1));
}
