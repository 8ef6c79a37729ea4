import { setTimeout as sleep } from 'node:timers/promises';
import type { ActivityDeps } from '../../../activities/deps.ts';
import { LoteError } from '../../domain/errors.ts';
import type { CommonFolders } from './common-folders.ts';
import type { FolderRole } from '../../ledger/operations/shared-folders.ts';

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
  /** The same functions, each of which first proves the folders of these roles. */
  function on<Users extends object>(roles: readonly FolderRole[], users: Users): Users {
    const proved = Object.entries(users as Record<string, (...call: unknown[]) => Promise<unknown>>).map(
      ([name, use]) => [
        name,
        async (...call: unknown[]) => {
          for (const role of roles) await folders.require(role);
          return use(...call);
        },
      ],
    );
    return Object.fromEntries(proved) as Users;
  }

  const input = on(['input'], { resolve: files.resolve });

  async function resolve(file: string): Promise<string> {
    for (let waited = 0; ; waited += POLL_INTERVAL_MS) {
      try {
        return await input.resolve(file);
      } catch (error) {
        const unseen = error instanceof LoteError && error.code === 'file-unreadable';
        if (!unseen || waited >= FILE_PATIENCE_MS) throw error;
      }
      await sleep(POLL_INTERVAL_MS);
    }
  }

  return {
    files: { ...files, resolve, ...on(['input', 'files'], { read: files.read }) },
    reports: on(['reports', 'files'], reports),
    drops: on(['input'], drops),
    nights: on(['reports'], nights),
  };
}
