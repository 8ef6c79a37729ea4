import type { DropFolder } from '../domain/ports/drop-folder.ts';
import { claimFiles } from './claim-files.ts';
import type { DropFolderOptions } from './drop-folder-options.ts';
import { listClaimFolders, removeEmptyClaimFolder, removeClaimFolder } from './claim-folder.ts';
import { archiveFile } from './archive-file.ts';

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
    claim: (night, isOpen) => claimFiles(options, night, isOpen),
    archive: (file) => archiveFile(options, file),
    async close({ nightId }) {
      for (const { claimFolder, name } of await listClaimFolders(inputDir, nightId)) {
        if (name !== null) continue;
        await removeEmptyClaimFolder(inputDir, nightId, claimFolder);
        await at('claim-folder-removed');
      }
      await removeClaimFolder(inputDir, nightId);
    },
  };
}
