import { lstat, readdir } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { isIgnoredName, MARKER_SUFFIX } from './is-ignored-name.ts';

/** What one look at a dropped file shows. */
export interface SeenFile {
  /** Bytes where its name is not UTF-8. */
  readonly path: string | Buffer;
  readonly size: number;
  readonly changedAt: number;
  readonly inode: number;
  /** Time of its `.done` marker; null: none. */
  readonly markedAt: number | null;
}

/** Regular files that lie directly in the folder, by name; links and folders are never followed. */
export async function listInbox(inputDir: string): Promise<ReadonlyMap<string, SeenFile>> {
  const seen = new Map<string, SeenFile>();
  for (const [name, path] of await listNames(inputDir)) {
    if (isIgnoredName(name)) continue;
    // It may have gone since the folder was listed.
    const found = await lstat(path).catch(() => null);
    if (found === null || !found.isFile()) continue;
    const marker = await lstat(withSuffix(path, MARKER_SUFFIX)).catch(() => null);
    seen.set(name, {
      path,
      size: found.size,
      changedAt: found.mtimeMs,
      inode: found.ino,
      markedAt: marker?.isFile() === true ? marker.mtimeMs : null,
    });
  }
  return seen;
}

/**
 * Paths by name, in the order of the names. A name that is not UTF-8, as older programs write `ç`, is read as ISO 8859-1,
 * in which every byte is a sign. Of two files with one name then, the next look takes the second.
 */
async function listNames(inputDir: string): Promise<readonly [name: string, path: string | Buffer][]> {
  const paths = new Map<string, string | Buffer>();
  for (const bytes of await readdir(inputDir, { encoding: 'buffer' })) {
    const text = bytes.toString();
    if (bytes.equals(Buffer.from(text))) paths.set(text, join(inputDir, text));
    else paths.set(bytes.toString('latin1'), Buffer.concat([Buffer.from(inputDir + sep), bytes]));
  }
  return [...paths].toSorted(([a], [b]) => (a < b ? -1 : 1));
}

function withSuffix(path: string | Buffer, suffix: string): string | Buffer {
  return typeof path === 'string' ? path + suffix : Buffer.concat([path, Buffer.from(suffix)]);
}

/** Nothing of it moved between two looks. */
export function isStable(before: Omit<SeenFile, 'path'> | undefined, after: Omit<SeenFile, 'path'>): boolean {
  if (before === undefined) return false;
  return before.size === after.size && before.changedAt === after.changedAt && before.inode === after.inode;
}
