import { copyFile, mkdir, open, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { unlessMissing } from '../platform/error-code.ts';
import { REPORT_DIRECTORY_MODE } from './write-synced.ts';

/** `schema` and `batch` come first in a report, and a line break in a text is escaped: the lines of `batch` are here, but those at its end, such as `proof`. */
const HEAD_BYTES = 16 * 1024;
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

/** Revision of a `report.json`, read from its head; null: there is none. `unreadable`: it is damaged. */
async function revisionOf(json: string): Promise<number | 'unreadable' | null> {
  const head = await reportHead(json);
  if (head === null) return null;
  const revision = REVISION.exec(head)?.groups?.['revision'];
  return revision === undefined ? 'unreadable' : Number(revision);
}

/** The first 16 KiB of a `report.json`, however large it is; null where there is none. */
async function reportHead(json: string): Promise<string | null> {
  const file = await unlessMissing(open(json, 'r'));
  if (file === null) return null;
  try {
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(HEAD_BYTES), position: 0 });
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}
