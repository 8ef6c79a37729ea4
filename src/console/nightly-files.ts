import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { NightPage } from '../texts/nights/night-html.ts';
import { isMissing, namesIn } from './http/report-downloads.ts';
import { type ListPart, listPart } from './pages/notes.ts';

/** Nights of one page of the list: a quarter of a year. */
const NIGHTS_OF_A_PAGE = 90;
const NIGHTLY_FILE = /^(\d{4}-\d{2}-\d{2})\.json$/u;

/** Pattern of a date in an address of the console, `2026-11-21`, as regular expression text. */
export const NIGHTLY_DATE = '[0-9]{4}-[0-9]{2}-[0-9]{2}';

/** Contents of `reports/nights/<date>.json`, with times as epoch milliseconds. */
export interface StoredNight extends NightPage {
  readonly date: string;
}

const time = z
  .string()
  .transform((iso) => Date.parse(iso))
  .refine((milliseconds) => Number.isFinite(milliseconds));

/** Lote itself writes the file: `schema` says that the rest is as in `NightlySummary`. */
const StoredNight = z.looseObject({
  schema: z.literal('lote.night/1'),
  date: z.string(),
  totals: z.looseObject({}),
  runs: z.array(
    z.looseObject({
      startedAt: time,
      finishedAt: time.nullable(),
      files: z.array(z.looseObject({ remarks: z.array(z.looseObject({ kind: z.string() })) })),
      waiting: z.array(z.looseObject({})),
      messages: z.array(z.looseObject({ at: time })),
    }),
  ),
});

/** One date of the list; `summary` is null when its file cannot be read. */
export interface ListedNight {
  readonly date: string;
  readonly summary: StoredNight | null;
}

/** One page of the dates with a summary, newest first; `asked` as in `listPart`. */
export async function listNights(
  reportsDir: string,
  asked: string | undefined,
): Promise<{ readonly nights: readonly ListedNight[]; readonly part: ListPart }> {
  const names = await namesIn(join(reportsDir, 'nights'));
  const dates = names
    .flatMap((name) => NIGHTLY_FILE.exec(name)?.[1] ?? [])
    .toSorted()
    .toReversed();
  const part = listPart(dates.length, NIGHTS_OF_A_PAGE, asked);
  const shown = dates.slice((part.page - 1) * NIGHTS_OF_A_PAGE, part.page * NIGHTS_OF_A_PAGE);
  const nights = shown.map(async (date) => {
    const summary = await readNight(reportsDir, date);
    return { date, summary: typeof summary === 'string' ? null : summary };
  });
  return { nights: await Promise.all(nights), part };
}

/** The summary of a date; `missing` where there is none, `unreadable` when its file may not be read or is no summary. */
export async function readNight(reportsDir: string, date: string): Promise<StoredNight | 'missing' | 'unreadable'> {
  if (!NIGHTLY_FILE.test(`${date}.json`)) return 'missing';
  try {
    const text = await readFile(join(reportsDir, 'nights', `${date}.json`), 'utf8');
    return StoredNight.parse(JSON.parse(text)) as unknown as StoredNight;
  } catch (error) {
    return isMissing(error) ? 'missing' : 'unreadable';
  }
}
