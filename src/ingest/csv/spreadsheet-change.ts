import { Big } from 'big.js';
import { canonicalDecimal } from '../../domain/money.ts';

/** No number, date or truth value is longer, and a hostile cell must take no time. */
const LONGEST = 60;
const NUMBER =
  /^(?<sign>[+-])? ?(?:R\$|[€$£¥]|EUR|USD|GBP|BRL)? ?(?<inner>[+-])?(?<digits>\d[\d., '’]*|[.,]\d+)(?:E(?<power>[+-]?\d{1,3}))? ?(?<percent>%)? ?(?:[€$£¥]|EUR|USD|GBP|BRL)?(?<behind>-)?$/iu;
/** A spreadsheet keeps no more digits than this. */
const KEPT_DIGITS = 15;
/** A spreadsheet shows this many digits of a number in a column without a format. */
const SHOWN_DIGITS = 9;
/** A spreadsheet does not change whole numbers without a leading zero that it shows in full. */
const STAYS = /^(?:0|[1-9]\d{0,10})$/;
/** Month names in the languages whose spreadsheets Lote expects. */
const MONTH = /(?:jan|ene|feb|fev|mar|apr|abr|may|mai|jun|jul|aug|ago|sep|set|oct|out|nov|dec|dez|dic)\p{L}*/giu;
const DATE = /^\d{1,4}(?:[-/. :]{1,2}\d{1,4}){1,5}$/;
/** The day number of a date since 1954, which remains when the date format is removed. */
const DAY_NUMBER = /^[2-6]\d{4}(?:[.,]0+)?$/;
const TRUTH = new Map([
  ...['true', 'verdadeiro', 'verdadero'].map((word): [string, boolean] => [word, true]),
  ...['false', 'falso'].map((word): [string, boolean] => [word, false]),
]);

/** True if some spreadsheet, in some language, takes this text of a CSV file for another type and may save it differently. */
export function mayChange(cell: string): boolean {
  const text = cell.trim();
  if (text === '' || text.length > LONGEST || STAYS.test(text)) return false;
  if (!/\d/u.test(text)) return TRUTH.has(text.toLowerCase());
  return numbersIn(text).length > 0 || isDate(text);
}

/**
 * True if a spreadsheet that saves a CSV file may have turned `was` into `now`: the same number written differently
 * (`00012` and `12`, `1E5` and `100000`, `12,50` and `1250`), the same truth value, or any text in place of a date,
 * which has too many spellings to compare. False for equal texts and changes that only a person makes.
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

/** Returns every number that a spreadsheet of some language may read in a cell, as canonical decimals. */
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

/** Reads the digits with each mark as decimal mark, and with none. */
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
