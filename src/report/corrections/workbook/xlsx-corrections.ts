import { ORIGINAL, ORIGINAL_FORMAT, READ_AS } from '../../../domain/read-as.ts';
import type { Language } from '../../../texts/languages.ts';
import { problemText } from '../../../texts/problems/problem-text.ts';
import type { Column } from '../../../domain/row.ts';
import { checkAllFound, type Correction, type CorrectionsPlan, type Mark } from '../corrections-plan.ts';
import { keptColumns, LOTE_COLUMNS, oneLine } from '../lote-columns.ts';
import type { OriginalCell, OriginalSheet, OriginalSheetRow } from '../original-file.ts';
import { CellNotes, cellName } from './cell-notes.ts';
import { CellStyles, type Look } from './cell-styles.ts';
import { cellXml, emptyXml, textXml } from './cell-xml.ts';
import { MAIN, packageParts, PARTS, RELATIONSHIPS, XML_HEAD } from './package-parts.ts';
import { fitMarks } from './fit-for-workbook.ts';
import { mergedInto } from './merged-cells.ts';
import { NOTE_TEXTS } from './note-texts.ts';
import { clipped } from './xml-text.ts';
import { ZipStream } from './zip-stream.ts';

const WIDEST = 60;
/** The notes say the rest, each at its cell. */
const LONGEST_REASON = 2000;
/** Where a date has no format of its own: numbers of the formats that Excel writes in the reader's own order. */
const DATE_FORMATS = { date: 14, dateTime: 22, time: 21 };

/**
 * The planned rows as a workbook with the sheet's columns, values and number formats: the wrong cells marked, each with a note in this
 * language, and Lote's own columns at the end. Streamed row by row; the notes wait in memory.
 * @throws UnfitForWorkbook when they are written as CSV instead; LoteError `file-changed`
 */
export async function* xlsxCorrections(
  original: OriginalSheet,
  plan: CorrectionsPlan,
  language: Language,
): AsyncGenerator<Uint8Array> {
  const marks = fitMarks(original, plan);
  const archive = new ZipStream();
  for (const [name, xml] of packageParts(original.name)) archive.add(name, xml);
  const sheet = new SheetWriter(original, language);
  const part = archive.begin(PARTS.sheet);
  part.write(sheet.beginning());
  let found = 0;
  for await (const row of original.rows) {
    const correction = plan.byRow.get(row.row);
    if (correction === undefined) continue;
    if (correction.ofInvoice) found += 1;
    part.write(sheet.row(row, correction, marks.get(row.row) ?? []));
    yield* archive.take();
  }
  checkAllFound(plan, found);
  part.write(sheet.ending());
  part.end();
  archive.add(PARTS.styles, sheet.styles.xml());
  yield* written(archive, PARTS.notes, sheet.notes.texts());
  yield* written(archive, PARTS.noteBoxes, sheet.notes.boxes());
  archive.end();
  yield* archive.take();
}

function* written(archive: ZipStream, name: string, pieces: Iterable<string>): Generator<Uint8Array> {
  const part = archive.begin(name);
  for (const piece of pieces) {
    part.write(piece);
    yield* archive.take();
  }
  part.end();
}

/** A cell of the row that is written: one of the original, or a text of Lote's own. */
type Written = OriginalCell | string | undefined;

/** Writes the rows of the sheet, and remembers the styles and notes that they need. */
class SheetWriter {
  readonly styles = new CellStyles();
  readonly notes = new CellNotes();
  readonly #original: OriginalSheet;
  readonly #language: Language;
  /** Positions in the original, in the order of the columns that are written. */
  readonly #kept: readonly number[];
  /** A file of corrections that came back has its quotes already. */
  readonly #own: boolean;
  readonly #readAs: readonly string[];
  readonly #width: number;
  /** Rows of the original that were written, each one row below its place in this list. */
  readonly #rows: number[] = [];

  constructor(original: OriginalSheet, language: Language) {
    // A workbook that was made of a CSV file keeps the cells of that one.
    const { kept, own, width } = keptColumns(original.header, ORIGINAL);
    this.#original = original;
    this.#language = language;
    this.#kept = kept;
    this.#own = own;
    this.#width = width;
    this.#readAs = original.readAs === '' ? [] : [original.readAs];
  }

