import { access } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { LoteError } from '../../domain/errors.ts';
import { resolveInput } from './input-files.ts';

/** What Node puts in the place of bytes that are no UTF-8: under that name it finds no file. */
const NO_UTF_8 = '\uFFFD';

/**
 * The file that a person names at a prompt: a path as the shell sees it, or a name in the input directory, as the Temporal UI and the console have it.
 * What is there by both is the shell's. What is there by neither is returned as it was named, and the function that opens it says so.
 * @throws LoteError `file-unreadable` for a name that is no UTF-8
 */
export async function namedFile(inputDir: string, name: string): Promise<string> {
  const isThere = await access(name).then(
    () => true,
    () => false,
  );
  const found = isThere || isAbsolute(name) ? name : await resolveInput(inputDir, name).catch(() => name);
  if (isThere || found !== name || !name.includes(NO_UTF_8)) return found;
  throw new LoteError(
    'file-unreadable',
    `Opening the input file ${JSON.stringify(name)}: its name must be UTF-8, and it is not, so that it cannot be opened under it. Rename the file and start again.`,
  );
}

/** The same for each of them. */
export function namedFiles(inputDir: string, names: readonly string[]): Promise<readonly string[]> {
  return Promise.all(names.map((name) => namedFile(inputDir, name)));
}
