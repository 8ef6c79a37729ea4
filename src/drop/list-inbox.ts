import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isIgnoredName, MARKER_SUFFIX } from './is-ignored-name.ts';

/** What one look at a dropped file shows. */
export interface SeenFile {
  readonly size: number;
  readonly changedAt: number;
  readonly inode: number;
  /** Time of its `.done` marker; null: none. */
  readonly markedAt: number | null;
}

/** Regular files that lie directly in the folder; links and folders are never followed. */
export async function listInbox(inputDir: string): Promise<ReadonlyMap<string, SeenFile>> {
  const seen = new Map<string, SeenFile>();
  for (const name of (await readdir(inputDir)).toSorted()) {
    if (isIgnoredName(name)) continue;
    const path = join(inputDir, name);
    // It may have gone since the folder was listed.
    const found = await lstat(path).catch(() => null);
    if (found === null || !found.isFile()) continue;
    const marker = await lstat(path + MARKER_SUFFIX).catch(() => null);
    seen.set(name, {
      size: found.size,
      changedAt: found.mtimeMs,
      inode: found.ino,
      markedAt: marker?.isFile() === true ? marker.mtimeMs : null,
    });
  }
  return seen;
}

/** Nothing of it moved between two looks. */
export function isStable(before: SeenFile | undefined, after: SeenFile): boolean {
  if (before === undefined) return false;
  return before.size === after.size && before.changedAt === after.changedAt && before.inode === after.inode;
}
