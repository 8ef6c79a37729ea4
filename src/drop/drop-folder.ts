import { join } from 'node:path';
import { LoteError } from '../domain/errors.ts';
import { folderTrouble, isAbout } from '../file-system/folder-trouble.ts';
import type { ArchiveFile, Destination, DropFolder } from '../domain/ports/drop-folder.ts';
import { claimFiles } from './claim-files.ts';
import type { DropFolderOptions } from './drop-folder-options.ts';
import { listClaimFolders, removeEmptyClaimFolder, removeClaimFolder } from './claim-folder.ts';
import { archivedName, archiveFile } from './archive-file.ts';

const DESTINATIONS: readonly Destination[] = ['archive', 'refused'];

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
    archivedAs: (file) => withFolderNamed(options, () => archivedAs(file)),
    close: ({ nightId }) => withFolderNamed(options, () => close(nightId)),
  };

  async function archivedAs(file: Pick<ArchiveFile, 'night' | 'slot'>): Promise<string | null> {
    for (const destination of DESTINATIONS) {
      const name = await archivedName(join(inputDir, destination, file.night.date), file);
      if (name !== null) return `${destination}/${file.night.date}/${name}`;
    }
    return null;
  }

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
    const trouble = folderTrouble(error, { title: 'input folder', path, variable: setting });
    if (!(trouble instanceof LoteError) || trouble === error) throw trouble;
    const [what] = trouble.message.split('; ', 1);
    throw new LoteError(
      'input-unusable',
      `${what}. Nothing is lost: put it right and let the nights go on, for what this one has claimed lies in in-progress`,
    );
  }
}
