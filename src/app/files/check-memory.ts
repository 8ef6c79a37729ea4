import { getHeapStatistics } from 'node:v8';
import { LoteError } from '../../domain/errors.ts';
import type { RawRow } from '../../domain/row.ts';
import { sizeOfRows } from '../../ingest/row-stores.ts';

/** The other half is for the code, and in the console for the batches that run in this process. */
const SHARE_OF_ROWS = 0.5;
const BYTES_OF_A_MB = 1024 * 1024;

/**
 * Counts the rows of one dry run before they are kept: a workbook of kilobytes can name one long text in a million cells.
 * `heapBytes` is what Node allows all objects of this process together.
 * @throws LoteError `usage`
 */
export function boundedRows(heapBytes = getHeapStatistics().heap_size_limit): (rows: readonly RawRow[]) => void {
  let bytes = 0;
  return (rows) => {
    bytes += sizeOfRows(rows);
    const most = heapBytes * SHARE_OF_ROWS;
    if (bytes <= most) return;
    const more = Math.ceil((2 * heapBytes) / BYTES_OF_A_MB);
    throw new LoteError(
      'usage',
      `Checking a file: a check keeps its rows in memory, in at most ${Math.floor(most / BYTES_OF_A_MB)} MB, found more up to row ${rows.at(-1)?.row}. Nothing of it was checked, and nothing was sent. ` +
        `Split the file, or give the process more memory: NODE_OPTIONS=--max-old-space-size=${more}. \`lote run FILE\` needs no such memory.`,
    );
  };
}
