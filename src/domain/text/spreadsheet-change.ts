import { Big } from 'big.js';
import { canonicalDecimal } from '../money.ts';

/** Day 0 of a spreadsheet, and of one in the date system of 1904. */
const EPOCHS = [Date.UTC(1899, 11, 30), Date.UTC(1904, 0, 1)];
/** 9999-12-31. */
const LAST_DAY = 2_958_465;

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
const MONTHS: readonly RegExp[] = [
  /jan\p{L}*|ene\p{L}*/gu,
  /feb\p{L}*|fev\p{L}*/gu,
  /mar\p{L}*/gu,
  /apr\p{L}*|abr\p{L}*/gu,
  /may\p{L}*|mai\p{L}*/gu,
  /jun\p{L}*/gu,
  /jul\p{L}*/gu,
  /aug\p{L}*|ago\p{L}*/gu,
  /sep\p{L}*|set\p{L}*/gu,
  /oct\p{L}*|out\p{L}*/gu,
  /nov\p{L}*/gu,
  /dec\p{L}*|dez\p{L}*|dic\p{L}*/gu,
];
const DATE = /^\d{1,4}(?:[-/. :]{1,2}\d{1,4}){1,5}$/;
/** What a spreadsheet adds to two numbers that it takes for a date or a time. */
const SHOWN_AS_DATE = /\p{L}|\d\D+\d+\D+\d/u;
const TRUTH = new Map([
  ...['true', 'verdadeiro', 'verdadero'].map((word): [string, boolean] => [word, true]),
  ...['false', 'falso'].map((word): [string, boolean] => [word, false]),
]);

/** Whether some spreadsheet, in some language, takes this text of a CSV file for something else and may save it differently. */
export function mayChange(cell: string): boolean {
  const text = cell.trim();
  if (text === '' || text.length > LONGEST || STAYS.test(text)) return false;
  if (!/\d/u.test(text)) return TRUTH.has(text.toLowerCase());
  return numbersIn(text).length > 0 || dateNumbers(text) !== null;
}

/**
 * Whether a spreadsheet that opens and saves a CSV file may have made `now` of `was`: the same number written differently (`00012` and `12`, `1E5` and
 * `100000`, `12,50` and `1250`), the same day, the number of that day (`11-26` and `46327`), the same truth value. False for equal texts, and for what only a person changes.
 */
export function isSpreadsheetChange(was: string, now: string): boolean {
  const [before, after] = [was.trim(), now.trim()];
  if (before === after || before.length > LONGEST || after.length > LONGEST) return false;
  if (isSameNumber(before, after) || isSameDay(before, after) || isItsSerial(before, after)) return true;
  const truth = TRUTH.get(before.toLowerCase());
  return truth !== undefined && truth === TRUTH.get(after.toLowerCase());
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

/** The numbers of a day or a time, of years the last two digits; null: it is neither. */
function dateNumbers(text: string): readonly number[] | null {
  const digits = MONTHS.reduce((rest, name, at) => rest.replaceAll(name, String(at + 1)), text.toLowerCase());
  if (!DATE.test(digits)) return null;
  return digits.split(/\D+/u).map((number) => (number.length === 4 ? Number(number) % 100 : Number(number)));
}

/** A spreadsheet names the month, or adds what is missing of a date; each number that stood there still does. */
function isSameDay(was: string, now: string): boolean {
  const before = dateNumbers(was);
  const after = dateNumbers(now);
  if (before === null || after === null || !SHOWN_AS_DATE.test(now)) return false;
  if (was.replaceAll(/\d/gu, '9') === now.replaceAll(/\d/gu, '9')) return false;
  return holdsAll(after, before);
}

/** A day is a number with a format; where somebody takes the format away, or saves it as text, the number is left. Of a time it is a part of the day. */
function isItsSerial(was: string, now: string): boolean {
  const before = dateNumbers(was);
  if (before === null) return false;
  return numbersIn(now).some((value) => {
    const serial = Number(value);
    if (!(serial > 0) || serial > LAST_DAY) return false;
    return EPOCHS.some((epoch) => {
      const at = new Date(epoch + Math.round(serial * 86_400) * 1000);
      return was.includes(':') ? isTimeOf(at, serial, before) : Number.isInteger(serial) && isDayOf(at, before);
    });
  });
}

/** Of two numbers a spreadsheet makes a day of this year, or the first day of a month. */
function isDayOf(at: Date, numbers: readonly number[]): boolean {
  const [day, month, year] = [at.getUTCDate(), at.getUTCMonth() + 1, at.getUTCFullYear() % 100];
  if (numbers.length > 2) return holdsAll([day, month, year], numbers);
  return holdsAll([day, month], numbers) || (day === 1 && holdsAll([month, year], numbers));
}

function isTimeOf(at: Date, serial: number, numbers: readonly number[]): boolean {
  const time = [at.getUTCHours(), at.getUTCMinutes(), at.getUTCSeconds()];
  const day = [at.getUTCDate(), at.getUTCMonth() + 1, at.getUTCFullYear() % 100];
  return holdsAll(serial < 1 ? time : [...day, ...time], numbers);
}

/** Each number, as often as it stands there. */
function holdsAll(numbers: readonly number[], wanted: readonly number[]): boolean {
  const rest = [...numbers];
  return wanted.every((number) => {
    const at = rest.indexOf(number);
    if (at >= 0) rest.splice(at, 1);
    return at >= 0;
  });
}
