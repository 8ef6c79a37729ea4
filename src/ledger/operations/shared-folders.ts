import type { Database } from '../database/database.ts';
import { changeFact, findFact } from '../database/facts.ts';

/** What the processes of a ledger share beside it: where files are dropped, where reports are written, where copies of files are kept. */
export type FolderRole = 'input' | 'reports' | 'files';

/** Each common folder holds a file with a random mark, and the ledger knows the mark: a folder without it is another folder. */
export function createSharedFolders(database: Database) {
  const keyOf = (application: string, role: FolderRole): string => `folder ${role} ${application}`;
  return {
    /** Null: no process has marked a folder for this role yet. */
    folderMark: async (application: string, role: FolderRole): Promise<string | null> =>
      (await findFact<string>(database, keyOf(application, role))).value,

    /** The mark that counts from now on: this one, or the one that another process brought first. */
    settleFolderMark: (application: string, role: FolderRole, mark: string): Promise<string> =>
      changeFact<string, string>(database, keyOf(application, role), (known) => [known ?? mark, known ?? mark]),
  };
}

/** What a process knows of the folders. */
export type SharedFolderLedger = ReturnType<typeof createSharedFolders>;
