import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LoteError } from '../../domain/errors.ts';
import { repeat } from '../../platform/repeat.ts';
import { errorCode } from '../../platform/error-code.ts';
import { holderIn, LOCK_FILE } from './directory-lock.ts';

const POLL_INTERVAL_MS = 5_000;
/** Looks in a row at which there is no lock file: a mount may be away for a moment. */
const LOOKS = 2;

/** A watch over a data directory that is owned. */
export interface DirectoryWatch {
  /** Rejects when the directory is not the owner's any more; never resolves. `folder-unusable` */
  readonly lost: Promise<never>;
  release(): Promise<void>;
}

export interface WatchedDirectory {
  readonly path: string;
  /** Of its lock. */
  readonly owner: string;
  /** Between two looks; default 5 s. */
  readonly everyMs?: number;
}

/**
 * Looks now and then whether the directory is there, and its lock file is the owner's. The lock of a file that was removed or moved away excludes no process:
 * another process makes a new directory with a new ledger, while this one goes on with files that no process will find again.
 */
export function watchDirectory({ path, owner, everyMs = POLL_INTERVAL_MS }: WatchedDirectory): DirectoryWatch {
  let fail = (_error: LoteError): void => undefined;
  const lost = new Promise<never>((_, reject) => (fail = reject));
  // Users of the directory learn of its loss through `lost`; a rejection before they listen must not end the process.
  lost.catch(() => undefined);
  let missing = 0;
  async function look(): Promise<void> {
    const found = await ownerIn(join(path, LOCK_FILE));
    missing = found === 'none' ? missing + 1 : 0;
    if (missing === LOOKS) fail(lostError(path, 'it was removed or moved away'));
    if (!['none', 'unknown', owner].includes(found))
      fail(lostError(path, 'another process has made a new one in its place'));
  }
  const watch = repeat(everyMs, look, { firstAtOnce: false });
  return { lost, release: () => watch.stop() };
}

/** `none`: there is no such file. `unknown`: it cannot be read, or its new owner has not written itself down yet. */
async function ownerIn(file: string): Promise<string> {
  try {
    return holderIn(await readFile(file, 'utf8')) ?? 'unknown';
  } catch (error) {
    return errorCode(error) === 'ENOENT' ? 'none' : 'unknown';
  }
}

function lostError(path: string, found: string): LoteError {
  return new LoteError(
    'folder-unusable',
    `Keeping the data directory ${path}: it must stay where it is while Lote runs, but ${found}. Its ledger is not there any more: put the directory back, ` +
      'or restore a copy (docs/deployment.md#restore-the-ledger), before you start Lote again.',
  );
}
