import { promises as files } from 'node:fs';
import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join, relative, sep } from 'node:path';
import { createDropFolder, type DropFolder } from '../../../src/nightly/claim-files.ts';
import type { DropFolderOptions } from '../../../src/nightly/claim-folder.ts';
import type { NightlyRun } from '../../../src/domain/records/dropped-file.ts';
import type { NightlyRunEntry } from '../../../src/domain/records/night.ts';

export function dropFolderAt(inputDir: string, options: Partial<DropFolderOptions> = {}): DropFolder {
  return createDropFolder({
    inputDir,
    ledgerId: 'ledger-1',
    stableMs: 1,
    pause: () => Promise.resolve(),
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

/** Runs `step` in place of the first call of this function of node:fs for such a path. Returns what ends the watch. */
export function atFirst(
  name: 'link' | 'mkdir' | 'writeFile',
  path: RegExp,
  step: (call: () => Promise<unknown>) => Promise<unknown>,
): () => void {
  const real = files[name] as (...args: readonly unknown[]) => Promise<unknown>;
  function set(one: typeof real): void {
    Object.assign(files, { [name]: one });
    syncBuiltinESMExports();
  }
  set((...args) => {
    if (!args.some((arg) => typeof arg === 'string' && path.test(arg))) return real(...args);
    set(real);
    return step(() => real(...args));
  });
  return () => set(real);
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

export function nightNamed(letter: string, date = '2026-11-21'): NightlyRun {
  const runId = letter.repeat(8);
  return { nightId: `${date}-${runId}`, date, workflowId: `night-${letter}`, runId, startedAt: 1_795_000_000_000 };
}

/** A dropped file of which all ten invoices went out; each test names what matters to it. */
export function nightEntry(given: Partial<NightlyRunEntry> = {}): NightlyRunEntry {
  return {
    ...{ slot: '0001', name: 'may.csv', shelvedAs: 'archive/2026-11-21/may.csv', verdict: 'issued' },
    ...{ sentences: [], remarks: [], known: false, resumed: false, batchId: 'batch-may-1', invoices: 10, issued: 10 },
    ...{ report: null, corrections: null },
    ...given,
  };
}
