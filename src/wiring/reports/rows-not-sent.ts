import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BatchRecord } from '../../domain/ports/ledger/batch-record.ts';
import { revisionOf } from '../../report/keep-newer-report.ts';

/** What a report says of invoices that no POST was made for. */
const NOT_SENT: ReadonlySet<string> = new Set(['held', 'conflict']);

interface Said {
  readonly invoices: readonly { readonly state: string; readonly rows: readonly number[] }[];
}

/** The first rows of what the report in place says was not sent, if the ledger, restored from an older copy, does not know that report; else none. */
export async function rowsNotSent(
  reportsDir: string,
  { batchId, revision }: Pick<BatchRecord, 'batchId' | 'revision'>,
): Promise<readonly number[]> {
  const json = join(reportsDir, batchId, 'report.json');
  if (((await revisionOf(json)) ?? 0) <= revision) return [];
  const { invoices } = JSON.parse(await readFile(json, 'utf8')) as Said;
  return invoices.filter(({ state }) => NOT_SENT.has(state)).flatMap(({ rows }) => rows.slice(0, 1));
}
