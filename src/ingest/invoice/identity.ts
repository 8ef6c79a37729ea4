import { shorten } from '../findings.ts';
import type { ReferenceParts } from '../ingest-result.ts';
import { isSpreadsheetError } from './no-value.ts';

/** Returns why a NIF cell is not a NIF, with advice. Returns null if it is one. */
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

/** Returns the digits of a NIF without spaces; null if the cell is empty or has other characters. */
export function normalNif(cell: string): string | null {
  if (DIGITS.test(cell)) return cell;
  const digits = cell.replace(/[\s\u00a0\u202f]/g, '');
  return DIGITS.test(digits) ? digits : null;
}

/** Returns true if the check digit of a Portuguese NIF is right. Lote knows no check digit for other lengths. */
export function hasValidChecksum(nif: string): boolean {
  if (!/^\d{9}$/.test(nif)) return false;
  let sum = 0;
  for (let at = 0; at < 8; at += 1) sum += Number(nif[at]) * (9 - at);
  const rest = sum % 11;
  return Number(nif[8]) === (rest < 2 ? 0 : 11 - rest);
}

/** Languages whose spreadsheets write dates with their own month names. */
const LANGUAGES =
  'pt es en fr it de nl pl cs sk hu ro hr sl bg ru uk el tr sv da nb fi et lv lt ca gl eu sr mk sq is ga'.split(' ');
let months: Set<string> | null = null;

/** Returns long and short month names as spreadsheets write them, in lower case without accents and points. */
function monthNames(): ReadonlySet<string> {
  months ??= new Set(
    LANGUAGES.flatMap((language) =>
      (['short', 'long'] as const).flatMap((month) => {
        const format = new Intl.DateTimeFormat(language, { month, timeZone: 'UTC' });
        return Array.from({ length: 12 }, (_, at) => plainWord(format.format(Date.UTC(2026, at, 1))));
      }),
    ).flatMap((name) => [name, name.slice(0, 3)]),
  ).add('mrz');
  return months;
}

function plainWord(text: string): string {
  return text
    .normalize('NFD')
    .replace(/[\p{M}.]/gu, '')
    .toLowerCase()
    .trim();
}

/** Dates with a day and a month name, and perhaps a year; dates of three numbers; and times of day. */
const IN_WORDS = /^\d{1,2}(?:\.|º|st|nd|rd|th)?[ ./-]*(?:de |of )?(\p{L}{2,12})\.?(?:,?[ ./-]*(?:de )?\d{2,4}\.?)?$/iu;
/** A month and a year. Words in capitals do not match, because series of invoices begin with one. */
const MONTH_FIRST = /^(\p{L}\p{Ll}{1,11})\.?[ ./-](?:de |of )?(?:\d{2}|\d{4})$/u;
const IN_CHINESE = /^[\d年]*\d月(?:\d+日)?$/u;
const IN_NUMBERS = /^(\d{1,4})([./-])(\d{1,2})\2(\d{1,4})\.?(?:[ T]\d{1,2}:\d{2}.*)?$/u;
const TIME = /^\d{1,2}:\d{2}(?::\d{2})?(?:\s*[ap]\.?m\.?)?$/iu;

function isDate(ref: string): boolean {
  if (TIME.test(ref) || IN_CHINESE.test(ref)) return true;
  const word = (IN_WORDS.exec(ref) ?? MONTH_FIRST.exec(ref))?.[1];
  if (word !== undefined) return monthNames().has(plainWord(word));
  const [, first = '', , middle = '', last = ''] = IN_NUMBERS.exec(ref) ?? [];
  const isYear = (digits: string) => digits.length === 2 || digits.length === 4;
  const isDayAndMonth = (...numbers: readonly string[]) =>
    numbers.every((digits) => digits.length <= 2 && Number(digits) >= 1 && Number(digits) <= 31) &&
    numbers.some((digits) => Number(digits) <= 12);
  return (isYear(last) && isDayAndMonth(first, middle)) || (isYear(first) && isDayAndMonth(middle, last));
}

