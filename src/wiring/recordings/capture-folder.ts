import { chmod, realpath, readdir, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { LoteError } from '../../domain/errors.ts';
import { makeFolder } from '../../file-system/make-folder.ts';

const OWNER_ONLY = 0o700;
const OTHERS = 0o077;
const STICKY = 0o1000;

/** How records end; nothing else in the folder is counted. */
export const RECORD_ENDING = '.json';

/** What a folder of records holds already. */
export interface CaptureUse {
  readonly records: number;
  readonly bytes: number;
}

/**
 * Makes the folder of a capture, or closes one that is there to every other account; returns its real path.
 * @throws LoteError `configuration-invalid` for a folder in which files are served or read; an error of the system, or one that says who else may read it
 */
export async function openCaptureFolder(path: string, served: readonly string[]): Promise<string> {
  await makeFolder(path, OWNER_ONLY);
  const real = await realpath(path);
  for (const folder of served) {
    // A folder that is not there yet serves nothing.
    // oxlint-disable-next-line no-await-in-loop
    requireOutside(real, await realpath(folder).catch(() => folder));
  }
  const { mode, uid } = await stat(real);
  if ((mode & OTHERS) === 0) return real;
  if ((mode & STICKY) !== 0 || uid !== process.getuid?.()) throw new Error('other accounts may read it');
  await chmod(real, OWNER_ONLY);
  return real;
}

/** @throws LoteError `configuration-invalid` */
function requireOutside(folder: string, served: string): void {
  if (folder !== served && !folder.startsWith(served + sep) && !served.startsWith(folder + sep)) return;
  throw new LoteError(
    'configuration-invalid',
    `Recording to LOTE_CAPTURE: it must be a folder apart from those whose files Lote serves or reads, found ${JSON.stringify(folder)} and ${JSON.stringify(served)}. Set LOTE_CAPTURE to another folder.`,
  );
}

/** Counts the records that are there. */
export async function captureUse(folder: string): Promise<CaptureUse> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(RECORD_ENDING));
  const sizes = await Promise.all(
    names.map(async (name) => (await stat(join(folder, name)).catch(() => ({ size: 0 }))).size),
  );
  return { records: names.length, bytes: sizes.reduce((sum, size) => sum + size, 0) };
}
