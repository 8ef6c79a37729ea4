import { setTimeout as sleep } from 'node:timers/promises';
import type { ActivityDeps } from '../../../activities/deps.ts';
import { LoteError } from '../../domain/errors.ts';
import type { FolderRole } from '../../domain/ports/ledger/shared-folder-ledger.ts';
import type { CommonFolders } from './common-folders.ts';

type FolderUsers = Pick<ActivityDeps, 'files' | 'reports' | 'drops' | 'nights'>;

/**
 * A file that another machine has just written may not be seen for some seconds: network file systems remember what was
 * not there.
 */
const FILE_PATIENCE_MS = 10_000;
const POLL_INTERVAL_MS = 1_000;

/**
 * Each use of a folder first proves that it is the common one: nothing is read from, or written to, a place that this
 * machine has alone.
 */
export function onCommonFolders(folders: CommonFolders, { files, reports, drops, nights }: FolderUsers): FolderUsers {
  async function on<T>(roles: readonly FolderRole[], use: () => Promise<T>): Promise<T> {
    for (const role of roles) await folders.require(role);
    return use();
  }

  async function resolve(file: string): Promise<string> {
    for (let waited = 0; ; waited += POLL_INTERVAL_MS) {
      try {
        return await on(['input'], () => files.resolve(file));
      } catch (error) {
        const unseen = error instanceof LoteError && error.code === 'file-unreadable';
        if (!unseen || waited >= FILE_PATIENCE_MS) throw error;
      }
      await sleep(POLL_INTERVAL_MS);
    }
  }

  return {
    files: {
      ...files,
      resolve,
      read: (request) => on(['input', 'files'], () => files.read(request)),
    },
    reports: {
      write: (batchId) => on(['reports', 'files'], () => reports.write(batchId)),
      reuse: (batchId) => on(['reports'], () => reports.reuse(batchId)),
      rowsNotSent: (batchId) => on(['reports'], () => reports.rowsNotSent(batchId)),
    },
    drops: {
      claim: (night, isOpen) => on(['input'], () => drops.claim(night, isOpen)),
      archive: (file) => on(['input'], () => drops.archive(file)),
      archivedAs: (file) => on(['input'], () => drops.archivedAs(file)),
      close: (night) => on(['input'], () => drops.close(night)),
    },
    nights: {
      record: (night, entry) => on(['reports'], () => nights.record(night, entry)),
      finish: (night, end) => on(['reports'], () => nights.finish(night, end)),
      run: (night) => on(['reports'], () => nights.run(night)),
      noteMessage: (night, note) => on(['reports'], () => nights.noteMessage(night, note)),
    },
  };
}
