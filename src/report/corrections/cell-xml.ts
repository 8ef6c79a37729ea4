import { originalCell } from '../../domain/text/escape-formula.ts';
import type { OriginalCell } from './original-file.ts';
import { cellText, UnfitForWorkbook } from './package-parts.ts';
import { DAY_MS } from '../../domain/time/day-ms.ts';

/** Excel's limit for the text of a cell; it reports a file with longer text as damaged. */
const LONGEST_TEXT = 32_767;
/** A double has no more digits. Lote refuses a cell with more, because Excel would turn it into another number. */
const MOST_DIGITS = 17;
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;
const ERRORS: ReadonlySet<string> = new Set(['#NULL!', '#DIV/0!', '#VALUE!', '#REF!', '#NAME?', '#NUM!', '#N/A']);
/** Lote refuses this value when it reads it, so that an uncorrected row is refused again. */
const NO_VALUE = '#VALUE!';

/** Position and style of a cell. */
export interface CellPlace {
  readonly name: string;
  readonly style: number;
}

/** Returns the XML of a typed cell. `quotes` adds a quote before a formula sign, which Lote's reader removes. @throws UnfitForWorkbook */
export function cellXml(cell: OriginalCell, place: CellPlace, quotes: boolean): string {
  const { kind, text } = cell;
  switch (kind) {
    case 'text':
      return textXml(quotes && originalCell(text) !== text ? `'${text}` : text, place);
    case 'boolean':
      return text === 'TRUE' || text === 'FALSE'
        ? valueXml(text === 'TRUE' ? '1' : '0', place, 'b')
        : textXml(text, place);
    case 'number':
      return isExact(text.trim()) ? valueXml(text.trim(), place) : errorXml(place);
    case 'date': {
      const serial = serialOf(text);
      return serial === null ? errorXml(place) : valueXml(serial, place);
    }
    case 'error':
      return errorXml(place, ERRORS.has(text) ? text : NO_VALUE);
    case 'none':
      return errorXml(place);
  }
}

/** Returns the XML of a text cell. @throws UnfitForWorkbook */
export function textXml(text: string, { name, style }: CellPlace): string {
  if (text.length > LONGEST_TEXT)
    throw new UnfitForWorkbook(`the cell ${name} has more than ${LONGEST_TEXT.toLocaleString('en')} characters`);
  return `<c r="${name}" s="${style}" t="inlineStr"><is><t xml:space="preserve">${cellText(text)}</t></is></c>`;
}

/** Returns the XML of a marked cell without a value. */
export function emptyXml({ name, style }: CellPlace): string {
  return `<c r="${name}" s="${style}"/>`;
}

function errorXml(place: CellPlace, error = NO_VALUE): string {
  return valueXml(error, place, 'e');
}

function valueXml(value: string, { name, style }: CellPlace, type?: 'b' | 'e'): string {
  return `<c r="${name}" s="${style}"${type === undefined ? '' : ` t="${type}"`}><v>${value}</v></c>`;
}

function isExact(text: string): boolean {
  if (!NUMBER.test(text) || !Number.isFinite(Number(text))) return false;
  const [mantissa = ''] = text.toLowerCase().split('e');
  return mantissa.replace(/\D/g, '').replace(/^0+|0+$/g, '').length <= MOST_DIGITS;
}

const DATE = /^(\d{4})-(\d{2})-(\d{2})(?:T(\d{2}):(\d{2}):(\d{2}))?$/;
const TIME = /^(\d{2}):(\d{2}):(\d{2})$/;
/** Excel counts a 29 February 1900, which did not exist; days before it are counted from one day later. */
const LEAP_DAY = 60;

/** Returns the number that XLSX stores for a date or a time in ISO 8601 (day 1 is 1900-01-01); null for any other text. */
export function serialOf(text: string): string | null {
  const time = TIME.exec(text);
  if (time !== null) return plain(fraction(time.slice(1)));
  const found = DATE.exec(text);
  if (found === null) return null;
  const [, year, month, day, ...clock] = found;
  if (`${year}-${month}-${day}` === '1900-02-29') return plain(LEAP_DAY + fraction(clock));
  const days = (Date.UTC(Number(year), Number(month) - 1, Number(day)) - Date.UTC(1899, 11, 30)) / DAY_MS;
  const serial = (days > LEAP_DAY ? days : days - 1) + fraction(clock);
  return serial < 0 ? null : plain(serial);
}

function fraction([hours = '0', minutes = '0', seconds = '0']: readonly (string | undefined)[]): number {
  return (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) / 86_400;
}

/** Ten decimals of a day are exact to less than a hundredth of a millisecond. */
function plain(serial: number): string {
  return String(Number(serial.toFixed(10)));
}

/** Returns the name of a cell: row 1, column 27 is `AB2`. */
export function cellName(row: number, column: number): string {
  let letters = '';
  for (let rest = column + 1; rest > 0; rest = Math.floor((rest - 1) / 26))
    letters = String.fromCharCode(65 + ((rest - 1) % 26)) + letters;
  return `${letters}${row + 1}`;
}
