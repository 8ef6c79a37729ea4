import { Big } from 'big.js';
import { canonicalDecimal } from '../money.ts';

/** No number, date or truth value is longer; a hostile cell must cost nothing. */
const LONGEST = 60;
const NUMBER =
  /^(?<sign>[+-])? ?(?:R\$|[€$£¥]|EUR|USD|GBP|BRL)? ?(?<inner>[+-])?(?<digits>\d[\d., '’]*|[.,]\d+)(?:E(?<power>[+-]?\d{1,3}))? ?(?<percent>%)? ?(?:[€$£¥]|EUR|USD|GBP|BRL)?(?<behind>-)?$/iu;
/** More digits than this a spreadsheet does not keep. */
const KEPT_DIGITS = 15;
/** So many digits it shows of a number in a column of no format. */
const SHOWN_DIGITS = 9;
/** What is left alone: whole numbers without a leading zero that are shown in full. */
const STAYS = /^(?:0|[1-9]\d{0,10})$/;
/** In the languages whose spreadsheets Lote expects. */
const MONTH = /(?:jan|ene|feb|fev|mar|apr|abr|may|mai|jun|jul|aug|ago|sep|set|oct|out|nov|dec|dez|dic)\p{L}*/giu;
const DATE = /^\d{1,4}(?:[-/. :]{1,2}\d{1,4}){1,5}$/;
/** The number of a day since 1954: what is left of a date whose format was taken away. */
const DAY_NUMBER = /^[2-6]\d{4}(?:[.,]0+)?$/;
const TRUTH = new Map([
  ...['true', 'verdadeiro', 'verdadero'].map((word): [string, boolean] => [word, true]),
  ...['false', 'falso'].map((word): [string, boolean] => [word, false]),
]);

/** Whether some spreadsheet, in some language, takes this text of a CSV file for something else and may save it differently. */
export function mayChange(cell: string): boolean {
  const text = cell.trim();
  if (text === '' || text.length > LONGEST || STAYS.test(text)) return false;
  if (!/\d/u.test(text)) return TRUTH.has(text.toLowerCase());
  return numbersIn(text).length > 0 || isDate(text);
}

/**
 * Whether a spreadsheet that opens and saves a CSV file may have made `now` of `was`: the same number written differently (`00012` and `12`, `1E5` and
 * `100000`, `12,50` and `1250`), the same truth value, or anything else in place of what it takes for a date, which it writes in too many ways to compare.
 * False for equal texts, and for what only a person changes.
 */
export function isSpreadsheetChange(was: string, now: string): boolean {
  const [before, after] = [was.trim(), now.trim()];
  if (before === after || after === '' || before.length > LONGEST || after.length > LONGEST) return false;
  if (isSameNumber(before, after)) return true;
  if (isDate(before)) return [before, after].some((text) => numbersIn(text).length === 0) || DAY_NUMBER.test(after);
  const truth = TRUTH.get(before.toLowerCase());
  return truth !== undefined && truth === TRUTH.get(after.toLowerCase());
}

function isDate(text: string): boolean {
  return DATE.test(text.replaceAll(MONTH, '1'));
}

/** Canonical decimals: everything that a spreadsheet of some language may read in a cell. */
function numbersIn(text: string): readonly string[] {
  const isNegative = /^\(.*\)$/u.test(text);
  const match = NUMBER.exec(isNegative ? text.slice(1, -1) : text);
  if (match?.groups === undefined) return [];
  const { sign, inner, digits = '', power, percent, behind } = match.groups;
  const factor = isNegative || [sign, inner, behind].includes('-') ? -1 : 1;
  const values = readings(digits).map((decimal) =>
    new Big(decimal).times(factor).times(new Big(10).pow(Number(power ?? 0))),
  );
  const all = percent === undefined ? values : values.flatMap((value) => [value, value.div(100)]);
  return [...new Set(all.map((value) => value.toFixed()))];
}

/** With each mark as decimal mark, and with none. */
function readings(digits: string): readonly string[] {
  const marks = ['.', ','].filter((mark) => digits.split(mark).length === 2);
  const texts = [
    digits.replaceAll(/\D/gu, ''),
    ...marks
      .map((mark) => digits.split(mark).map((part) => part.replaceAll(/\D/gu, '') || '0'))
      .map((parts) => parts.join('.')),
  ];
  return texts.flatMap((text) => canonicalDecimal(text) ?? []);
}

function isSameNumber(was: string, now: string): boolean {
  const after = numbersIn(now);
  if (after.length === 0) return false;
  const isShortened = /\dE[+-]?\d+$/iu.test(now);
  return numbersIn(was).some((one) => after.some((other) => one === other || isRounded(one, other, isShortened)));
}

/** Long numbers lose their last digits: `123456789012345678` becomes `123456789012345000`, or `1.23457E+17`. */
function isRounded(was: string, now: string, isShortened: boolean): boolean {
  const [digits, left] = [significant(was), significant(now)];
  if (left >= digits || left === 0) return false;
  if (!isShortened && (digits <= KEPT_DIGITS - 5 || left < SHOWN_DIGITS)) return false;
  const value = new Big(was);
  return [Big.roundHalfUp, Big.roundDown].some((how) => value.prec(left, how).eq(now));
}

function significant(decimal: string): number {
  return decimal.replaceAll(/^-?0*\.?0*|\./gu, '').replace(decimal.includes('.') ? '' : /0+$/u, '').length;
}
