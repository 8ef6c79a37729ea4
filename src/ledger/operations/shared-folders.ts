import type { Database } from '../../database/database.ts';
import { changeFact, findFact } from '../facts.ts';

/** A folder that the processes of a ledger share: for dropped files, for reports, or for copies of files. */
export type FolderRole = 'input' | 'reports' | 'files';

/** Keeps the random mark of each shared folder. The folder holds a file with the mark: a folder without it is a different one. */
export function createSharedFolders(database: Database) {
  const keyOf = (application: string, role: FolderRole): string => `folder ${role} ${application}`;
  return {
    /** Returns null if no process has marked a folder for this role yet. */
    folderMark: async (application: string, role: FolderRole): Promise<string | null> =>
      (await findFact<string>(database, keyOf(application, role))).value,

    /** Sets the mark if there is none. Returns the mark that counts: this one, or the one that another process set first. */
    settleFolderMark: (application: string, role: FolderRole, mark: string): Promise<string> =>
      changeFact<string, string>(database, keyOf(application, role), (known) => [known ?? mark, known ?? mark]),
  };
}

/** The ledger methods for shared folders. */
export type SharedFolderLedger = ReturnType<typeof createSharedFolders>;
