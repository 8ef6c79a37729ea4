import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../file-system/error-code.ts';
import type { NightlyRun } from '../domain/ports/drop-folder.ts';
import { isIgnoredName } from './is-ignored-name.ts';

/** Where files are while their batch runs. */
export const IN_PROGRESS = 'in-progress';
const RECORD = '.night.json';
const RESUMED = '-resumed';
const UNBORN = '.new-';

/** Who made a night's folder. */
export interface NightlyOwner {
  readonly workflowId: string;
  readonly runId: string;
}

export interface Slot {
  readonly slot: string;
  /** The file in it; null: taken out again, or never brought in. */
  readonly name: string | null;
  readonly resumed: boolean;
}

/** Path of the folder in which a nightly run keeps its claim folders. */
export function nightlyRunPath(inputDir: string, nightId: string): string {
  return join(inputDir, IN_PROGRESS, nightId);
}

/** The folder appears together with the record of its owner: a night without a known owner could never be given up. */
export async function openClaimFolder(inputDir: string, night: NightlyRun): Promise<void> {
  const path = nightlyRunPath(inputDir, night.nightId);
  if ((await nightlyOwner(inputDir, night.nightId)) !== null) return;
  const fresh = join(inputDir, IN_PROGRESS, `${UNBORN}${randomUUID()}`);
  await mkdir(fresh, { recursive: true });
  try {
    await writeFile(join(fresh, RECORD), JSON.stringify({ workflowId: night.workflowId, runId: night.runId }));
    await rename(fresh, path);
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
}

/** Folders of nights that were killed before they began; a living one makes its own again when its activity is repeated. */
export async function removeUnborn(inputDir: string): Promise<void> {
  const path = join(inputDir, IN_PROGRESS);
  for (const name of await namesIn(path))
    if (name.startsWith(UNBORN)) await rm(join(path, name), { recursive: true, force: true });
}

/** Null when it has no readable record. */
export async function nightlyOwner(inputDir: string, nightId: string): Promise<NightlyOwner | null> {
  try {
    const record: unknown = JSON.parse(await readFile(join(nightlyRunPath(inputDir, nightId), RECORD), 'utf8'));
    if (typeof record !== 'object' || record === null) return null;
    const { workflowId, runId } = record as Partial<Record<keyof NightlyOwner, unknown>>;
    return typeof workflowId === 'string' && typeof runId === 'string' ? { workflowId, runId } : null;
  } catch {
    return null;
  }
}

/** Ids of the nightly runs that have a folder under `in-progress/`; empty when there is none. */
export async function listNightlyRuns(inputDir: string): Promise<readonly string[]> {
  return (await namesIn(join(inputDir, IN_PROGRESS))).filter((name) => !name.startsWith('.'));
}

/** The claim folders of a nightly run, each with the file in it. */
export async function listClaimFolders(inputDir: string, nightId: string): Promise<readonly Slot[]> {
  const path = nightlyRunPath(inputDir, nightId);
  const slots: Slot[] = [];
  for (const slot of await namesIn(path)) {
    if (slot.startsWith('.')) continue;
    const name = (await namesIn(join(path, slot))).find((entry) => !isIgnoredName(entry)) ?? null;
    slots.push({ slot, name, resumed: slot.endsWith(RESUMED) });
  }
  return slots;
}

/**
 * Makes a new, empty claim folder and returns its name. It did not exist before, so that a rename into it overwrites
 * nothing.
 */
export async function makeClaimFolder(inputDir: string, nightId: string, resumed: boolean): Promise<string> {
  const path = nightlyRunPath(inputDir, nightId);
  const taken = (await namesIn(path)).map((slot) => Number.parseInt(slot, 10)).filter(Number.isFinite);
  for (let number = Math.max(0, ...taken) + 1; ; number += 1) {
    const slot = `${String(number).padStart(4, '0')}${resumed ? RESUMED : ''}`;
    try {
      await mkdir(join(path, slot));
      return slot;
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error;
    }
  }
}

/** Removes a slot that holds no file; what is only Lote's own in it goes too. */
export async function removeEmptyClaimFolder(inputDir: string, nightId: string, slot: string): Promise<void> {
  const path = join(nightlyRunPath(inputDir, nightId), slot);
  const names = await namesIn(path);
  if (names.some((name) => !isIgnoredName(name))) return;
  for (const name of names) await rm(join(path, name), { force: true });
  await removeEmptyFolder(path);
}

/** Removes a night's folder that holds no slot any more. */
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
  try {
    return (await readdir(path)).toSorted();
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return [];
    throw error;
  }
}
