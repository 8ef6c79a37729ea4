import { createHash } from 'node:crypto';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { PROFILE_AUDIT } from '../../console/profile-editor.ts';
import { LoteError } from '../../domain/errors.ts';
import type { SavedCopy } from './profile-editor.ts';
import { type Audit, writeAudited } from './write-audited.ts';

const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

/**
 * Writes `profiles/NAME.json` of the data directory and a line of the audit, both or neither. Its path; null when a file of that name is
 * there: none is ever overwritten.
 * @throws LoteError `usage` for another name, `folder-unusable`
 */
export async function saveProfile(
  { dataDir, ...audit }: Audit & { readonly dataDir: string },
  { name, text, note, by }: SavedCopy,
): Promise<string | null> {
  const folder = { title: 'folder of profiles', path: join(dataDir, 'profiles'), variable: 'LOTE_DATA_DIR' };
  const sha256 = createHash('sha256').update(text).digest('hex').slice(0, 12);
  const why = `profiles/${name}.json (sha256 ${sha256}): ${note}`;
  return writeAudited(audit, {
    ...{ folder, name: fileOf(name), text, auditId: PROFILE_AUDIT },
    action: { who: by, what: 'save-profile', why },
  });
}

/** The path of a profile that was saved; null: there is none of that name. */
export async function savedProfile(dataDir: string, name: string): Promise<string | null> {
  const path = join(dataDir, 'profiles', fileOf(name));
  return access(path).then(
    () => path,
    () => null,
  );
}

function fileOf(name: string): string {
  if (NAME.test(name)) return `${name}.json`;
  throw new LoteError(
    'usage',
    'Saving a service profile: its name must be 1 to 64 letters, digits, "_" or "-", found another one.',
  );
}
