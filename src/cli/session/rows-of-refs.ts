import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { LoteError } from '../../domain/errors.ts';
import type { Backend } from './with-backend.ts';

const Report = z.object({ invoices: z.array(z.object({ ref: z.string(), rows: z.array(z.number()) })) });

/**
 * The file's rows of references: a reference never goes into Temporal's history, a row number may. From the ledger, or from the batch's report
 * where another process has the ledger.
 * @throws LoteError `usage` naming how many references the batch does not have
 */
export async function rowsOfRefs(
  { ledger, reportsDir }: Pick<Backend, 'ledger' | 'reportsDir'>,
  batchId: string,
  refs: readonly string[],
): Promise<readonly number[]> {
  const found = ledger === null ? await fromReport(reportsDir, batchId, refs) : await ledger.rowsOfRefs(batchId, refs);
  const missing = refs.filter((ref) => !found.some((one) => one.ref === ref));
  if (missing.length > 0) {
    throw new LoteError(
      'usage',
      `Retrying by reference: each must be one of batch ${batchId}, but ${missing.length} of ${refs.length} are not: ${missing.slice(0, 5).join(', ')}. Nothing was sent.`,
    );
  }
  return found.flatMap(({ rows }) => rows);
}

async function fromReport(reportsDir: string, batchId: string, refs: readonly string[]) {
  const path = join(reportsDir, batchId, 'report.json');
  const text = await readFile(path, 'utf8').catch(() => null);
  if (text === null) {
    throw new LoteError(
      'usage',
      `Retrying by reference: another process has the ledger, and batch ${batchId} has no report yet to look references up in. Use --row, or wait for the report.`,
    );
  }
  return Report.parse(JSON.parse(text)).invoices.filter(({ ref }) => refs.includes(ref));
}
