import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { KeptMapping } from '../../console/mapping/file-mapper.ts';
import { isProfileName, parseProfile } from '../../ingest/profile/mapping-profile.ts';
import { LoteError } from '../../domain/errors.ts';
import { folderTrouble, makeFolder } from '../../platform/folders.ts';
import { writeNewFile } from '../../platform/files.ts';
import type { Ledger } from '../../ledger/ledger.ts';

/** Each account that may read what Lote writes may read it; its folder is made when there is none. */
const DIRECTORY_MODE = 0o750;
const FILE_MODE = 0o640;
/** The id under which the audit has what was done to mapping profiles: of no batch. */
const MAPPING_AUDIT = 'mapping-profile';

/**
 * Writes `profiles/NAME.json` of the input folder, and says where. Used at a prompt, where no ledger needs to be open for an audit.
 * @throws LoteError `usage` for a name that is taken, `folder-unusable`
 */
export async function writeProfile(inputDir: string, name: string, text: string): Promise<string> {
  parseProfile(name, Buffer.from(text));
  const path = await writeOnce(inputDir, name, text);
  if (path !== null) return path;
  throw new LoteError(
    'usage',
    `Saving a mapping profile: profiles/${name}.json of the input directory exists, and is never overwritten. Save under another name, or remove that file first.`,
  );
}

/**
 * Writes `profiles/NAME.json` of the input folder and a line of the audit; without the line there is no file. None is ever overwritten.
 * @throws LoteError `folder-unusable`; `usage` for a text that is no mapping profile
 */
export async function saveMapping(
  { inputDir, ledger }: { readonly inputDir: string; readonly ledger: Pick<Ledger, 'noteActions'> },
  { name, text, by }: { readonly name: string; readonly text: string; readonly by: string },
): Promise<Exclude<KeptMapping, 'open'>> {
  if (!isProfileName(name)) return 'name';
  const { sha256 } = parseProfile(name, Buffer.from(text));
  const path = await writeOnce(inputDir, name, text);
  if (path === null) return 'taken';
  try {
    const why = `profiles/${name}.json (sha256 ${sha256.slice(0, 12)})`;
    const action = { who: by, what: 'save-mapping', why };
    await ledger.noteActions(MAPPING_AUDIT, [{ actionId: randomUUID(), at: Date.now(), ...action }]);
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
  return 'saved';
}

/** The path of a new profile; null: its name was taken. @throws LoteError `folder-unusable` */
async function writeOnce(inputDir: string, name: string, text: string): Promise<string | null> {
  const folder = { title: 'folder of mapping profiles', path: join(inputDir, 'profiles'), variable: 'LOTE_INPUT_DIR' };
  const path = join(folder.path, `${name}.json`);
  try {
    await makeFolder(folder.path, DIRECTORY_MODE);
    return (await writeNewFile(path, text, FILE_MODE)) ? path : null;
  } catch (error) {
    throw folderTrouble(error, folder, { next: '. Nothing was saved: make it writable, and save again.' });
  }
}
