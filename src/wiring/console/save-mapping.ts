import { join } from 'node:path';
import type { KeptMapping } from '../../console/mapping/file-mapper.ts';
import { isProfileName, parseProfile } from '../../ingest/profile/mapping-profile.ts';
import { type Audit, writeAudited } from './write-audited.ts';

/** The id under which the audit has what was done to mapping profiles: of no batch. */
const MAPPING_AUDIT = 'mapping-profile';

/**
 * Writes `profiles/NAME.json` of the input folder and a line of the audit; without the line there is no file. None is ever overwritten.
 * @throws LoteError `folder-unusable`; `usage` for a text that is no mapping profile
 */
export async function saveMapping(
  { inputDir, ...audit }: Audit & { readonly inputDir: string },
  { name, text, by }: { readonly name: string; readonly text: string; readonly by: string },
): Promise<Exclude<KeptMapping, 'open'>> {
  if (!isProfileName(name)) return 'name';
  const { sha256 } = parseProfile(name, Buffer.from(text));
  const folder = { title: 'folder of mapping profiles', path: join(inputDir, 'profiles'), variable: 'LOTE_INPUT_DIR' };
  const why = `profiles/${name}.json (sha256 ${sha256.slice(0, 12)})`;
  const path = await writeAudited(audit, {
    ...{ folder, name: `${name}.json`, text, auditId: MAPPING_AUDIT },
    action: { who: by, what: 'save-mapping', why },
  });
  return path === null ? 'taken' : 'saved';
}
