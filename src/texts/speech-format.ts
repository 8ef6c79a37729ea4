import type { Speech } from './choose-language.ts';
import { fill, pluralForm } from './fill.ts';
import type { Language } from './languages.ts';
import type { Plural } from './plural.ts';

/** Numbers, amounts, times and dates as one reader expects them. */
export interface SpeechFormat {
  readonly language: Language;
  /** The zone in which times are shown. */
  readonly timeZone: string;
  /** Between whole and fraction. */
  readonly decimalMark: string;
  count(value: number): string;
  /** A text with a number in it; `of` is the whole that it is a part of. */
  plural(text: Plural, n: number, of?: number): string;
  /** An exact decimal with the reader's marks; digits are never touched. */
  amount(decimal: string): string;
  /** The same for money: two decimals at least, so that a column lines up; more where the file has more. */
  money(decimal: string): string;
  time(epochMs: number): string;
  /** A calendar date, `2026-11-21`, of no time zone. */
  date(isoDate: string): string;
}

export interface FormatParts {
  readonly language: Language;
  readonly timeZone: string;
  readonly group: string;
  readonly decimalMark: string;
  count(value: number): string;
  time(epochMs: number): string;
  date(isoDate: string): string;
}

/** The format for one reader. Without `timeZone` times are shown in the machine's zone. */
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

/** A format of given marks. */
export function formatOf({ group, ...given }: FormatParts): SpeechFormat {
  function amount(decimal: string): string {
    const [whole = '', fraction] = decimal.split('.');
    const grouped = whole.replaceAll(/\B(?=(?:\d{3})+$)/gu, group);
    return fraction === undefined ? grouped : grouped + given.decimalMark + fraction;
  }

  return {
    ...given,
    plural(text, n, of) {
      // "1 of 200 need attention" is about the 1: the part decides.
      const words = { n: given.count(n), ...(of === undefined ? {} : { of: given.count(of) }) };
      return fill(pluralForm(text, n, given.language), words);
    },
    amount,
    money(decimal) {
      const [whole = '', fraction = ''] = decimal.split('.');
      return amount(`${whole}.${fraction.padEnd(2, '0')}`);
    },
  };
}
