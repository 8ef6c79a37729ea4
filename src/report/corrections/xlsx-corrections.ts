import { ORIGINAL, READ_AS, READ_AS_FORMAT } from '../../domain/read-as.ts';
import {
  checkAllFound,
  MOST_IN_A_WORKBOOK,
  type Correction,
  type CorrectionsPlan,
  keptColumns,
  LOTE_COLUMNS,
  oneLine,
} from './corrections-plan.ts';
import type { OriginalCell, OriginalSheet, OriginalSheetRow } from './original-file.ts';
import {
  CellStyles,
  type Look,
  cellText,
  clipped,
  MAIN,
  packageParts,
  PARTS,
  UnfitForWorkbook,
  XML_HEAD,
} from './package-parts.ts';
import { originalCell } from '../../domain/text/escape-formula.ts';
import { Zip, ZipDeflate } from 'fflate';

const WIDEST = 60;
const LONGEST_REASON = 2000;

/** Streams the planned rows as a workbook: wrong cells are marked, Lote's columns come last. @throws UnfitForWorkbook; LoteError `file-changed` */
export async function* xlsxCorrections(original: OriginalSheet, plan: CorrectionsPlan): AsyncGenerator<Uint8Array> {
  const marks = fitMarks(original, plan);
  const archive = new ZipStream();
  for (const [name, xml] of packageParts(original.name)) archive.add(name, xml);
  const sheet = sheetWriter(original);
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
  archive.end();
  yield* archive.take();
}

type Written = OriginalCell | string | undefined;

/** Writes the XML of a sheet, row by row. */
function sheetWriter(original: OriginalSheet) {
  // A workbook that was made from a CSV file keeps the column with the cells of the CSV file.
  const { kept, own, width } = keptColumns(original.header, ORIGINAL);
  const styles = new CellStyles();
  const rows: number[] = [];
  const reference = [...original.columns.values()].find(({ column }) => column === 'invoice_ref');

  /** Returns the column to mark for a wrong cell; an error without a column is marked at the reference. */
  function placeOf(column: string | null): number {
    const known = (column === null ? undefined : original.columns.get(column)) ?? reference;
    return Math.max(kept.indexOf(known?.position ?? kept[0] ?? 0), 0);
  }

  function cellOf(cell: Written, name: string, look: Look): string {
    if (cell === undefined) return look === 'plain' ? '' : `<c r="${name}" s="${styles.numberOf(null, look)}"/>`;
    if (typeof cell === 'string') return textXml(cell, name, styles.numberOf(null, look));
    const style = styles.numberOf(cell.format, look);
    if (cell.kind === 'number' && isExact(cell.text))
      return `<c r="${name}" s="${style}"><v>${cell.text.trim()}</v></c>`;
    // An error is refused when it is read, so that an uncorrected row is refused again.
    if (cell.kind !== 'text') return `<c r="${name}" s="${style}" t="e"><v>#VALUE!</v></c>`;
    // The reader of corrections removes a quote before a formula sign, so a text that has one needs another.
    return textXml(!own && originalCell(cell.text) !== cell.text ? `'${cell.text}` : cell.text, name, style);
  }

  return {
    styles,

    beginning(): string {
      const header = [...kept.map((at) => original.header[at] ?? ''), ...LOTE_COLUMNS, READ_AS];
      const columns = header.map((title, at) => {
        const wide = title === 'lote_reason' ? WIDEST : Math.min(WIDEST, Math.max(12, title.length + 3));
        return `<col min="${at + 1}" max="${at + 1}" width="${wide}" customWidth="1"/>`;
      });
      const style = styles.numberOf(null, 'heading');
      const cells = header.map((title, at) => (title === '' ? '' : textXml(title, cellName(0, at), style)));
      return `${XML_HEAD}<worksheet xmlns="${MAIN}"><sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews><cols>${columns.join('')}</cols><sheetData><row r="1">${cells.join('')}</row>`;
    },

    row({ row: number, hidden, cells }: OriginalSheetRow, correction: Correction, marks: readonly (string | null)[]) {
      const row = rows.push(number);
      const wrong = new Set(marks.map(placeOf));
      const written: Written[] = [
        ...kept.map((at) => cells[at]),
        ...[correction.state, clipped(oneLine(correction.reason), LONGEST_REASON)],
        { kind: 'text', text: original.readAs, format: READ_AS_FORMAT },
        ...cells.slice(width),
      ];
      const xml = written.map((cell, at) => cellOf(cell, cellName(row, at), wrong.has(at) ? 'wrong' : 'plain'));
      // A hidden row was refused because it is hidden: if the corrections showed it, it would be sent uncorrected.
      return `<row r="${row + 1}"${hidden ? ' hidden="1"' : ''}>${xml.join('')}</row>`;
    },

    /** Returns the XML after the rows. @throws UnfitForWorkbook for merged cells, because no person has said yet what they mean */
    ending(): string {
      const merged = original.merged();
      if (merged.some(({ firstRow, lastRow }) => rows.some((row) => row >= firstRow && row <= lastRow)))
        throw new UnfitForWorkbook('its rows have merged cells');
      return '</sheetData></worksheet>';
    },
  };
}

