import { randomUUID } from 'node:crypto';
import { lstat, mkdir, readdir, readFile, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../file-system/error-code.ts';
import { unlessMissing } from '../file-system/unless-missing.ts';
import type { NightlyRun } from '../domain/ports/drop-folder.ts';
import { isIgnoredName } from './is-ignored-name.ts';

/** Where files are while their batch runs. */
export const IN_PROGRESS = 'in-progress';
const RECORD = '.night.json';
const RESUMED = '-resumed';
const DRAFT_PREFIX = '.new-';
/** A draft becomes the folder of its run within milliseconds; clocks of machines that share a folder differ by less than this. */
const YOUNG_DRAFT_MS = 60 * 60_000;

/** Temporal run that made the folder of a nightly run. */
export interface NightlyOwner {
  readonly workflowId: string;
  readonly runId: string;
  /** Null in the record of an earlier version of Lote. */
  readonly ledgerId: string | null;
}

/** One claim folder of a nightly run. */
export interface ClaimFolder {
  /** Name of the folder. */
  readonly claimFolder: string;
  /** The file in it; null: taken out again, or never brought in. */
  readonly name: string | null;
  readonly resumed: boolean;
}

/** Path of the folder in which a nightly run keeps its claim folders. */
export function nightlyRunPath(inputDir: string, nightId: string): string {
  return join(inputDir, IN_PROGRESS, nightId);
}

/**
 * Makes the folder of a nightly run together with the record of its owner: a run without a known owner could never be
 * given up.
 */
export async function openClaimFolder(inputDir: string, night: NightlyRun, ledgerId: string): Promise<void> {
  const path = nightlyRunPath(inputDir, night.nightId);
  if ((await nightlyOwner(inputDir, night.nightId)) !== null) return;
  const draft = join(inputDir, IN_PROGRESS, `${DRAFT_PREFIX}${randomUUID()}`);
  await mkdir(draft, { recursive: true });
  try {
    await writeFile(
      join(draft, RECORD),
      JSON.stringify({ workflowId: night.workflowId, runId: night.runId, ledgerId }),
    );
    await rename(draft, path);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/**
 * Removes folders of nightly runs that were killed before they began. A young one may be that of a run that begins at this moment: without it, that run
 * would fail, or have a folder without an owner.
 */
export async function removeDrafts(inputDir: string): Promise<void> {
  const path = join(inputDir, IN_PROGRESS);
  for (const name of await namesIn(path)) {
    if (!name.startsWith(DRAFT_PREFIX)) continue;
    const draft = join(path, name);
    const found = await lstat(draft).catch(() => null);
    if (found !== null && Date.now() - found.mtimeMs > YOUNG_DRAFT_MS)
      await rm(draft, { recursive: true, force: true });
  }
}

/** Null when it has no readable record. */
export async function nightlyOwner(inputDir: string, nightId: string): Promise<NightlyOwner | null> {
  try {
    const record: unknown = JSON.parse(await readFile(join(nightlyRunPath(inputDir, nightId), RECORD), 'utf8'));
    if (typeof record !== 'object' || record === null) return null;
    const { workflowId, runId, ledgerId } = record as Partial<Record<keyof NightlyOwner, unknown>>;
    if (typeof workflowId !== 'string' || typeof runId !== 'string') return null;
    return { workflowId, runId, ledgerId: typeof ledgerId === 'string' ? ledgerId : null };
  } catch {
    return null;
  }
}

/** Ids of the nightly runs that have a folder under `in-progress/`; empty when there is none. */
export async function listNightlyRuns(inputDir: string): Promise<readonly string[]> {
  return (await namesIn(join(inputDir, IN_PROGRESS))).filter((name) => !name.startsWith('.'));
}

/** The claim folders of a nightly run, each with the file in it. */
export async function listClaimFolders(inputDir: string, nightId: string): Promise<readonly ClaimFolder[]> {
  const path = nightlyRunPath(inputDir, nightId);
  const claimFolders: ClaimFolder[] = [];
  for (const claimFolder of await namesIn(path)) {
    if (claimFolder.startsWith('.')) continue;
    const name = (await namesIn(join(path, claimFolder))).find((entry) => !isIgnoredName(entry)) ?? null;
    claimFolders.push({ claimFolder, name, resumed: claimFolder.endsWith(RESUMED) });
  }
  return claimFolders;
}

/**
 * Makes a new, empty claim folder and returns its name. It did not exist before, so that a rename into it overwrites
 * nothing.
 */
export async function makeClaimFolder(inputDir: string, nightId: string, resumed: boolean): Promise<string> {
  const path = nightlyRunPath(inputDir, nightId);
  const taken = (await namesIn(path)).map((claimFolder) => Number.parseInt(claimFolder, 10)).filter(Number.isFinite);
  for (let number = Math.max(0, ...taken) + 1; ; number += 1) {
    const claimFolder = `${String(number).padStart(4, '0')}${resumed ? RESUMED : ''}`;
    try {
      await mkdir(join(path, claimFolder));
      return claimFolder;
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error;
    }
  }
}

/** Removes a claim folder that holds no file, with Lote's own files in it. */
export async function removeEmptyClaimFolder(inputDir: string, nightId: string, claimFolder: string): Promise<void> {
  const path = join(nightlyRunPath(inputDir, nightId), claimFolder);
  const names = await namesIn(path);
  if (names.some((name) => !isIgnoredName(name))) return;
  for (const name of names) await rm(join(path, name), { force: true });
  await removeEmptyFolder(path);
}

/** Removes the folder of a nightly run that holds no claim folder any more. */
export async function removeClaimFolder(inputDir: string, nightId: string): Promise<void> {
  const path = nightlyRunPath(inputDir, nightId);
  if ((await namesIn(path)).some((name) => name !== RECORD)) return;
  await rm(join(path, RECORD), { force: true });
  await removeEmptyFolder(path);
}

/** A file may have been put in, or removed, at the same moment. */
async function removeEmptyFolder(path: string): Promise<void> {
  await rmdir(path).catch((error: unknown) => {
    if (!['ENOTEMPTY', 'ENOENT', 'EEXIST'].includes(errorCode(error))) throw error;
  });
}

async function namesIn(path: string): Promise<readonly string[]> {
  const names = await unlessMissing(readdir(path), ['ENOENT', 'ENOTDIR']);
  return names?.toSorted() ?? [];
}
