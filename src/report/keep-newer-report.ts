import { copyFile, mkdir, open, readdir, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../file-system/error-code.ts';
import { REPORT_DIRECTORY_MODE } from './write-synced.ts';

/** `batch` is the first member but one, and a line break in a text is escaped. */
const REVISION = /^ {4}"revision": (?<revision>\d+)/mu;
const HEAD_BYTES = 16 * 1024;
const KEPT_PREFIX = 'before-restore-';

/** Where a report is to be put in place: the batch's folder, the writer's work folder, and the revision of the new report. */
interface NewReport {
  readonly directory: string;
  readonly work: string;
  readonly revision: number;
}

/**
 * Keeps a copy of the report that stands, in `before-restore-<time of that report>`, if its revision is not lower than the new one. Revisions rise in the
 * ledger, so the ledger was restored from an older copy, and nothing but that report tells what was sent since.
 */
export async function keepNewerReport(report: NewReport, names: readonly string[]): Promise<void> {
  const { directory, work, revision } = report;
  const json = join(directory, 'report.json');
  const found = await revisionOf(json);
  if (typeof found !== 'number' || found < revision) return;
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
  const file = await unlessMissing(open(json, 'r'));
  if (file === null) return null;
  try {
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(HEAD_BYTES), position: 0 });
    const revision = REVISION.exec(buffer.toString('utf8', 0, bytesRead))?.groups?.['revision'];
    return revision === undefined ? 'unreadable' : Number(revision);
  } finally {
    await file.close();
  }
}

async function unlessMissing<T>(found: Promise<T>): Promise<T | null> {
  return found.catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  });
}
