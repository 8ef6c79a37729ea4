import type { Speech, Language } from './languages.ts';
import { fill, pluralForm, type Plural } from './fill.ts';

/** Numbers, amounts, times and dates in the form that one reader expects. */
export interface SpeechFormat {
  readonly language: Language;
  readonly timeZone: string;
  readonly decimalMark: string;
  count(value: number): string;
  /** A text with a number; `of` is the whole of which the number is a part. */
  plural(text: Plural, n: number, of?: number): string;
  /** An exact decimal with the reader's marks; the digits never change. */
  amount(decimal: string): string;
  /** The same for money: at least two decimals, so that a column lines up, and more if the file has more. */
  money(decimal: string): string;
  time(epochMs: number): string;
  /** A calendar date, `2026-11-21`, without a time zone. */
  date(isoDate: string): string;
  /** A duration as exact as a reader needs: "2 hours 5 minutes", "45 minutes", "0.3 seconds". */
  duration(ms: number): string;
}

type FormatParts = Omit<SpeechFormat, 'plural' | 'amount' | 'money' | 'duration'> & { readonly group: string };

/** Returns the format for one reader. Without `timeZone`, times are in the machine's zone. */
export function speechFormat(
  { language, locale }: Speech,
  {
    timeZone,
    timeStyle = 'medium',
  }: { readonly timeZone?: string | undefined; readonly timeStyle?: 'short' | 'medium' } = {},
): SpeechFormat {
  const numbers = new Intl.NumberFormat(locale, { useGrouping: true });
  const parts = new Intl.NumberFormat(locale, { useGrouping: 'always', minimumFractionDigits: 1 }).formatToParts(
    1234567.5,
  );
  const times = new Intl.DateTimeFormat(locale, {
    dateStyle: 'medium',
    timeStyle,
    ...(timeZone === undefined ? {} : { timeZone }),
  });
  const dates = new Intl.DateTimeFormat(locale, { dateStyle: 'full', timeZone: 'UTC' });
  return formatOf({
    language,
    timeZone: times.resolvedOptions().timeZone,
    group: parts.find(({ type }) => type === 'group')?.value ?? '\u202F',
    decimalMark: parts.find(({ type }) => type === 'decimal')?.value ?? '.',
    count: (value) => numbers.format(value),
    time: (epochMs) => times.format(epochMs),
    date: (isoDate) => dates.format(Date.parse(isoDate)),
  });
}

/** Returns a format with the given marks. */
function formatOf({ group, ...given }: FormatParts): SpeechFormat {
  function amount(decimal: string): string {
    const [whole = '', fraction] = decimal.split('.');
    const grouped = whole.replaceAll(/\B(?=(?:\d{3})+$)/gu, group);
    return fraction === undefined ? grouped : grouped + given.decimalMark + fraction;
  }

  return {
    ...given,
    plural(text, n, of) {
      // The part decides the plural: "1 of 200 need attention" is about the 1.
      const words = { n: given.count(n), ...(of === undefined ? {} : { of: given.count(of) }) };
      return fill(pluralForm(text, n, given.language), words);
    },
    amount,
    duration: (ms) => durationText(ms, given.language),
    money(decimal) {
      const [whole = '', fraction = ''] = decimal.split('.');
      return amount(`${whole}.${fraction.padEnd(2, '0')}`);
    },
  };
}

const UNITS = [
  { unit: 'hour', ms: 3_600_000 },
  { unit: 'minute', ms: 60_000 },
  { unit: 'second', ms: 1_000 },
] as const;
/** From this number on, the larger unit alone is exact enough. */
const ENOUGH = 10;

function durationText(ms: number, language: string): string {
  const at = UNITS.findIndex((one) => ms >= one.ms);
  const { unit, ms: size } = UNITS[at === -1 ? 2 : at] ?? UNITS[2];
  const smaller = UNITS[at + 1];
  if (at === -1 || smaller === undefined) return worded(Math.round(ms / 100) / 10, unit, language);
  const whole = Math.floor(ms / size);
  const rest = Math.round((ms - whole * size) / smaller.ms);
  if (whole >= ENOUGH || rest === 0) return worded(Math.round(ms / size), unit, language);
  return rest * smaller.ms === size
    ? worded(whole + 1, unit, language)
    : `${worded(whole, unit, language)} ${worded(rest, smaller.unit, language)}`;
}

function worded(value: number, unit: string, language: string): string {
  return new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay: 'long', maximumFractionDigits: 1 }).format(
    value,
  );
}

/** A narrow space that never breaks the line. */
const THOUSANDS_SPACE = '\u202F';

/** Format of files that are passed on: UTC, and for English without a region what every country reads (ISO 8601, narrow spaces). */
export function documentFormat(speech: Speech): SpeechFormat {
  if (speech.locale !== 'en') {
    const format = speechFormat(speech, { timeZone: 'UTC', timeStyle: 'short' });
    return { ...format, time: (epochMs) => `${format.time(epochMs)} UTC` };
  }
  return formatOf({
    language: speech.language,
    timeZone: 'UTC',
    group: THOUSANDS_SPACE,
    decimalMark: '.',
    count: (value) => String(value).replaceAll(/\B(?=(?:\d{3})+$)/gu, THOUSANDS_SPACE),
    time: (epochMs) => {
      const iso = new Date(epochMs).toISOString();
      return `${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`;
    },
    date: (isoDate) => isoDate,
  });
}
