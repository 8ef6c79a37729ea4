import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { namesIn, unlessMissing } from '../platform/error-code.ts';
import { makeFolder } from '../platform/folders.ts';
import { replaceFile, writeNewFile } from '../platform/files.ts';
import { ENGLISH, type Speech } from '../texts/languages.ts';
import { documentFormat } from '../texts/speech-format.ts';
import { fill } from '../texts/fill.ts';
import { html } from '../texts/html.ts';
import { NIGHT_TEXTS, waitingCount } from '../texts/nights/night-verdict.ts';
import { nightSections } from '../texts/nights/night-html.ts';
import { documentHead } from '../report/html/html-report.ts';
import { isoTime } from '../domain/time/instants.ts';
import { inReportsFolder, REPORT_DIRECTORY_MODE, REPORT_FILE_MODE } from '../report/write-synced.ts';
import type { NightlyRun } from '../domain/records/dropped-file.ts';
import type {
  NightlyRunEnd,
  NightlyRunEntry,
  NightlyRunState,
  NightlySummaryPaths,
  NightMessageNote,
  NightlyVerdict,
} from '../domain/records/night.ts';

/** The summary of a date's nights, rewritten after every file, so that a killed night still has one. */
export type RunLog = ReturnType<typeof createRunLog>;

const SCHEMA = 'lote.night/1';
const HEAD = 'night.json';
const MESSAGE = 'message.json';
/** The other files of a run are entries. */
const OWN_FILES: ReadonlySet<string> = new Set([HEAD, MESSAGE]);

interface RunHead {
  readonly night: NightlyRun;
  readonly end: NightlyRunEnd | null;
}

/** Writes `reports/nights/<date>.json|html` from one small file per dropped file, so that one run cannot undo another. */
export function createRunLog(reportsDir: string, speech: Speech = ENGLISH) {
  const nightlyRunsDir = join(reportsDir, 'nights');
  const runDir = ({ nightId }: NightlyRun): string => join(nightlyRunsDir, 'runs', nightId);
  return {
    record: (night: NightlyRun, entry: NightlyRunEntry) =>
      inReportsFolder(reportsDir, async () => {
        await makeFolder(runDir(night), REPORT_DIRECTORY_MODE);
        // A step that was stopped must not undo what a later step has written.
        await writeNewFile(join(runDir(night), HEAD), json({ night, end: null }), REPORT_FILE_MODE);
        await writeWhole(join(runDir(night), `${entry.slot}.json`), json(entry));
        return writeSummary(nightlyRunsDir, night.date, speech);
      }),
    finish: (night: NightlyRun, end: NightlyRunEnd) =>
      inReportsFolder(reportsDir, async () => {
        await writeWhole(join(runDir(night), HEAD), json({ night, end }));
        const paths = await writeSummary(nightlyRunsDir, night.date, speech);
        return { ...paths, entries: (await readRun(runDir(night)))?.files ?? [] };
      }),
    run: (night: NightlyRun) => readRun(runDir(night)),
    /** Replaces an earlier note. */
    noteMessage: (night: NightlyRun, note: NightMessageNote) =>
      inReportsFolder(reportsDir, async () => {
        await writeWhole(join(runDir(night), MESSAGE), json(note));
        await writeSummary(nightlyRunsDir, night.date, speech);
      }),
  };
}

/** A writer that was stopped may replace a newer summary; the end of the night writes the last one. */
async function writeSummary(nightlyRunsDir: string, date: string, speech: Speech): Promise<NightlySummaryPaths> {
  const paths = { json: join(nightlyRunsDir, `${date}.json`), html: join(nightlyRunsDir, `${date}.html`) };
  const linkTo = (path: string): string => relative(nightlyRunsDir, path).split(sep).map(encodeURIComponent).join('/');
  const summary = await readSummary(nightlyRunsDir, date);
  await writeWhole(paths.html, nightlyHtml(summary, linkTo, speech));
  // JSON comes last, so that a reader who waits for it finds the page.
  await writeWhole(paths.json, json(summaryDocument(summary)));
  return paths;
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
      message: run.message === null ? null : { ...run.message, at: isoTime(run.message.at) },
    })),
  };
}

