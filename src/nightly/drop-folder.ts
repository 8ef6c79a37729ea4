import { join } from 'node:path';
import { folderTrouble, isAbout } from '../platform/folders.ts';
import { claimFiles, type IsOpen } from './claim-files.ts';
import { type DropFolderOptions, listClaimFolders, removeEmptyClaimFolder, removeClaimFolder } from './claim-folder.ts';
import { archiveFile, changedFiles, DESTINATIONS } from './archive-file.ts';
import type { ArchiveFile, NightlyRun } from '../domain/records/dropped-file.ts';

/** The folder for dropped files. Every step is one repeatable rename, so that a file is always in exactly one place. */
export type DropFolder = ReturnType<typeof createDropFolder>;

/** Moves files from `input/` to `in-progress/<night>/<claim folder>/`, then to `archive|refused/<date>/` with a note. */
export function createDropFolder(options: DropFolderOptions) {
  const { inputDir, at } = options;
  return {
    /** Claims complete files and those of interrupted nights. `isOpen` says whether the run of another night is open. */
    claim: (night: NightlyRun, isOpen: IsOpen) => withFolderNamed(options, () => claimFiles(options, night, isOpen)),
    archive: (file: ArchiveFile) => withFolderNamed(options, () => archiveFile(options, file)),
    /** `isRead` says whether a batch has read the present bytes of the file at this path. */
    changed: (now: number, isRead: (path: string) => Promise<boolean>) =>
      withFolderNamed(options, () => changedFiles({ inputDir, now, isRead })),
    /** Ends a night: removes its folder unless a file is still in it. */
    close: ({ nightId }: NightlyRun) => withFolderNamed(options, () => close(nightId)),
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

/** @throws LoteError `input-unusable`, naming the folder, because folders below the input folder may be on disks of their own */
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
