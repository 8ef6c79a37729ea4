import { lstat, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { namesIn } from '../platform/error-code.ts';
import { NOTE_SUFFIX, READ } from './archive-file.ts';
import type { ChangedFile, Destination } from '../domain/records/dropped-file.ts';

/** Folders of archived files, each with a folder for each date. */
export const DESTINATIONS: readonly Destination[] = ['archive', 'refused'];
const DAY_MS = 24 * 60 * 60_000;
/** A writer that pauses for longer has ended. */
const DAYS = 7;
const READ_LINE = new RegExp(`^${READ}(?<batch>\\S+) (?<size>\\d+) (?<changedAt>[\\d.]+)$`, 'mu');

export interface LookAtArchive {
  readonly inputDir: string;
  /** Epoch milliseconds. */
  readonly now: number;
  /** Whether a batch has read the bytes that the file at this path has now: only asked of what changed. */
  readonly isRead: (path: string) => Promise<boolean>;
}

/**
 * Archived files of the last seven days whose size or time is another than when Lote read them, and whose bytes no
 * batch has read. A file that was dropped again is none.
 */
export async function changedFiles({ inputDir, now, isRead }: LookAtArchive): Promise<readonly ChangedFile[]> {
  const changed: ChangedFile[] = [];
  // A night's date may be a day behind that of UTC.
  const since = new Date(now - (DAYS + 1) * DAY_MS).toISOString().slice(0, 10);
  for (const destination of DESTINATIONS) {
    for (const date of await namesIn(join(inputDir, destination))) {
      if (date < since) continue;
      const folder = `${destination}/${date}`;
      for (const note of await namesIn(join(inputDir, folder))) {
        if (!note.endsWith(NOTE_SUFFIX)) continue;
        const name = `${folder}/${note.slice(0, -NOTE_SUFFIX.length)}`;
        const read = READ_LINE.exec(await readFile(join(inputDir, folder, note), 'utf8').catch(() => ''))?.groups;
        const found = await lstat(join(inputDir, name)).catch(() => null);
        // A person has written the note anew, or has moved the file away.
        if (read === undefined || found?.isFile() !== true) continue;
        const isSame = found.size === Number(read['size']) && found.mtimeMs === Number(read['changedAt']);
        if (isSame || (await isRead(join(inputDir, name)))) continue;
        changed.push({ name, batchId: read['batch'] === '-' ? null : (read['batch'] ?? null) });
      }
    }
  }
  return changed;
}