async function readRun(directory: string): Promise<NightlyRunState | null> {
  const head = await readJson<RunHead>(join(directory, HEAD));
  if (head === null) return null;
  const { night, end } = head;
  return {
    night: night.nightId,
    workflowId: night.workflowId,
    startedAt: night.startedAt,
    finishedAt: end?.finishedAt ?? null,
    files: await readEntries(directory),
    waiting: end?.waiting ?? [],
    message: await readJson<NightMessageNote>(join(directory, MESSAGE)),
  };
}

async function readEntries(directory: string): Promise<readonly NightlyRunEntry[]> {
  const names = (await namesIn(directory)).filter((name) => name.endsWith('.json') && !OWN_FILES.has(name));
  const found = await Promise.all(names.map((name) => readJson<NightlyRunEntry>(join(directory, name))));
  return found.filter((entry) => entry !== null);
}

async function writeWhole(path: string, text: string): Promise<void> {
  await makeFolder(dirname(path), REPORT_DIRECTORY_MODE);
  await replaceFile(path, text, REPORT_FILE_MODE);
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

async function readJson<T>(path: string): Promise<T | null> {
  const text = await unlessMissing(readFile(path, 'utf8'));
  return text === null ? null : (JSON.parse(text) as T);
}

/** Returns `reports/nights/<date>.html`: the nights of one date, with links to the reports of their files. */
export function nightlyHtml(summary: NightlySummary, linkTo: (path: string) => string, speech: Speech): string {
  const format = { ...documentFormat(speech), texts: NIGHT_TEXTS[speech.language] };
  const { nightFile } = format.texts;
  const title = fill(nightFile.title, { date: format.date(summary.date) });
  const link = (path: string | null, name: string) =>
    path === null ? '' : html`<p><a href="${linkTo(path)}">${name}</a></p>`;
  const nameOf = ({ name, report, corrections }: NightlyRunEntry) =>
    html`${name}${link(report, nightFile.report)}${link(corrections, nightFile.corrections)}`;
  const content = html`<header><h1>${title}</h1></header>
    ${nightSections(format, summary, nameOf)}`;
  return `${documentHead(speech.language, title)}${content.safe}</main></body></html>\n`;
}

/** Summary of one date: its nightly runs, oldest first, and their totals. */
export type NightlySummary = Readonly<ReturnType<typeof nightlySummary>>;

/** Summarizes the runs of one date, oldest first. A file counts as waiting only if the last run left it. */
export function nightlySummary(date: string, runs: readonly NightlyRunState[]) {
  const ordered: readonly NightlyRunState[] = runs.toSorted(
    (a, b) => a.startedAt - b.startedAt || a.night.localeCompare(b.night),
  );
  const files = ordered.flatMap((run) => run.files);
  const having = (verdict: NightlyVerdict): number => files.filter((file) => file.verdict === verdict).length;
  const { invoices, issued } = nightSums(files);
  return {
    date,
    runs: ordered,
    totals: {
      files: files.length,
      issued: having('issued'),
      attention: having('attention'),
      refused: having('refused'),
      failed: having('failed'),
      waiting: waitingCount(ordered.at(-1)?.waiting ?? []),
      invoices,
      notIssued: invoices - issued,
    },
  };
}

/** Numbers of invoices of a night: all, those with a document, and those whose document is not of this night. */
export type NightSums = Readonly<Record<'invoices' | 'issued' | 'alreadyIssued', number>>;

type Counted = Pick<NightlyRunEntry, 'batchId' | 'invoices' | 'issued' | 'alreadyIssued'>;

/**
 * Sums the files of a night. Each batch counts once, also under two names or in two runs of one date, as far as it had
 * come: a file that was dropped again says less about what this night has issued.
 */
export function nightSums(files: readonly Counted[]): NightSums {
  const furthest = new Map<unknown, Counted>();
  for (const file of files) {
    const batch = file.batchId ?? file;
    const other = furthest.get(batch);
    const gain = other === undefined ? 1 : file.issued - other.issued || beforeOf(other) - beforeOf(file);
    if (gain > 0) furthest.set(batch, file);
  }
  const counted = [...furthest.values()];
  const sumOf = (valueOf: (file: Counted) => number) => counted.reduce((sum, file) => sum + valueOf(file), 0);
  return {
    invoices: sumOf(({ invoices }) => invoices),
    issued: sumOf(({ issued }) => issued),
    alreadyIssued: sumOf(beforeOf),
  };
}

function beforeOf({ alreadyIssued = 0 }: Counted): number {
  return alreadyIssued;
}
