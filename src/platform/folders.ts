import { randomUUID } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { LoteError, type LoteErrorCode } from '../domain/errors.ts';
import { errorCode } from './error-code.ts';

/** A folder that Lote writes to, with the words that name it in messages to an operator. */
export interface WrittenFolder {
  readonly title: string;
  readonly path: string;
  /** The setting that names the folder. */
  readonly variable: string;
}

/** The operating system's error codes in words for an operator. */
const FOUND: Readonly<Record<string, string>> = {
  ENOSPC: 'its disk is full',
  EDQUOT: 'its quota is used up',
  EROFS: 'it is read-only',
  EACCES: 'this process may not write there',
  EPERM: 'this process may not write there',
  ENOENT: 'it is not there',
  ENOTDIR: 'it is not a folder',
  EEXIST: 'something else has its name',
  EIO: 'its disk does not answer',
};

const REPEATED = '; nothing is lost: it is tried again by itself until the folder can be written';

/**
 * Turns an operating system error about this folder into a `folder-unusable` error, which waits for an operator; `next`
 * ends its sentence. Returns any other error unchanged. An error without a path (a write to an open file) counts as
 * this folder's.
 */
export function folderTrouble(
  error: unknown,
  folder: WrittenFolder,
  { code = 'folder-unusable', next = REPEATED }: { readonly code?: LoteErrorCode; readonly next?: string } = {},
): unknown {
  if (!isSystemError(error)) return error;
  const about = error.dest ?? error.path;
  if (about !== undefined && !isInside(about, folder.path)) return error;
  const found = FOUND[error.code];
  return new LoteError(
    code,
    `Writing to the ${folder.title} ${folder.path} (${folder.variable}): it must be a folder with room that this process can write to, but ` +
      `${found === undefined ? 'it failed' : found} (${error.code})${next}`,
  );
}

/** Returns true for an operating system error about this folder or a path inside it. */
export function isAbout(error: unknown, folder: string): boolean {
  if (!isSystemError(error)) return false;
  const about = error.dest ?? error.path;
  return about !== undefined && withEnd(about).startsWith(withEnd(folder));
}

interface SystemError extends Error {
  readonly code: string;
  readonly path?: string;
  readonly dest?: string;
}

function isSystemError(error: unknown): error is SystemError {
  return error instanceof Error && 'syscall' in error && 'code' in error && typeof error.code === 'string';
}

/** Also returns true for a folder above it that could not be made or entered. */
function isInside(about: string, folder: string): boolean {
  const [path, root] = [withEnd(about), withEnd(folder)];
  return path.startsWith(root) || root.startsWith(path);
}

function withEnd(path: string): string {
  return `${path.replace(/[/\\]+$/, '')}/`;
}

/** Mode of folders that other programs write to; the process's umask restricts the mode. */
export const FOLDER_MODE = 0o777;

/**
 * Makes a folder and its parents. Node's recursive `mkdir` says ENOENT on a read-only file system, so Lote then tries
 * the failed folder alone to get the operating system's own reason.
 * @throws the error of the operating system
 */
export async function makeFolder(path: string, mode: number): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode });
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    if (dirname(path) !== path) await makeFolder(dirname(path), mode);
    await mkdir(path, { mode }).catch((reason: unknown) => {
      // Another process may have made the folder meanwhile.
      if (errorCode(reason) !== 'EEXIST') throw reason;
    });
  }
}

/** A full disk may accept an empty file but not one byte. */
const PROBE_BYTES = 4_096;
/** Reports hold names and tax numbers, so only Lote's account and that account's group can use a folder that Lote makes for reports. */
const DIRECTORY_MODE = 0o750;

/** Proves that Lote can write to a folder, and makes a missing folder. @throws LoteError `folder-unusable` */
export async function requireWritable(folder: WrittenFolder): Promise<void> {
  const probe = join(folder.path, `.lote-probe-${randomUUID()}`);
  try {
    await makeFolder(folder.path, DIRECTORY_MODE);
    await writeFile(probe, Buffer.alloc(PROBE_BYTES), { flag: 'wx', mode: 0o600, flush: true });
    await rm(probe);
  } catch (error) {
    await rm(probe, { force: true }).catch(() => undefined);
    throw folderTrouble(error, folder, { next: `. Make it writable, or set ${folder.variable} to another folder.` });
  }
}
