import { copyFile, mkdir, readdir, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { unlessMissing } from '../file-system/unless-missing.ts';
import { reportHead } from './formats/report-head.ts';
import { REPORT_DIRECTORY_MODE } from './write-synced.ts';

const REVISION = /^ {4}"revision": (?<revision>\d+)/mu;
const KEPT_PREFIX = 'before-restore-';

/** Where a report is to be put in place: the batch's folder, the writer's work folder, and the last revision that the ledger has given out. */
interface NewReport {
  readonly directory: string;
  readonly work: string;
  readonly lastRevision: () => Promise<number>;
}

/**
 * Keeps a copy of the report that stands, in `before-restore-<time of that report>`, if the ledger has not given out its revision: the ledger was restored
 * from an older copy, and nothing but that report tells what was sent since. To be called before the writer takes a revision, which the report may have.
 */
export async function keepNewerReport(report: NewReport, names: readonly string[]): Promise<void> {
  const { directory, work, lastRevision } = report;
  const json = join(directory, 'report.json');
  const found = await revisionOf(json);
  // The ledger is asked after the file is read: another writer may put its report in place meanwhile.
  if (typeof found !== 'number' || found <= (await lastRevision())) return;
  const { mtime } = await stat(json);
  const name = `${KEPT_PREFIX}${mtime.toISOString().replaceAll(':', '-')}`;
  // By an attempt that ended before it had put its own in place.
  const isKept = (await unlessMissing(stat(join(directory, name)))) !== null;
  if (isKept) return;
  // Through the work folder: it appears whole, and a writer that has lost the folder to a newer one keeps nothing.
  await mkdir(join(work, name), { mode: REPORT_DIRECTORY_MODE });
  for (const file of names) await unlessMissing(copyFile(join(directory, file), join(work, name, file)));
  await rename(join(work, name), join(directory, name));
}

/** Paths of each `report.json` that was kept in a batch's folder. */
export async function keptReports(directory: string): Promise<readonly string[]> {
  const names = (await unlessMissing(readdir(directory))) ?? [];
  return names.filter((name) => name.startsWith(KEPT_PREFIX)).map((name) => join(directory, name, 'report.json'));
}

/** Revision of a `report.json`, read from its head; null: there is none. `unreadable`: somebody has damaged it. */
export async function revisionOf(json: string): Promise<number | 'unreadable' | null> {
  const head = await reportHead(json);
  if (head === null) return null;
  const revision = REVISION.exec(head)?.groups?.['revision'];
  return revision === undefined ? 'unreadable' : Number(revision);
}
