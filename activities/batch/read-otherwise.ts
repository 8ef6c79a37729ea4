import type { BatchRecord } from '../../src/domain/ports/ledger/batch-record.ts';
import type { Reason } from '../../src/domain/invoice.ts';
import { commandLine } from '../../src/domain/text/command-line.ts';
import type { ActivityDeps, ReadOptions } from '../deps.ts';

/**
 * Why nothing more of a batch may be sent although its file is started again: it would be read otherwise now, and the
 * ledger has its invoices as they were read first. Whoever starts it has seen the new reading. Null: it would not.
 */
export async function readOtherwise(
  { files, application, isOneOfSeveral }: Pick<ActivityDeps, 'files' | 'application' | 'isOneOfSeveral'>,
  { batchId, sha256, proof }: Pick<BatchRecord, 'batchId' | 'sha256' | 'proof'>,
  start: { readonly file: string; readonly options: ReadOptions },
): Promise<Reason | null> {
  const differences = await files.readOtherwise({ ...start, sha256, proof });
  if (differences.length === 0) return null;
  const retry = commandLine({ application, isOneOfSeveral }, `retry ${batchId} --state held --reason WHY`);
  return {
    code: 'read-otherwise',
    message: `The file was started again and must be read as before, because the ledger has its invoices as they were read then; found ${differences.join('; ')}. Nothing more of it was sent. If the new reading is right, change the bytes of the file (add an empty line at its end; save a workbook once more) and start that one: it replaces what was never sent, and what was sent is a conflict. If the earlier reading is right, start the file as it was read then, or: ${retry}`,
  };
}
