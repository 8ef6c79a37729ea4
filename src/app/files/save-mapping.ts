import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { KeptMapping } from '../../console/mapping/file-mapper.ts';
import { isProfileName, parseProfile } from '../../ingest/profile/mapping-profile.ts';
import { LoteError } from '../../domain/errors.ts';
import { folderTrouble, makeFolder } from '../../platform/folders.ts';
import { writeNewFile } from '../../platform/files.ts';
import type { Ledger } from '../../ledger/ledger.ts';

/** Every account that may read Lote's output may read profiles. Lote creates their folder if it is missing. */
const DIRECTORY_MODE = 0o750;
const FILE_MODE = 0o640;
/** Audit id for actions on mapping profiles, which belong to no batch. */
const MAPPING_AUDIT = 'mapping-profile';

/**
 * Writes `profiles/NAME.json` of the input folder and returns its path, without an audit: a prompt need not open a ledger.
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
 * Writes `profiles/NAME.json` of the input folder and a line of the audit, or neither. Never overwrites a profile.
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

/** Returns the path of the new profile, or null if its name is taken. @throws LoteError `folder-unusable` */
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
