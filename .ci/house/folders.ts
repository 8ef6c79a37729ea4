import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DEEPEST, FIXTURES, MOST_ENTRIES, SORTED } from './limits.ts';

/** Folders with too many entries, and folders of `src` that are too deep, each as a sentence. `root` is the checkout. */
export function crowdedFolders(root: string): readonly string[] {
  return SORTED.flatMap((folder) => crowded(root, folder));
}

function crowded(root: string, folder: string): readonly string[] {
  if (FIXTURES.includes(folder)) return [];
  const entries = readdirSync(join(root, folder), { withFileTypes: true }).filter(
    ({ name }) => !name.startsWith('.') && name !== 'node_modules',
  );
  const below = entries
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name }) => crowded(root, `${folder}/${name}`));
  const [room, ...levels] = folder.split('/');
  if (room === 'src' && levels.length > DEEPEST)
    return [
      `${folder} is ${levels.length} levels below src, at most ${DEEPEST} are found easily: move its files up`,
      ...below,
    ];
  if (entries.length <= MOST_ENTRIES) return below;
  const found = `${folder} has ${entries.length} entries, at most ${MOST_ENTRIES} are found easily: sort them into folders`;
  return [found, ...below];
}
