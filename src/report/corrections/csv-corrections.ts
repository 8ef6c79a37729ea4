import iconv from 'iconv-lite';
import { LoteError } from '../../domain/errors.ts';
import { ORIGINAL, READ_AS } from '../../domain/read-as.ts';
import { checkAllFound, type CorrectionsPlan } from './corrections-plan.ts';
import { csvRecord } from '../../domain/text/csv-record.ts';
import { originalCell } from '../../domain/text/escape-formula.ts';
import { keptColumns, LOTE_COLUMNS, oneLine } from './lote-columns.ts';
import type { OriginalCsv } from './original-file.ts';

/** The planned records in the file's own dialect, encoding and column order, with Lote's columns at the end. */
export async function* csvCorrections(original: OriginalCsv, plan: CorrectionsPlan): AsyncGenerator<Uint8Array> {
  const { delimiter, newline, encoding, byteOrderMark } = original.dialect;
  requireEncoding(encoding);
  const encode = (cells: readonly string[]) =>
    iconv.encode(csvRecord(cells, delimiter) + newline, encoding, { addBOM: false });
  const { kept, own, width } = keptColumns(original.header);
  const cellOf = (cell: string | undefined) => (own ? originalCell(cell ?? '') : (cell ?? ''));
  if (byteOrderMark) yield iconv.encode('\uFEFF', encoding, { addBOM: false });
  const readAs = original.readAs === undefined || original.readAs === '' ? [] : [original.readAs];
  yield encode([
    ...kept.map((index) => cellOf(original.header[index])),
    // Its cells may be empty: at the end, some spreadsheets would drop them with their delimiter.
    ...(original.hasOriginals === true ? [ORIGINAL] : []),
    ...LOTE_COLUMNS,
    ...readAs.map(() => READ_AS),
  ]);
  let found = 0;
  for await (const { row, cells, original: before = '' } of original.records) {
    const correction = plan.byRow.get(row);
    if (correction === undefined) continue;
    if (correction.ofInvoice) found += 1;
    // Only what stands in no column: in one of its own it would look right.
    const beyond = cells.slice(width).map(cellOf);
    yield encode([
      ...kept.map((index) => cellOf(cells[index])),
      ...(original.hasOriginals === true ? [before] : []),
      correction.state,
      oneLine(correction.reason),
      ...readAs,
      ...(beyond.some((cell) => cell.trim() !== '') ? beyond : []),
    ]);
  }
  checkAllFound(plan, found);
}

function requireEncoding(encoding: string): void {
  const known: boolean = iconv.encodingExists(encoding);
  if (known) return;
  throw new LoteError(
    'file-unreadable',
    `Writing the corrections: the encoding must be one that iconv-lite knows, found "${encoding}".`,
  );
}
