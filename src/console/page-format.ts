import { CONSOLE_TEXTS } from './console-texts.ts';
import type { ConsoleTexts } from './console-texts.ts';
import type { Speech } from './choose-language.ts';

/** Texts, numbers and times as one reader expects them. */
export interface PageFormat {
  readonly language: string;
  readonly texts: ConsoleTexts;
  count(value: number): string;
  /** An exact decimal with the reader's marks; digits are never touched. */
  amount(decimal: string): string;
  time(epochMs: number): string;
}

export function pageFormat({ language, locale }: Speech, timeZone?: string): PageFormat {
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
  return {
    language,
    texts: CONSOLE_TEXTS[language],
    count: (value) => numbers.format(value),
    amount(decimal) {
      const [whole = '', fraction] = decimal.split('.');
      const grouped = whole.replaceAll(/\B(?=(?:\d{3})+$)/gu, group);
      return fraction === undefined ? grouped : grouped + mark + fraction;
    },
    time: (epochMs) => times.format(epochMs),
  };
}
