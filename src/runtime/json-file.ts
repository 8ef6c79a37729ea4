import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import type { z } from 'zod';

/** Only the owner reads it: such files tell where things listen. */
const OWNER_ONLY = 0o600;

/** Writes beside and renames: a reader sees the old file or the new one, never half of one. */
export async function writeJsonFile(path: string, value: unknown): Promise<void> {
  const beside = `${path}.${process.pid}.part`;
  try {
    await writeFile(beside, `${JSON.stringify(value, null, 2)}\n`, { mode: OWNER_ONLY });
    await rename(beside, path);
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  }
}

/** What the file holds, or null when there is none or it holds something else: such files are advice, never the truth. */
export async function readJsonFile<T>(path: string, schema: z.ZodType<T>): Promise<T | null> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch {
    return null;
  }
  try {
    const parsed = schema.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}
