import { COLUMNS } from '../../domain/row.ts';
import { parseReadAs } from '../../domain/read-as.ts';
import type { Column } from '../../domain/row.ts';
import { CsvReader } from './csv-reader.ts';
import { CsvRows, labelOf } from './csv-rows.ts';
import { Damage } from '../encoding/damage.ts';
import { DecimalEvidence } from './decimal-evidence.ts';
import type { DialectDecision } from './decide-dialect.ts';
import { decideDialect } from './decide-dialect.ts';
import { LostRows } from '../lost-rows.ts';
import type { Read, Reading } from '../reading.ts';
import { shorten } from '../invoice/shorten.ts';

/** Headers shown in a finding or a proof; a file may have 10,000. */
const MOST_SHOWN = 50;

/**
 * Reads a CSV file into rows.
 * @throws Refusal when Lote cannot say what its rows are
 */
export async function readCsv(reading: Reading): Promise<Read> {
  const dialect = await decideDialect(reading.head, reading.options);
  const dialectProof = {
    delimiter: { value: dialect.delimiter, how: dialect.how, headerRow: dialect.header.row },
    header: headerProof(dialect),
    ignored: dialect.map.ignored.slice(0, MOST_SHOWN).map((name) => shorten(name, 80)),
  };
  reading.noteProof(dialectProof);
  reportHeader(reading, dialect);
  const reader = new CsvReader(dialect.delimiter, reading.lineEnds);
  const damage = new Damage();
  const evidence = {
    quantity: new DecimalEvidence(labelOf(dialect, 'quantity')),
    unit_price: new DecimalEvidence(labelOf(dialect, 'unit_price')),
  };
  const lost = new LostRows(damage, labelOf(dialect, 'invoice_ref'));
  const rows = new CsvRows({ reading, dialect, damage, lost, evidence });
  for await (const chunk of reading.chunks) {
    for (const record of await reader.write(chunk)) rows.take(record);
    await reading.writer.drain();
  }
  for (const record of await reader.end()) rows.take(record);
  rows.end(reader.endedLine);
  await reading.writer.end();
  const readAs = parseReadAs(rows.readAs ?? '');
  const decimal = {
    quantity: evidence.quantity.decide(reading.options.decimal ?? readAs.quantity),
    unit_price: evidence.unit_price.decide(reading.options.decimal ?? readAs.unit_price),
  };
  return {
    dialect: {
      format: 'csv',
      delimiter: dialect.delimiter,
      lineEnd: dialect.lineEnd,
      headerRow: dialect.header.row,
      header: dialect.header.cells,
      own: dialect.map.own,
    },
    conversion: {
      format: 'csv',
      decimal: { quantity: decimal.quantity.mark, unit_price: decimal.unit_price.mark },
      doubtful: {
        quantity: decimal.quantity.against !== undefined,
        unit_price: decimal.unit_price.against !== undefined,
      },
      duplicateRows: reading.options.duplicateRows ?? 'refuse',
      lookAlikes: reading.options.lookAlikes ?? 'refuse',
      labels: labels(dialect),
      damaged: damage.toJSON(),
      lostReferences: lost.references(),
      taxCodes: reading.options.taxCodes ?? null,
    },
    proof: {
      ...dialectProof,
      decimal,
      ...(reading.options.duplicateRows === 'keep' ? { duplicateRows: 'keep' } : {}),
    },
  };
}

function reportHeader({ findings }: Reading, { header, how, map }: DialectDecision): void {
  if (header.row > (how === 'sep-line' ? 2 : 1)) {
    findings.add({
      row: header.row,
      column: null,
      code: 'preamble',
      message: `The header stands in row ${header.row}; what is above it was left out`,
      severity: 'info',
    });
  }
  for (const { column, header: name } of map.overruled) {
    const message = `The profile gives every row a constant ${column}, so the file's own column "${shorten(name, 40)}" is not read`;
    findings.add({
      row: header.row,
      column: shorten(name, 80),
      code: 'constant-overrules',
      message,
      severity: 'warning',
    });
  }
  if (map.ignored.length === 0) return;
  const shown = map.ignored
    .slice(0, MOST_SHOWN)
    .map((name) => `"${shorten(name, 40)}"`)
    .join(', ');
  const more = map.ignored.length > MOST_SHOWN ? ` and ${map.ignored.length - MOST_SHOWN} more` : '';
  findings.add({
    row: header.row,
    column: null,
    code: 'columns-ignored',
    message: `These columns are not part of an invoice and are not sent: ${shown}${more}`,
    severity: 'info',
  });
}

function labels(dialect: DialectDecision): Record<Column, string> {
  return Object.fromEntries(COLUMNS.map((column) => [column, labelOf(dialect, column)])) as Record<Column, string>;
}

function headerProof({
  header,
  map,
}: DialectDecision): readonly { column: Column; header: string; position: number }[] {
  return COLUMNS.flatMap((column, at) => {
    const index = map.indexes[at] ?? -1;
    return index < 0 ? [] : [{ column, header: shorten(header.cells[index]?.trim() ?? '', 80), position: index + 1 }];
  });
}