/** Excel's limit for the text of a cell; it reports a file with longer text as damaged. */
const LONGEST_TEXT = 32_767;

function textXml(text: string, name: string, style: number): string {
  if (text.length > LONGEST_TEXT)
    throw new UnfitForWorkbook(`the cell ${name} has more than ${LONGEST_TEXT.toLocaleString('en')} characters`);
  return `<c r="${name}" s="${style}" t="inlineStr"><is><t xml:space="preserve">${cellText(text)}</t></is></c>`;
}

/** A double has no more digits: Excel would turn a number with more into another one. */
const MOST_DIGITS = 17;
const NUMBER = /^\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\s*$/;
function isExact(text: string): boolean {
  if (!NUMBER.test(text) || !Number.isFinite(Number(text))) return false;
  const [mantissa = ''] = text.toLowerCase().split('e');
  return mantissa.replace(/\D/g, '').replace(/^0+|0+$/g, '').length <= MOST_DIGITS;
}

/** Returns the name of a cell: row 1, column 27 is `AB2`. */
function cellName(row: number, column: number): string {
  let letters = '';
  for (let rest = column + 1; rest > 0; rest = Math.floor((rest - 1) / 26))
    letters = String.fromCharCode(65 + ((rest - 1) % 26)) + letters;
  return `${letters}${row + 1}`;
}

/** A constant time, so that the same rows have the same bytes and a rewritten report recognises its corrections. */
const NO_TIME = new Date(1980, 0, 1);

class ZipStream {
  #ready: Uint8Array[] = [];
  readonly #zip = new Zip((error, bytes) => {
    if (error !== null) throw error;
    this.#ready.push(bytes);
  });

  /** Begins a part that is written in pieces; it must be ended before the next part begins. */
  begin(name: string): { write(text: string): void; end(): void } {
    const part = new ZipDeflate(name, { level: 6 });
    part.mtime = NO_TIME;
    this.#zip.add(part);
    return {
      write: (text) => part.push(Buffer.from(text, 'utf8')),
      end: () => part.push(new Uint8Array(0), true),
    };
  }

  add(name: string, text: string): void {
    const part = this.begin(name);
    part.write(text);
    part.end();
  }

  end(): void {
    this.#zip.end();
  }

  take(): readonly Uint8Array[] {
    const ready = this.#ready;
    this.#ready = [];
    return ready;
  }
}

/** Excel's limit of columns, minus those of Lote. */
const MOST_COLUMNS = 16_000;
/** Names that Excel accepts for a sheet. */
const SHEET_NAME = /^(?!')[^\p{Cc}\\/?*[\]:]{1,31}(?<!')$/u;

function fitMarks(
  { name, header }: Pick<OriginalSheet, 'name' | 'header'>,
  { marks }: CorrectionsPlan,
): NonNullable<CorrectionsPlan['marks']> {
  const most = MOST_IN_A_WORKBOOK.toLocaleString('en');
  if (marks === null)
    throw new UnfitForWorkbook(`it would have more than ${most} rows, or more than ${most} wrong cells`);
  if (header.length > MOST_COLUMNS)
    throw new UnfitForWorkbook(`it would have more than ${MOST_COLUMNS.toLocaleString('en')} columns`);
  // The name must not change, because a mapping profile may choose the sheet by it.
  if (!SHEET_NAME.test(name)) throw new UnfitForWorkbook('Excel cannot have a sheet of that name');
  return marks;
}
