import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { KeptMapping } from '../../console/mapping/file-mapper.ts';
import type { OperatingLedger } from '../../domain/ports/operating-ledger.ts';
import { folderTrouble } from '../../file-system/folder-trouble.ts';
import { makeFolder } from '../../file-system/make-folder.ts';
import { isProfileName, parseProfile } from '../../ingest/profile/profile.ts';
import { writeNewFile } from './write-new-file.ts';

/** Whoever may drop files may read how they are mapped. */
const DIRECTORY_MODE = 0o750;
/** The id under which the audit has what was done to mapping profiles: of no batch. */
const MAPPING_AUDIT = 'mapping-profile';

/** Where mapping profiles are kept, and who writes it down. */
export interface KeptMappings {
  readonly inputDir: string;
  readonly ledger: Pick<OperatingLedger, 'noteActions'>;
  readonly now: () => number;
}

/**
 * Writes `profiles/NAME.json` of the input folder and a line of the audit; without the line there is no file. None is ever overwritten.
 * @throws LoteError `folder-unusable`; `usage` for a text that is no mapping profile
 */
export async function saveMapping(
  { inputDir, ledger, now }: KeptMappings,
  { name, text, by }: { readonly name: string; readonly text: string; readonly by: string },
): Promise<Exclude<KeptMapping, 'open'>> {
  if (!isProfileName(name)) return 'name';
  const { sha256 } = parseProfile(name, Buffer.from(text));
  const folder = join(inputDir, 'profiles');
  const path = join(folder, `${name}.json`);
  try {
    await makeFolder(folder, DIRECTORY_MODE);
    if (!(await writeNewFile(path, text))) return 'taken';
  } catch (error) {
    throw folderTrouble(error, { title: 'folder of mapping profiles', path: folder, variable: 'LOTE_INPUT_DIR' });
  }
  try {
    const why = `profiles/${name}.json (sha256 ${sha256.slice(0, 12)})`;
    const action = { actionId: randomUUID(), at: now(), who: by, what: 'save-mapping', why };
    await ledger.noteActions(MAPPING_AUDIT, [action]);
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
  return 'saved';
}