  /** Everything above the rows, and the header. */
  beginning(): string {
    const header = [
      ...this.#kept.map((at) => this.#original.header[at] ?? ''),
      ...(this.#original.hasOriginals === true ? [ORIGINAL] : []),
      ...LOTE_COLUMNS,
      ...this.#readAs.map(() => READ_AS),
    ];
    const columns = header.map((title, at) => {
      const width = title === 'lote_reason' ? WIDEST : Math.min(WIDEST, Math.max(12, title.length + 3));
      return `<col min="${at + 1}" max="${at + 1}" width="${width}" customWidth="1"/>`;
    });
    const style = this.styles.numberOf(null, 'heading');
    const cells = header.map((title, at) => (title === '' ? '' : textXml(title, { name: cellName(0, at), style })));
    return `${XML_HEAD}<worksheet xmlns="${MAIN}" xmlns:r="${RELATIONSHIPS}"><sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews><cols>${columns.join('')}</cols><sheetData><row r="1">${cells.join('')}</row>`;
  }

  /** Everything below the rows: merged cells stay merged, for what they mean was not said yet. */
  ending(): string {
    const merged = mergedInto(this.#original.merged(), this.#rows, this.#kept);
    this.notes.merge(merged);
    const cells = merged.map(
      ({ top, left, bottom, right }) => `<mergeCell ref="${cellName(top, left)}:${cellName(bottom, right)}"/>`,
    );
    const list = cells.length === 0 ? '' : `<mergeCells count="${cells.length}">${cells.join('')}</mergeCells>`;
    return `</sheetData>${list}<legacyDrawing r:id="rId1"/></worksheet>`;
  }

  row(
    { row: number, hidden, cells, original = '' }: OriginalSheetRow,
    correction: Correction,
    marks: readonly Mark[],
  ): string {
    const row = this.#rows.push(number);
    const wrong = this.#wrongCells(number, marks);
    for (const [column, text] of wrong) this.notes.add({ row, column, text });
    const written: Written[] = [
      ...this.#kept.map((at) => cells[at]),
      ...(this.#original.hasOriginals === true ? [originalCell(original)] : []),
      ...[correction.state, clipped(oneLine(correction.reason), LONGEST_REASON), ...this.#readAs],
      ...cells.slice(this.#width),
    ];
    const xml = written.map((cell, column) =>
      this.#cell(cell, cellName(row, column), wrong.has(column) ? 'wrong' : 'plain'),
    );
    // A hidden row was refused for being hidden: shown, it would go out uncorrected.
    return `<row r="${row + 1}"${hidden ? ' hidden="1"' : ''}>${xml.join('')}</row>`;
  }

  #cell(cell: Written, name: string, look: Look): string {
    if (cell === undefined) {
      return look === 'plain' ? '' : emptyXml({ name, style: this.styles.numberOf(null, look) });
    }
    if (typeof cell === 'string') return textXml(cell, { name, style: this.styles.numberOf(null, look) });
    return cellXml(cell, { name, style: this.styles.numberOf(formatOf(cell), look) }, !this.#own);
  }

  /** The note of each wrong cell, by the column in which it is written. */
  #wrongCells(row: number, marks: readonly Mark[]): ReadonlyMap<number, string> {
    const notes = new Map<number, string>();
    for (const mark of marks) {
      const known = mark.column === null ? undefined : this.#original.columns.get(mark.column);
      const at = this.#kept.indexOf(known?.position ?? this.#referenceAt());
      const said = noteOf({ row, mark, column: known?.column ?? null }, this.#language);
      const earlier = notes.get(Math.max(at, 0));
      notes.set(Math.max(at, 0), earlier === undefined ? said : `${earlier}\n\n${said}`);
    }
    return notes;
  }

  /** Where an invoice as a whole is marked. */
  #referenceAt(): number {
    for (const { position, column } of this.#original.columns.values()) if (column === 'invoice_ref') return position;
    return this.#kept[0] ?? 0;
  }
}

/** What is wrong, what must hold, and the sentence of the report where the first is a translation. */
function noteOf(
  { row, mark, column }: { readonly row: number; readonly mark: Mark; readonly column: Column | null },
  language: Language,
): string {
  const texts = NOTE_TEXTS[language];
  // The row is that of the first file, and the column is the one at which the note stands.
  const found = mark.message.replace(`Row ${row}, ${mark.column ?? ''}: `, '').replace(`Row ${row}: `, '');
  const sentence = oneLine(found);
  const translated = problemText(mark.code ?? '', language);
  return [
    `${texts.wrong} ${translated ?? sentence}`,
    ...(column === null ? [] : [`${texts.mustHold} ${texts.columns[column]}`]),
    ...(translated === null ? [] : [`${texts.detail} ${sentence}`]),
  ].join('\n');
}

function originalCell(text: string): Written {
  return text === '' ? undefined : { kind: 'text', text, format: ORIGINAL_FORMAT };
}

function formatOf({ kind, text, format }: OriginalCell): string | number | null {
  if (kind !== 'date' || format !== null) return format;
  return text.includes('T') ? DATE_FORMATS.dateTime : text.includes('-') ? DATE_FORMATS.date : DATE_FORMATS.time;
}
