import { access } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { resolveInput } from './input-files.ts';

/**
 * The file that a person names at a prompt: a path as the shell sees it, or a name in the input directory, as the Temporal UI and the console have it.
 * What is there by both is the shell's. What is there by neither is returned as it was named, for whoever opens it to say so.
 */
export async function namedFile(inputDir: string, name: string): Promise<string> {
  const isThere = await access(name).then(
    () => true,
    () => false,
  );
  return isThere || isAbsolute(name) ? name : resolveInput(inputDir, name).catch(() => name);
}

/** The same for each of them. */
export function namedFiles(inputDir: string, names: readonly string[]): Promise<readonly string[]> {
  return Promise.all(names.map((name) => namedFile(inputDir, name)));
}
