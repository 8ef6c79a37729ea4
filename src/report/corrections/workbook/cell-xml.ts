import { originalCell } from '../../../domain/text/escape-formula.ts';
import type { OriginalCell } from '../original-file.ts';
import { serialOf } from './date-serial.ts';
import { UnfitForWorkbook } from './fit-for-workbook.ts';
import { cellText } from './xml-text.ts';

/** What Excel can hold in a cell; it calls a file with more damaged. */
const LONGEST_TEXT = 32_767;
/** A double has no more; a cell with more was refused, and Excel would take it for another number. */
const MOST_DIGITS = 17;
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;
const ERRORS: ReadonlySet<string> = new Set(['#NULL!', '#DIV/0!', '#VALUE!', '#REF!', '#NAME?', '#NUM!', '#N/A']);
/** Refused wherever it is read, so that a row which nobody corrected is refused again. */
const NO_VALUE = '#VALUE!';

/** Where a cell goes, and how it looks. */
export interface CellPlace {
  /** `B5` */
  readonly name: string;
  /** Number of its style. */
  readonly style: number;
}

/**
 * The XML of a cell with its type: a text is no formula, whatever it begins with, and an error stays one. `quotes`: the reader of Lote's
 * own files takes a quote off before a formula sign, so a text of the author's that begins so gets one more.
 * @throws UnfitForWorkbook
 */
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

/** A cell with a text. @throws UnfitForWorkbook */
export function textXml(text: string, { name, style }: CellPlace): string {
  if (text.length > LONGEST_TEXT)
    throw new UnfitForWorkbook(`the cell ${name} has more than ${LONGEST_TEXT.toLocaleString('en')} characters`);
  return `<c r="${name}" s="${style}" t="inlineStr"><is><t xml:space="preserve">${cellText(text)}</t></is></c>`;
}

/** A cell that is marked and has no value. */
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
