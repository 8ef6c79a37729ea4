/** What the processes of a ledger share beside it: where files are dropped, where reports are written, where copies of files are kept. */
export type FolderRole = 'input' | 'reports' | 'files';

/** Each common folder holds a file with a random mark, and the ledger knows the mark: a folder without it is another folder. */
export interface SharedFolderLedger {
  /** Null: no process has marked a folder for this role yet. */
  folderMark(application: string, role: FolderRole): Promise<string | null>;
  /** The mark that counts from now on: this one, or the one that another process brought first. */
  settleFolderMark(application: string, role: FolderRole, mark: string): Promise<string>;
}
