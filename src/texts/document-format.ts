import type { Speech } from './choose-language.ts';
import { formatOf, speechFormat, type SpeechFormat } from './speech-format.ts';

/** Narrow, and never a place to break the line. */
const THOUSANDS_SPACE = '\u202F';

/**
 * The format of files that are passed on, such as the report: times in UTC, and said so. In English without a region
 * digits are grouped by narrow spaces and dates written as in ISO 8601: readable in each country, where `1,234` and
 * `11/12` would be read two ways.
 */
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
