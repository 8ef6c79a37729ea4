import { mkdir, readFile, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { errorCode, namesIn } from '../platform/error-code.ts';
import { FOLDER_MODE, makeFolder } from '../platform/folders.ts';
import { writeNewFile } from '../platform/files.ts';
import type { NightlyRun } from '../domain/records/dropped-file.ts';

/** Options of the drop folder. `stableMs` is milliseconds; `pause` waits, also in milliseconds. */
export interface DropFolderOptions {
  readonly inputDir: string;
  /** Id of the ledger; claims of another ledger are not taken over. */
  readonly ledgerId: string;
  /** A file whose size and time stay the same for this long is complete. */
  readonly stableMs: number;
  readonly pause: (ms: number) => Promise<void>;
}

/** Extensions that Lote reads, in any case. Programs use other names for unfinished files, and Lote ignores all other files. */
const READ = /\.(?:csv|txt|tsv|json|ndjson|jsonl|xlsx|xlsm|ods)$/iu;

/** The shipped sample holds invented invoices: a night must never send them to a real service. */
const SHIPPED_SAMPLE = 'sample.csv';

/** True for names in the drop folder that are not (yet) a dropped file. */
export function isIgnoredName(name: string): boolean {
  return name.startsWith('.') || name.startsWith('~') || !READ.test(name) || name === SHIPPED_SAMPLE;
}

/** Folder of the files whose batch runs. */
export const IN_PROGRESS = 'in-progress';
const RESUMED = '-resumed';
/** The umask of the process decides the rights. */
const RECORD_MODE = 0o666;

/** Temporal run that made the folder of a nightly run. */
const NightlyOwner = z.object({ workflowId: z.string(), runId: z.string(), ledgerId: z.string() });

/** One claim folder of a nightly run. */
export interface ClaimFolder {
  readonly claimFolder: string;
  readonly name: string | null;
  readonly resumed: boolean;
}

/** Returns the path of the folder in which a nightly run keeps its claim folders. */
export function nightlyRunPath(inputDir: string, nightId: string): string {
  return join(inputDir, IN_PROGRESS, nightId);
}

/** Makes the folder of a nightly run. The owner's record comes first, because a run without a known owner could never be given up. */
export async function openClaimFolder(inputDir: string, night: NightlyRun, ledgerId: string): Promise<void> {
  const { nightId, workflowId, runId } = night;
  await makeFolder(join(inputDir, IN_PROGRESS), FOLDER_MODE);
  await writeNewFile(recordPath(inputDir, nightId), JSON.stringify({ workflowId, runId, ledgerId }), RECORD_MODE);
  await mkdir(nightlyRunPath(inputDir, nightId), { recursive: true });
}

function recordPath(inputDir: string, nightId: string): string {
  return join(inputDir, IN_PROGRESS, `.${nightId}.json`);
}

/** Returns the owner of a nightly run; null without a readable record. */
export async function nightlyOwner(inputDir: string, nightId: string) {
  try {
    return NightlyOwner.parse(JSON.parse(await readFile(recordPath(inputDir, nightId), 'utf8')));
  } catch {
    return null;
  }
}

/** Returns the ids of the nightly runs with a folder under `in-progress/`; empty if there are none. */
export async function listNightlyRuns(inputDir: string): Promise<readonly string[]> {
  return (await namesIn(join(inputDir, IN_PROGRESS))).filter((name) => !name.startsWith('.'));
}

/** Returns the claim folders of a nightly run, each with its file. */
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

/** Makes a new, empty claim folder and returns its name, so that a rename into it overwrites nothing. */
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

/** Removes a claim folder without a dropped file, with Lote's own files in it. */
export async function removeEmptyClaimFolder(inputDir: string, nightId: string, claimFolder: string): Promise<void> {
  const path = join(nightlyRunPath(inputDir, nightId), claimFolder);
  const names = await namesIn(path);
  if (names.some((name) => !isIgnoredName(name))) return;
  for (const name of names) await rm(join(path, name), { force: true });
  await removeEmptyFolder(path);
}

/** Removes the claim folders of a nightly run that hold no dropped file; without any left, its folder and its record, too. */
export async function closeClaimFolders(inputDir: string, nightId: string): Promise<void> {
  const path = nightlyRunPath(inputDir, nightId);
  for (const { claimFolder } of await listClaimFolders(inputDir, nightId))
    await removeEmptyClaimFolder(inputDir, nightId, claimFolder);
  if ((await namesIn(path)).length > 0) return;
  await removeEmptyFolder(path);
  await rm(recordPath(inputDir, nightId), { force: true });
}

/** Removes a folder if it is empty. Another process may have added or removed a file at the same moment. */
async function removeEmptyFolder(path: string): Promise<void> {
  await rmdir(path).catch((error: unknown) => {
    if (!['ENOTEMPTY', 'ENOENT', 'EEXIST'].includes(errorCode(error))) throw error;
  });
}
