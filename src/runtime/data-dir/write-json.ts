import { randomUUID } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';

/** Writes a small JSON file that its readers see whole or not at all. */
export async function writeJson(path: string, value: unknown): Promise<void> {
  const part = `${path}.${randomUUID()}.part`;
  await writeFile(part, `${JSON.stringify(value, null, 2)}\n`);
  await rename(part, path);
}

/** Null when it is not there or not JSON. */
export async function readJson(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8'));
  } catch {
    return null;
  }
}
