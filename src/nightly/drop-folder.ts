import { join } from 'node:path';
import { folderTrouble, isAbout } from '../platform/folders.ts';
import { claimFiles } from './claim-files.ts';
import { type DropFolderOptions, listClaimFolders, removeEmptyClaimFolder, removeClaimFolder } from './claim-folder.ts';
import { archiveFile, changedFiles, DESTINATIONS } from './archive-file.ts';
import type { ArchiveFile, ChangedFile, Claims, NightlyRun } from '../domain/records/dropped-file.ts';

/**
 * The folder in which files are dropped. Every step is one rename, repeatable at any moment: a file is always in
 * exactly one place, waiting, in progress, or archived.
 */
export interface DropFolder {
  /**
   * Claims what is complete, and what an interrupted nightly run left. `isOpen` says whether the run of another one is
   * open.
   */
  claim(night: NightlyRun, isOpen: (workflowId: string, runId: string) => Promise<boolean>): Promise<Claims>;
  /**
   * Archives a claimed file with a note. Returns the relative path of the file; null when it was taken out of its claim
   * folder.
   */
  archive(file: ArchiveFile): Promise<string | null>;
  /** `isRead`: whether a batch has read the bytes that the file at this path has now. */
  changed(now: number, isRead: (path: string) => Promise<boolean>): Promise<readonly ChangedFile[]>;
  /** The end of a night: its folder goes away unless a file is still in it. */
  close(night: NightlyRun): Promise<void>;
}

/**
 * Makes the drop folder on a disk:
 *
 *   input/x.csv
 *     --claim-->    input/in-progress/<night>/<claim folder>/x.csv
 *     --archive-->  input/archive|refused/<date>/x.csv + x.csv.note.txt
 */
export function createDropFolder(options: DropFolderOptions): DropFolder {
  const { inputDir, at } = options;
  return {
    claim: (night, isOpen) => withFolderNamed(options, () => claimFiles(options, night, isOpen)),
    archive: (file) => withFolderNamed(options, () => archiveFile(options, file)),
    changed: (now, isRead) => withFolderNamed(options, () => changedFiles({ inputDir, now, isRead })),
    close: ({ nightId }) => withFolderNamed(options, () => close(nightId)),
  };

  async function close(nightId: string): Promise<void> {
    for (const { claimFolder, name } of await listClaimFolders(inputDir, nightId)) {
      if (name !== null) continue;
      await removeEmptyClaimFolder(inputDir, nightId, claimFolder);
      await at('claim-folder-removed');
    }
    await removeClaimFolder(inputDir, nightId);
  }
}

/** @throws LoteError `input-unusable`, naming the folder: those below the input folder may be on disks of their own */
async function withFolderNamed<T>({ inputDir, setting }: DropFolderOptions, use: () => Promise<T>): Promise<T> {
  try {
    return await use();
  } catch (error) {
    const paths = [...DESTINATIONS.map((name) => join(inputDir, name)), inputDir];
    const path = paths.find((folder) => isAbout(error, folder)) ?? inputDir;
    throw folderTrouble(
      error,
      { title: 'input folder', path, variable: setting },
      {
        code: 'input-unusable',
        next: '. Nothing is lost: put it right and let the nights go on, for what this one has claimed lies in in-progress',
      },
    );
  }
}
