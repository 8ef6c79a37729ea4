import { createHash, randomUUID } from 'node:crypto';
import { access, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { PROFILE_AUDIT } from '../../console/profile-editor.ts';
import { LoteError } from '../../domain/errors.ts';
import type { OperatingLedger } from '../../domain/ports/operating-ledger.ts';
import { folderTrouble } from '../../file-system/folder-trouble.ts';
import { makeFolder } from '../../file-system/make-folder.ts';
import type { SavedCopy } from './profile-editor.ts';
import { writeNewFile } from './write-new-file.ts';

const DIRECTORY_MODE = 0o750;
const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

/** Where profiles are saved, and who writes it down. */
export interface SavedProfiles {
  readonly dataDir: string;
  readonly ledger: Pick<OperatingLedger, 'noteActions'>;
  readonly now: () => number;
}

/**
 * Writes `profiles/NAME.json` of the data directory and a line of the audit, both or neither. Its path; null when a file of that name is
 * there: none is ever overwritten.
 * @throws LoteError `usage` for another name, `folder-unusable`
 */
export async function saveProfile(
  { dataDir, ledger, now }: SavedProfiles,
  { name, text, note, by }: SavedCopy,
): Promise<string | null> {
  const folder = join(dataDir, 'profiles');
  const path = pathIn(folder, name);
  try {
    await makeFolder(folder, DIRECTORY_MODE);
    if (!(await writeNewFile(path, text))) return null;
  } catch (error) {
    throw unwritten(folderTrouble(error, { title: 'folder of profiles', path: folder, variable: 'LOTE_DATA_DIR' }));
  }
  try {
    const sha256 = createHash('sha256').update(text).digest('hex').slice(0, 12);
    const why = `profiles/${name}.json (sha256 ${sha256}): ${note}`;
    const action = { actionId: randomUUID(), at: now(), who: by, what: 'save-profile', why };
    await ledger.noteActions(PROFILE_AUDIT, [action]);
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
  return path;
}

/** The path of a profile that was saved; null: there is none of that name. */
export async function savedProfile(dataDir: string, name: string): Promise<string | null> {
  const path = pathIn(join(dataDir, 'profiles'), name);
  return access(path).then(
    () => path,
    () => null,
  );
}

function pathIn(folder: string, name: string): string {
  if (NAME.test(name)) return join(folder, `${name}.json`);
  throw new LoteError(
    'usage',
    'Saving a service profile: its name must be 1 to 64 letters, digits, "_" or "-", found another one.',
  );
}

/** Nothing is tried again by itself here. */
function unwritten(trouble: unknown): unknown {
  if (!(trouble instanceof LoteError)) return trouble;
  const [what] = trouble.message.split('; ', 1);
  return new LoteError('folder-unusable', `${what}. Nothing was saved: make it writable, or download the profile.`);
}
