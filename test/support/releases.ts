import { existsSync, readdirSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const RELEASES = fileURLToPath(new URL('../releases/', import.meta.url));

/** The version that is being recorded; null: nothing is. Set by the release script. */
export const RECORDED_VERSION = process.env['LOTE_RECORD_RELEASE'] ?? null;

/** A version of Lote, and what it left behind. */
export interface Release {
  readonly version: string;
  /** Of files below its folder that are there. */
  path(file: string): string;
}

/** Every version that left the given file or folder behind. */
export function releasesWith(file: string): readonly Release[] {
  return readdirSync(RELEASES)
    .filter((version) => version !== RECORDED_VERSION && existsSync(join(RELEASES, version, file)))
    .toSorted((one, other) => one.localeCompare(other, 'en', { numeric: true }))
    .map((version) => ({ version, path: (name) => join(RELEASES, version, name) }));
}

/** JSON of a file that a release left behind. */
export async function readRecorded(path: string): Promise<unknown> {
  return JSON.parse(await readFile(path, 'utf8'));
}

/** Keeps a file for the version that is being recorded, without the place of this machine in stack traces; does nothing while none is. */
export async function recordForRelease(file: string, text: string): Promise<void> {
  if (RECORDED_VERSION === null) return;
  const path = join(RELEASES, RECORDED_VERSION, file);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text.replaceAll(`${process.cwd()}/`, ''));
}
