import { randomUUID } from 'node:crypto';
import { link, readdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { errorCode } from '../../file-system/error-code.ts';
import { unlessMissing } from '../../file-system/unless-missing.ts';
import { makeFolder } from '../../file-system/make-folder.ts';
import { syncPath } from '../../file-system/sync-path.ts';
import type { NightlyRun } from '../../domain/ports/drop-folder.ts';
import type {
  NightlyRunEnd,
  NightlyRunEntry,
  NightlyRunState,
  NightlySummaryPaths,
  NightMessageNote,
  RunLog,
} from '../../domain/ports/run-log.ts';
import { ENGLISH, type Speech } from '../../texts/choose-language.ts';
import { isoTime } from '../../domain/time/iso-time.ts';
import { nightlyHtml } from './run-html.ts';
import { nightlySummary, type NightlySummary } from './run-summary.ts';
import { inReportsFolder } from '../reports-folder.ts';
import { REPORT_DIRECTORY_MODE, writeSynced } from '../write-synced.ts';

const SCHEMA = 'lote.night/1';
const HEAD = 'night.json';
/** A folder of their own: beside the entries, an earlier version of Lote would take them for files of the night. */
const MESSAGES = 'messages';

/** What a run says of itself; its files stand beside it, one each. */
interface RunHead {
  readonly night: NightlyRun;
  readonly end: NightlyRunEnd | null;
}

/**
 * `reports/nights/<date>.json|html`, made from one small file per dropped file under `reports/nights/runs/`: two runs of one date, or two workers of
 * one run, write different files and cannot undo each other's. `speech`: of the page; the JSON is the same in each language.
 */
export function createRunLog(reportsDir: string, speech: Speech = ENGLISH): RunLog {
  const nightlyRunsDir = join(reportsDir, 'nights');
  const runDir = ({ nightId }: NightlyRun): string => join(nightlyRunsDir, 'runs', nightId);
  return {
    record: (night, entry) =>
      inReportsFolder(reportsDir, async () => {
        await beginFile(join(runDir(night), HEAD), json({ night, end: null }));
        await replaceFile(join(runDir(night), `${entry.slot}.json`), json(entry));
        return writeSummary(nightlyRunsDir, night.date, speech);
      }),
    finish: (night, end) =>
      inReportsFolder(reportsDir, async () => {
        await replaceFile(join(runDir(night), HEAD), json({ night, end }));
        const paths = await writeSummary(nightlyRunsDir, night.date, speech);
        return { ...paths, entries: (await readRun(runDir(night)))?.files ?? [] };
      }),
    run: (night) => readRun(runDir(night)),
    noteMessage: (night, note) =>
      inReportsFolder(reportsDir, async () => {
        await replaceFile(join(runDir(night), MESSAGES, `${note.channel}.json`), json(note));
        await writeSummary(nightlyRunsDir, night.date, speech);
      }),
  };
}

/** Enough: whoever changes a run during each of these writings writes the summary after it, too. */
const WRITINGS = 5;

/**
 * A writer that stood still may put what it read before over what another one has written since. Therefore each looks again after it has put its
 * own in place: the last one sees everything that was recorded before.
 */
async function writeSummary(nightlyRunsDir: string, date: string, speech: Speech): Promise<NightlySummaryPaths> {
  const paths = { json: join(nightlyRunsDir, `${date}.json`), html: join(nightlyRunsDir, `${date}.html`) };
  const linkTo = (path: string): string => relative(nightlyRunsDir, path).split(sep).map(encodeURIComponent).join('/');
  let summary = await readSummary(nightlyRunsDir, date);
  for (let writing = 1; ; writing += 1) {
    const text = json(summaryDocument(summary));
    await replaceFile(paths.html, nightlyHtml(summary, linkTo, speech));
    // Last: who waits for the JSON finds the page.
    await replaceFile(paths.json, text);
    summary = await readSummary(nightlyRunsDir, date);
    if (writing === WRITINGS || json(summaryDocument(summary)) === text) return paths;
  }
}

async function readSummary(nightlyRunsDir: string, date: string): Promise<NightlySummary> {
  const runsDir = join(nightlyRunsDir, 'runs');
  const runs: NightlyRunState[] = [];
  for (const name of await readdir(runsDir)) {
    if (!name.startsWith(`${date}-`)) continue;
    const run = await readRun(join(runsDir, name));
    if (run !== null) runs.push(run);
  }
  return nightlySummary(date, runs);
}

function summaryDocument({ date, totals, runs }: NightlySummary): unknown {
  return {
    schema: SCHEMA,
    date,
    totals,
    runs: runs.map((run) => ({
      ...run,
      startedAt: isoTime(run.startedAt),
      finishedAt: isoTime(run.finishedAt),
      messages: run.messages.map((note) => ({ ...note, at: isoTime(note.at) })),
    })),
  };
}

async function readRun(directory: string): Promise<NightlyRunState | null> {
  const head = await readJson<RunHead>(join(directory, HEAD));
  if (head === null) return null;
  const files: NightlyRunEntry[] = [];
  for (const name of (await readdir(directory)).toSorted()) {
    if (name === HEAD || !name.endsWith('.json')) continue;
    const entry = await readJson<NightlyRunEntry>(join(directory, name));
    if (entry !== null) files.push(entry);
  }
  const { night, end } = head;
  return {
    night: night.nightId,
    workflowId: night.workflowId,
    startedAt: night.startedAt,
    finishedAt: end?.finishedAt ?? null,
    files,
    waiting: end?.waiting ?? [],
    messages: await readMessages(join(directory, MESSAGES)),
  };
}

async function readMessages(directory: string): Promise<readonly NightMessageNote[]> {
  const notes: NightMessageNote[] = [];
  for (const name of (await namesIn(directory)).toSorted()) {
    const note = name.endsWith('.json') ? await readJson<NightMessageNote>(join(directory, name)) : null;
    if (note !== null) notes.push(note);
  }
  return notes;
}

async function namesIn(directory: string): Promise<readonly string[]> {
  return (await unlessMissing(readdir(directory))) ?? [];
}

/** Its readers see it whole or not at all, also after a power cut. */
function replaceFile(path: string, text: string): Promise<void> {
  return placeFile(path, text, (part) => rename(part, path));
}

/** The same, unless it is there: a step that stood still must not take back what a later one has written. Without hard links only a look before guards it. */
async function beginFile(path: string, text: string): Promise<void> {
  if ((await readJson<unknown>(path)) !== null) return;
  await placeFile(path, text, async (part) => {
    try {
      await link(part, path);
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') await rename(part, path);
    }
  });
}

async function placeFile(path: string, text: string, place: (part: string) => Promise<void>): Promise<void> {
  await makeFolder(dirname(path), REPORT_DIRECTORY_MODE);
  const part = `${path}.${randomUUID()}.part`;
  try {
    await writeSynced(part, pieces(text));
    await place(part);
  } finally {
    await rm(part, { force: true });
  }
  await syncPath(dirname(path));
}

async function* pieces(text: string): AsyncGenerator<string> {
  yield text;
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** Files of our own writing; null when there is none. */
async function readJson<T>(path: string): Promise<T | null> {
  const text = await unlessMissing(readFile(path, 'utf8'));
  return text === null ? null : (JSON.parse(text) as T);
}
