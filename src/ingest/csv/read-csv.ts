import { ORIGINAL, parseReadAs } from '../../domain/read-as.ts';
import { CsvReader } from './csv-reader.ts';
import { CsvRows } from './csv-rows.ts';
import { Damage } from '../encoding/damage.ts';
import { decideConversion } from '../decide-conversion.ts';
import { DecimalEvidence } from './decimal-evidence.ts';
import { decideDialect } from './decide-dialect.ts';
import { LostRows } from '../lost-rows.ts';
import type { Read, Reading } from '../reading.ts';
import { Refusal } from '../refusal.ts';
import { trailingCells } from './row-width.ts';
import { trailingCellsOfRows } from './trailing-cells.ts';
import { shorten } from '../invoice/shorten.ts';
import type { TableHeader } from './table-header.ts';
import { MOST_HEADERS_SHOWN, headerProof, labelOf, labelsOf, readColumns, reportHeader } from './table-header.ts';

/**
 * Reads a CSV file into rows.
 * @throws Refusal when Lote cannot say what its rows are
 */
export async function readCsv(reading: Reading): Promise<Read> {
  const dialect = await decideDialect(reading.head, reading.options);
  const dialectProof = {
    delimiter: { value: dialect.delimiter, how: dialect.how, headerRow: dialect.header.row },
    header: headerProof(dialect),
    ignored: dialect.map.ignored.slice(0, MOST_HEADERS_SHOWN).map((name) => shorten(name, 80)),
  };
  reading.noteProof(dialectProof);
  const { header, map, how } = dialect;
  reportHeader(reading.findings, { header, map, expectedRow: how === 'sep-line' ? 2 : 1 });
  requireOriginals(dialect);
  const reader = new CsvReader(dialect.delimiter, reading.lineEnds);
  const damage = new Damage();
  const evidence = {
    quantity: new DecimalEvidence(labelOf(dialect, 'quantity')),
    unit_price: new DecimalEvidence(labelOf(dialect, 'unit_price')),
  };
  const lost = new LostRows(damage, labelOf(dialect, 'invoice_ref'));
  const trailing = await trailingCellsOfRows(reading, dialect);
  const rows = new CsvRows({ reading, dialect, damage, lost, evidence, delimiter: dialect.delimiter, trailing });
  for await (const chunk of reading.chunks()) {
    for (const record of await reader.write(chunk)) rows.take(record);
    await reading.writer.drain();
  }
  for (const record of await reader.end()) rows.take(record);
  rows.end(reader.endedLine);
  await reading.writer.flush();
  const { conversion, proof } = decideConversion(
    {
      ...{ format: 'csv', labels: labelsOf(dialect), lostReferences: lost.references(), evidence, damage },
      readAs: parseReadAs(rows.readAs ?? ''),
      areReferencesCut: rows.references.areCut,
    },
    reading.options,
  );
  return {
    dialect: {
      format: 'csv',
      delimiter: dialect.delimiter,
      lineEnd: dialect.lineEnd,
      headerRow: dialect.header.row,
      header: dialect.header.cells,
      ...(trailing === trailingCells(dialect.header.cells) ? {} : { unnamed: trailing }),
      own: dialect.map.own,
      read: readColumns(dialect),
    },
    conversion,
    proof: { ...dialectProof, ...proof },
  };
}

/** Without it a reference that lost its zeros, or a price that lost its mark, looks like any other. A workbook keeps its cells, and needs none. */
function requireOriginals({ header, map }: TableHeader): void {
  if (!map.own || map.original >= 0) return;
  throw new Refusal(
    'corrections-not-compared',
    `Header in row ${header.row}: a corrections file in CSV has the column ${ORIGINAL}, which shows what a spreadsheet has changed by itself, such as 00012 into 12, found none. Correct the file as Lote wrote it (corrections.xlsx stays a workbook), or put the column back: its cells may be empty once you have compared references, tax numbers and amounts with the dropped file`,
    { row: header.row, column: ORIGINAL },
  );
}
