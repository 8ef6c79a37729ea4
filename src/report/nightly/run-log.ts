import { randomUUID } from 'node:crypto';
import { readdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { errorCode } from '../../file-system/error-code.ts';
import { makeFolder } from '../../file-system/make-folder.ts';
import type { Night } from '../../domain/ports/drop-folder.ts';
import type { NightBook, NightEnd, NightEntry, NightSummaryPaths } from '../../domain/ports/run-log.ts';
import { isoTime } from '../iso-time.ts';
import { nightHtml } from './run-html.ts';
import { nightSummary, type NightRun, type NightSummary } from './run-summary.ts';
import { inReportsFolder } from '../reports-folder.ts';
import { REPORT_DIRECTORY_MODE, syncDirectory, writeSynced } from '../write-synced.ts';

const SCHEMA = 'lote.night/1';
const HEAD = 'night.json';

/** What a run says of itself; its files stand beside it, one each. */
interface RunHead {
  readonly night: Night;
  readonly end: NightEnd | null;
}

/**
 * `reports/nights/<date>.json|html`, made from one small file per dropped file under `reports/nights/runs/`: two runs of one date, or two workers of
 * one run, write different files and cannot undo each other's.
 */
export function createNightBook(reportsDir: string): NightBook {
  const nightsDir = join(reportsDir, 'nights');
  const runDir = ({ nightId }: Night): string => join(nightsDir, 'runs', nightId);
  return {
    record: (night, entry) =>
      inReportsFolder(reportsDir, async () => {
        if ((await readJson<RunHead>(join(runDir(night), HEAD))) === null)
          await replaceFile(join(runDir(night), HEAD), json({ night, end: null }));
        await replaceFile(join(runDir(night), `${entry.slot}.json`), json(entry));
        return writeSummary(nightsDir, night.date);
      }),
    finish: (night, end) =>
      inReportsFolder(reportsDir, async () => {
        await replaceFile(join(runDir(night), HEAD), json({ night, end }));
        const paths = await writeSummary(nightsDir, night.date);
        return { ...paths, entries: (await readRun(runDir(night)))?.files ?? [] };
      }),
  };
}

async function writeSummary(nightsDir: string, date: string): Promise<NightSummaryPaths> {
  const runsDir = join(nightsDir, 'runs');
  const runs: NightRun[] = [];
  for (const name of await readdir(runsDir)) {
    if (!name.startsWith(`${date}-`)) continue;
    const run = await readRun(join(runsDir, name));
    if (run !== null) runs.push(run);
  }
  const summary = nightSummary(date, runs);
  const paths = { json: join(nightsDir, `${date}.json`), html: join(nightsDir, `${date}.html`) };
  const linkTo = (path: string): string => relative(nightsDir, path).split(sep).map(encodeURIComponent).join('/');
  await replaceFile(paths.html, nightHtml(summary, linkTo));
  // Last: who waits for the JSON finds the page.
  await replaceFile(paths.json, json(summaryDocument(summary)));
  return paths;
}

function summaryDocument({ date, totals, runs }: NightSummary): unknown {
  return {
    schema: SCHEMA,
    date,
    totals,
    runs: runs.map((run) => ({ ...run, startedAt: isoTime(run.startedAt), finishedAt: isoTime(run.finishedAt) })),
  };
}

async function readRun(directory: string): Promise<NightRun | null> {
  const head = await readJson<RunHead>(join(directory, HEAD));
  if (head === null) return null;
  const files: NightEntry[] = [];
  for (const name of (await readdir(directory)).toSorted()) {
    if (name === HEAD || !name.endsWith('.json')) continue;
    const entry = await readJson<NightEntry>(join(directory, name));
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
  };
}

/** Its readers see it whole or not at all, also after a power cut. */
async function replaceFile(path: string, text: string): Promise<void> {
  await makeFolder(dirname(path), REPORT_DIRECTORY_MODE);
  const part = `${path}.${randomUUID()}.part`;
  try {
    await writeSynced(part, pieces(text));
    await rename(part, path);
  } finally {
    await rm(part, { force: true });
  }
  await syncDirectory(dirname(path));
}

async function* pieces(text: string): AsyncGenerator<string> {
  yield text;
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** Files of our own writing; null when there is none. */
async function readJson<T>(path: string): Promise<T | null> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as T;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  }
}