/** Returns why a reference is damaged, or null: spreadsheets make dates, powers of ten and fractions of it. */
export function damagedReference(ref: string): string | null {
  if (/^\d(?:E\+|[.,]\d+E\+?)\d+$/i.test(ref))
    return 'a spreadsheet turned the reference into a number in scientific notation';
  if (/^\d+[.,]0{1,2}$/.test(ref)) return 'a spreadsheet or a script turned the reference into a number with decimals';
  return isDate(ref) ? 'a spreadsheet turned the reference into a date' : null;
}

/** Returns true for a buyer's tax number that a spreadsheet turned into a number. */
export function isDamagedTaxId(text: string): boolean {
  return /^\d(?:[.,]\d+)?E\+\d+$|^\d[.,]\d+E\d+$|^\d{6,}[.,]0+$/i.test(text);
}

/** Returns true for a tax number without a digit, or of one repeated digit, such as `000000000` and `N/A`. */
export function isNoTaxId(text: string): boolean {
  const signs = text.replace(/[^\p{L}\p{N}]/gu, '').replace(/^\p{L}{2}(?=\p{N})/u, '');
  return !/\p{N}/u.test(signs) || /^(\p{N})\1*$/u.test(signs);
}

function shown(text: string): string {
  return text.length > 40 ? `${shorten(text, 40)}…` : text;
}

/** A reference, or the reason why the row has none. */
export interface ReferenceCell {
  readonly text: string;
  readonly problem: { readonly code: string; readonly message: string } | null;
}

const MISSING = { code: 'reference-missing', message: "expected the invoice's reference, found an empty cell" };

/** Returns the trimmed cell as the reference. An empty or missing cell gives the problem `reference-missing`. */
export function plainReference(cell: string | null | undefined): ReferenceCell {
  const text = cell?.trim() ?? '';
  return { text, problem: text === '' ? MISSING : null };
}

/** Joins the parts of a reference so that two different invoices never get the same reference. */
export function builtReference(cells: readonly string[], { columns, separator }: ReferenceParts): ReferenceCell {
  const parts = cells.map((cell) => cell.trim());
  const empty = parts.indexOf('');
  if (empty >= 0) {
    const message = `expected the reference's parts ${columns.map((name) => `"${name}"`).join(' and ')}, found "${columns[empty] ?? ''}" empty`;
    return { text: '', problem: { code: 'reference-missing', message } };
  }
  const failed = parts.find(isSpreadsheetError);
  if (failed !== undefined) {
    const message = `expected the reference's parts, found ${failed}, which a spreadsheet shows instead of a value. Correct the formula and export again`;
    return { text: '', problem: { code: 'spreadsheet-error', message } };
  }
  const split = parts.slice(0, -1).find((part) => part.includes(separator));
  if (split !== undefined) {
    const message = `expected parts without "${separator}", which joins them, found "${split.slice(0, 40)}". Choose another separator in the profile`;
    return { text: '', problem: { code: 'reference-ambiguous', message } };
  }
  return { text: parts.join(separator), problem: null };
}

/** A spreadsheet keeps this many digits of a number and writes zeros for the rest. */
const KEPT_DIGITS = 15;
const LONG_NUMBER = /^\d{16,}$/;
/**
 * Detects references that went through a spreadsheet: `12345678901234567` becomes `12345678901234500`. Two zeros behind
 * the kept digits of all references, in one or in two, are chance in one file of a hundred.
 */
export class CutReferences {
  #first: string | null = null;
  #isWhole = false;
  #isProved = false;

  observe(ref: string): void {
    if (this.#isWhole || !LONG_NUMBER.test(ref)) return;
    this.#first ??= ref;
    this.#isProved ||= ref.length > KEPT_DIGITS + 1 || ref !== this.#first;
    // A spreadsheet number has no zero in front.
    this.#isWhole = ref.startsWith('0') || !isCutReference(ref);
  }

  /** True if every long reference ends as a spreadsheet ends it, too often for chance. */
  get areCut(): boolean {
    return this.#isProved && !this.#isWhole;
  }
}

/** Returns true for a number with more digits than a spreadsheet keeps, of which all further digits are zeros. */
export function isCutReference(ref: string): boolean {
  return LONG_NUMBER.test(ref) && !/[1-9]/.test(ref.slice(KEPT_DIGITS));
}
