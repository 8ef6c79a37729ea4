import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative, sep } from 'node:path';
import { onTestFinished } from 'vitest';
import { createDropFolder } from '../../../src/drop/drop-folder.ts';
import type { DropFolderOptions } from '../../../src/drop/drop-folder-options.ts';
import type { DropFolder } from '../../../src/domain/ports/drop-folder.ts';

/** A real folder that goes away with the test. */
export async function dropPlace(): Promise<string> {
  const inputDir = await mkdtemp(join(tmpdir(), 'lote-drop-'));
  onTestFinished(() => rm(inputDir, { recursive: true, force: true }));
  return inputDir;
}

export function dropFolderAt(inputDir: string, options: Partial<DropFolderOptions> = {}): DropFolder {
  return createDropFolder({
    inputDir,
    setting: 'LOTE_INPUT_DIR',
    ledgerId: 'ledger-1',
    stableMs: 1,
    marker: false,
    pause: () => Promise.resolve(),
    at: () => Promise.resolve(),
    ...options,
  });
}

export async function drop(inputDir: string, name: string, text = `content of ${name}`): Promise<string> {
  const path = join(inputDir, name);
  await mkdir(join(path, '..'), { recursive: true });
  await writeFile(path, text);
  return path;
}

/** Sets when a file was last written, in seconds since 1970. */
export async function writtenAt(path: string, seconds: number): Promise<void> {
  await utimes(path, seconds, seconds);
}

/** Every file of the folder, relative, in order. */
export async function treeOf(inputDir: string): Promise<readonly string[]> {
  const entries = await readdir(inputDir, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(inputDir, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .toSorted();
}

export function nobodyIsOpen(): Promise<boolean> {
  return Promise.resolve(false);
}
