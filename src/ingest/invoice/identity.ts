import { shorten } from './shorten.ts';

/** Why a NIF cell is not a NIF, in words that help; null when it is one. */
export function nifProblem(cell: string): { readonly code: string; readonly message: string } | null {
  const text = cell.trim();
  if (text === '') return { code: 'nif-missing', message: "expected the merchant's tax number, found an empty cell" };
  if (/^\d(?:[.,]\d+)?E\+?\d+$/i.test(text) || /^\d+[.,]0+$/.test(text)) {
    return {
      code: 'nif-damaged',
      message: `expected digits, found "${shown(text)}": a spreadsheet turned the tax number into a number. Format the column as text and enter it again`,
    };
  }
  if (normalNif(text) === null)
    return { code: 'nif-unreadable', message: `expected digits only, found "${shown(text)}"` };
  return null;
}

const DIGITS = /^\d{1,20}$/;

/** Digits of a NIF, spaces removed; null when there is anything else in it, or nothing. */
export function normalNif(cell: string): string | null {
  if (DIGITS.test(cell)) return cell;
  const digits = cell.replace(/[\s\u00a0\u202f]/g, '');
  return DIGITS.test(digits) ? digits : null;
}

/** True when the check digit of a Portuguese NIF is right; other lengths have none that Lote knows. */
export function hasValidChecksum(nif: string): boolean {
  if (!/^\d{9}$/.test(nif)) return false;
  let sum = 0;
  for (let at = 0; at < 8; at += 1) sum += Number(nif[at]) * (9 - at);
  const rest = sum % 11;
  return Number(nif[8]) === (rest < 2 ? 0 : 11 - rest);
}

const MONTH = 'jan|feb|fev|mar|apr|abr|may|mai|jun|jul|aug|ago|sep|set|oct|out|nov|dec|dez|dic|ene';
const DATES = [
  /^\d{1,2}[/.-]\d{1,2}[/.-]\d{4}$/,
  /^\d{4}-\d{2}-\d{2}(?:[ T]\d{2}:\d{2}.*)?$/,
  // What Excel makes of `1-3`; `MAR-24` may well be a reference.
  new RegExp(`^\\d{1,2}[/-](?:${MONTH})\\.?(?:[/-]\\d{2,4})?$`, 'i'),
];

/** Why a reference cannot be what was meant: spreadsheets turn references into dates, powers of ten and fractions. */
export function damagedReference(ref: string): string | null {
  if (/^\d(?:[.,]\d+)?E\+\d+$/i.test(ref))
    return 'a spreadsheet turned the reference into a number in scientific notation';
  if (/^\d+[.,]0{1,2}$/.test(ref)) return 'a spreadsheet or a script turned the reference into a number with decimals';
  return DATES.some((date) => date.test(ref)) ? 'a spreadsheet turned the reference into a date' : null;
}

/** True for a tax number of a buyer that a spreadsheet turned into a number. */
export function isDamagedTaxId(text: string): boolean {
  return /^\d(?:[.,]\d+)?E\+\d+$|^\d[.,]\d+E\d+$|^\d{6,}[.,]0+$/i.test(text);
}

function shown(text: string): string {
  return text.length > 40 ? `${shorten(text, 40)}…` : text;
}
