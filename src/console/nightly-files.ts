import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { isMissing, namesIn } from './missing-file.ts';
import { type ListPart, listPart } from './pages/list-part.ts';

/** Nights of one page of the list: a quarter of a year. */
const NIGHTS_OF_A_PAGE = 90;
const NIGHTLY_FILE = /^(\d{4}-\d{2}-\d{2})\.json$/u;

/** Pattern of a date in an address of the console, `2026-11-21`, as regular expression text. */
export const NIGHTLY_DATE = '[0-9]{4}-[0-9]{2}-[0-9]{2}';

const time = z
  .string()
  .transform((iso) => Date.parse(iso))
  .refine((milliseconds) => Number.isFinite(milliseconds));

/** As `NightlyRemark` of the run log. */
const Remark = z.discriminatedUnion('kind', [
  z.object({
    kind: z.enum(['resumed', 'changed', 'drop-again', 'refused', 'read-report', 'use-corrections', 'paused']),
  }),
  z.object({ kind: z.literal('dropped-before'), at: z.number(), file: z.string() }),
  z.object({ kind: z.literal('run-failed'), code: z.string(), message: z.string() }),
  z.object({ kind: z.literal('held'), difference: z.string() }),
  z.object({ kind: z.literal('confirm-total'), command: z.string() }),
  z.object({ kind: z.enum(['all-out', 'rows-without-invoice', 'contradicted']), n: z.number() }),
  z.object({ kind: z.literal('missing'), n: z.number(), of: z.number(), cancelled: z.boolean() }),
]);

const File = z.object({
  name: z.string(),
  shelvedAs: z.string().nullable(),
  verdict: z.enum(['issued', 'attention', 'refused', 'failed']),
  sentences: z.array(z.string()),
  /** Left out by an earlier version of Lote; unreadable ones by a later version. The sentences are the same in English. */
  remarks: z.array(Remark).optional().catch(undefined),
  known: z.boolean(),
  batchId: z.string().nullable(),
  /** Unreadable ones by a later version: the note says what the file waits for. */
  waitsFor: z.enum(['total-unusual', 'resume']).optional().catch(undefined),
  invoices: z.number(),
  issued: z.number(),
});

const Message = z.object({
  channel: z.enum(['email', 'webhook']),
  state: z.enum(['sent', 'unsent', 'refused']),
  at: time,
  detail: z.string().nullable(),
});

const Run = z.object({
  workflowId: z.string(),
  startedAt: time,
  finishedAt: time.nullable(),
  files: z.array(File),
  /** An earlier version of Lote wrote none. */
  messages: z.array(Message).default([]),
  waiting: z.array(
    z.object({
      name: z.string(),
      reason: z.enum(['growing', 'empty', 'no-marker', 'not-movable', 'other-ledger', 'too-many', 'unfinished']),
      /** Left out by an earlier version of Lote. */
      more: z.number().default(0),
    }),
  ),
});

/** What the console reads of a nightly summary, `reports/nights/<date>.json`. */
const StoredNightlySummary = z.object({
  date: z.string(),
  totals: z.record(
    z.enum(['files', 'issued', 'attention', 'refused', 'failed', 'waiting', 'invoices', 'notIssued']),
    z.number(),
  ),
  runs: z.array(Run),
});

/** Contents of `reports/nights/<date>.json`, with times as epoch milliseconds. */
export type StoredNightlySummary = z.infer<typeof StoredNightlySummary>;

/** One nightly run of a summary. `finishedAt` is null until the run has finished. */
export type StoredNightlyRun = z.infer<typeof Run>;

/**
 * One dropped file of a nightly run. `batchId` is null for a file that became no batch; `shelvedAs` is null when
 * somebody else took it out of its claim folder.
 */
export type NightlyFile = z.infer<typeof File>;

/** One date of the list; `summary` is null when its file cannot be read. */
export interface ListedNightlySummary {
  readonly date: string;
  readonly summary: StoredNightlySummary | null;
}

/** One page of the dates with a summary, newest first; `asked` as in `listPart`. */
export async function listNightlySummaries(
  reportsDir: string,
  asked: string | undefined,
): Promise<{ readonly nights: readonly ListedNightlySummary[]; readonly part: ListPart }> {
  const names = await namesIn(join(reportsDir, 'nights'));
  const dates = names
    .flatMap((name) => NIGHTLY_FILE.exec(name)?.[1] ?? [])
    .toSorted()
    .toReversed();
  const part = listPart(dates.length, NIGHTS_OF_A_PAGE, asked);
  const nights = await Promise.all(
    dates
      .slice((part.page - 1) * NIGHTS_OF_A_PAGE, part.page * NIGHTS_OF_A_PAGE)
      .map(async (date) => ({ date, summary: readable(await readNightlySummary(reportsDir, date)) })),
  );
  return { nights, part };
}

/** The summary of a date; `missing` where there is none, `unreadable` when its file may not be read or is no summary. */
export async function readNightlySummary(
  reportsDir: string,
  date: string,
): Promise<StoredNightlySummary | 'missing' | 'unreadable'> {
  if (!NIGHTLY_FILE.test(`${date}.json`)) return 'missing';
  try {
    return StoredNightlySummary.parse(JSON.parse(await readFile(join(reportsDir, 'nights', `${date}.json`), 'utf8')));
  } catch (error) {
    return isMissing(error) ? 'missing' : 'unreadable';
  }
}

function readable(summary: Awaited<ReturnType<typeof readNightlySummary>>): StoredNightlySummary | null {
  return typeof summary === 'string' ? null : summary;
}
