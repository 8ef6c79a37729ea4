import type { ReadOptions } from '../../../activities/deps.ts';
import type { BatchState } from '../../domain/ports/ledger/batch-record.ts';
import type { Ledger } from '../../domain/ports/ledger/ledger.ts';
import type { Config } from '../../runtime/config/config.ts';
import { createFileReader } from './input-files.ts';

/** A start reads such a file anew, as it is asked for now. */
const READ_ANEW: readonly BatchState[] = ['staging', 'refused'];

/**
 * In what a file would be read otherwise now than when its bytes were started, in words: a start would hold the rest of it (`read-otherwise`). Empty: in
 * nothing, or the ledger does not know these bytes. `file` is relative to the input directory.
 * @throws LoteError `file-unreadable`
 */
export async function otherwiseThanKnown(
  {
    ledger,
    config,
  }: {
    readonly ledger: Pick<Ledger, 'batchOfFile'>;
    readonly config: Pick<Config, 'application' | 'inputDir' | 'dataDir'>;
  },
  start: { readonly file: string; readonly sha256: string; readonly options: ReadOptions },
): Promise<readonly string[]> {
  const known = await ledger.batchOfFile(config.application, start.sha256);
  if (known === null || READ_ANEW.includes(known.state)) return [];
  return createFileReader(config).readOtherwise({ ...start, proof: known.proof });
}
