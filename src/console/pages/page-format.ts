import type { ConsoleTexts } from '../texts/console-texts.ts';
import type { Plural } from '../texts/plural.ts';
import type { Speech } from '../texts/choose-language.ts';
import { formAction } from '../forms/form-token.ts';
import { fill, pluralForm } from '../texts/fill.ts';
import { CONSOLE_TEXTS } from '../texts/text-catalogue.ts';

/** Texts, numbers and times as one reader expects them. */
export interface PageFormat {
  readonly language: string;
  readonly texts: ConsoleTexts;
  /** The zone in which times are shown. */
  readonly timeZone: string;
  /** What a request from this page must bring back. */
  readonly formToken: string;
  /** Where a form of this page is sent. */
  action(address: string): string;
  /** Between whole and fraction. */
  readonly decimalMark: string;
  count(value: number): string;
  /** A text with a number in it; `of` is the whole that it is a part of. */
  plural(text: Plural, n: number, of?: number): string;
  /** An exact decimal with the reader's marks; digits are never touched. */
  amount(decimal: string): string;
  /** The same for money: two decimals at least, so that a column lines up. */
  money(decimal: string): string;
  time(epochMs: number): string;
  /** A calendar date, `2026-11-21`, of no time zone. */
  date(isoDate: string): string;
}

/** The format for one reader. Without `timeZone` times are shown in the machine's zone. */
export function pageFormat({ language, locale }: Speech, timeZone?: string, formToken = ''): PageFormat {
  const numbers = new Intl.NumberFormat(locale, { useGrouping: true });
  const parts = new Intl.NumberFormat(locale, { useGrouping: 'always', minimumFractionDigits: 1 }).formatToParts(
    1234567.5,
  );
  const group = parts.find(({ type }) => type === 'group')?.value ?? '\u202F';
  const mark = parts.find(({ type }) => type === 'decimal')?.value ?? '.';
  const times = new Intl.DateTimeFormat(locale, {
    dateStyle: 'medium',
    timeStyle: 'medium',
    ...(timeZone === undefined ? {} : { timeZone }),
  });
  const dates = new Intl.DateTimeFormat(locale, { dateStyle: 'full', timeZone: 'UTC' });

  function amount(decimal: string): string {
    const [whole = '', fraction] = decimal.split('.');
    const grouped = whole.replaceAll(/\B(?=(?:\d{3})+$)/gu, group);
    return fraction === undefined ? grouped : grouped + mark + fraction;
  }

  return {
    language,
    texts: CONSOLE_TEXTS[language],
    timeZone: times.resolvedOptions().timeZone,
    formToken,
    action: (address) => formAction(address, formToken),
    decimalMark: mark,
    count: (value) => numbers.format(value),
    plural(text, n, of) {
      // "1 of 200 need attention" is about the 1: the part decides.
      const words = { n: numbers.format(n), ...(of === undefined ? {} : { of: numbers.format(of) }) };
      return fill(pluralForm(text, n, language), words);
    },
    amount,
    money(decimal) {
      const [whole = '', fraction = ''] = decimal.split('.');
      return amount(`${whole}.${fraction.padEnd(2, '0')}`);
    },
    time: (epochMs) => times.format(epochMs),
    date: (isoDate) => dates.format(Date.parse(isoDate)),
  };
}
