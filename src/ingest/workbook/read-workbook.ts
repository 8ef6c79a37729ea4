import { decideConversion } from '../decide-conversion.ts';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { parseReadAs } from '../../domain/read-as.ts';
import { CsvRows } from '../csv/csv-rows.ts';
import { DecimalEvidence } from '../csv/decimal-evidence.ts';
import type { DecimalProof } from '../csv/decimal-evidence.ts';
import { MOST_HEADERS_SHOWN, headerProof, labelOf, labelsOf, readColumns, reportHeader } from '../csv/table-header.ts';
import { Damage } from '../encoding/damage.ts';
import type { NumberColumn, Proof } from '../ingest-result.ts';
import { shorten } from '../invoice/shorten.ts';
import { LostRows } from '../lost-rows.ts';
import type { Read, Reading } from '../reading.ts';
import { chooseSheet } from './choose-sheet.ts';
import type { ChosenSheet } from './choose-sheet.ts';
import { reportWorkbook } from './report-workbook.ts';
import { SheetRecords } from './sheet-records.ts';
import type { SheetRows, Workbook } from './workbook.ts';

/** Records between two writes to the store: what waits stays small, whatever a portion holds. */
const DRAIN_EVERY = 1000;
/** Long rows are written earlier. */
const MOST_CHARACTERS_WAITING = 16 * 1024 ** 2;

/**
 * Reads one sheet of an opened workbook into rows.
 * @throws Refusal when Lote cannot say what its rows are
 */
export async function readWorkbook(
  workbook: Workbook,
  reading: Omit<Reading, 'chunks' | 'head' | 'lineEnds'>,
  signal?: AbortSignal,
): Promise<Read> {
  const chosen = chooseSheet(workbook, reading.options);
  const proof = sheetProof(workbook, chosen);
  reading.noteProof(proof);
  reportHeader(reading.findings, { header: chosen.header, map: chosen.map, expectedRow: 1 });
  const damage = new Damage();
  const evidence = {
    quantity: new DecimalEvidence(labelOf(chosen, 'quantity')),
    unit_price: new DecimalEvidence(labelOf(chosen, 'unit_price')),
  };
  const lost = new LostRows(damage, labelOf(chosen, 'invoice_ref'));
  const rows = new CsvRows({ reading, dialect: chosen, damage, lost, evidence });
  const { findings } = reading;
  const records = new SheetRecords({ chosen, recalculates: workbook.recalculates, findings });
  const sheet = workbook.rows(chosen.sheet, signal);
  await takeAll(sheet, { records, rows, reading, signal });
  rows.end(true);
  const seen = reportWorkbook({ workbook, chosen, sheet, records, damage, findings });
  await reading.writer.flush();
  const readAs = parseReadAs(rows.readAs ?? '');
  const decided = decideConversion(
    { format: workbook.format, labels: labelsOf(chosen), lostReferences: lost.references(), evidence, damage, readAs },
    reading.options,
  );
  return {
    dialect: dialectOf(workbook, chosen, decided.decimal),
    conversion: decided.conversion,
    proof: {
      ...proof,
      workbook: { ...(proof['workbook'] as object), ...seen },
      ...decided.proof,
    },
  };
}

function dialectOf(
  { format }: Workbook,
  chosen: ChosenSheet,
  decimal: Readonly<Record<NumberColumn, DecimalProof>>,
): Read['dialect'] {
  const { sheet, header, map } = chosen;
  const { indexes, referenceParts } = map;
  return {
    ...{ format, delimiter: null, lineEnd: null, headerRow: header.row, header: header.cells, own: map.own },
    read: readColumns(chosen),
    sheet: {
      ...{ name: sheet.name, indexes, referenceParts },
      marks: { quantity: decimal.quantity.mark, unit_price: decimal.unit_price.mark },
    },
  };
}

async function takeAll(
  sheet: SheetRows,
  given: {
    readonly records: SheetRecords;
    readonly rows: CsvRows;
    readonly reading: Pick<Reading, 'writer'>;
    readonly signal: AbortSignal | undefined;
  },
): Promise<void> {
  const { records, rows, signal } = given;
  const { writer } = given.reading;
  let taken = 0;
  let characters = 0;
  for await (const portion of sheet.portions) {
    for (const row of portion) {
      const record = records.record(row);
      rows.take(record);
      taken += 1;
      for (const cell of record.cells) characters += cell.length;
      if (characters > MOST_CHARACTERS_WAITING) await writer.flush();
      else if (taken % DRAIN_EVERY === 0) await writer.drain();
      else continue;
      characters = 0;
      // One repeated row is a portion of a million: without a turn of the event loop nobody could cancel it.
      await nextTurn();
      signal?.throwIfAborted();
    }
  }
}

function sheetProof(workbook: Workbook, chosen: ChosenSheet): Proof {
  const names = (hidden: boolean): readonly string[] =>
    workbook.sheets
      .filter((sheet) => sheet !== chosen.sheet && sheet.hidden === hidden)
      .slice(0, MOST_HEADERS_SHOWN)
      .map(({ name }) => shorten(name, 80));
  return {
    workbook: {
      format: workbook.format,
      sheet: { name: shorten(chosen.sheet.name, 80), how: chosen.how, headerRow: chosen.header.row },
      notRead: names(false),
      hidden: names(true),
    },
    header: headerProof(chosen),
    ignored: chosen.map.ignored.slice(0, MOST_HEADERS_SHOWN).map((name) => shorten(name, 80)),
  };
}
