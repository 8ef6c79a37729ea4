import { lstat, rename, readdir } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { errorCode } from '../platform/error-code.ts';
import { folderTrouble, isAbout } from '../platform/folders.ts';
import { archiveFile, changedFiles, DESTINATIONS } from './archive-file.ts';
import {
  closeClaimFolders,
  type DropFolderOptions,
  isIgnoredName,
  IN_PROGRESS,
  listNightlyRuns,
  listClaimFolders,
  makeClaimFolder,
  nightlyOwner,
  nightlyRunPath,
  openClaimFolder,
  removeEmptyClaimFolder,
} from './claim-folder.ts';
import type { ArchiveFile, Claims, NightlyRun, WaitingFile, WaitingReason } from '../domain/records/dropped-file.ts';

/** Each file is a batch with some 30 events in the night's history, which has room for 51,200. */
const MOST_FILES = 500;

/** True if the run of another night is open. */
type IsOpen = (workflowId: string, runId: string) => Promise<boolean>;

/** Takes over the files of interrupted nights, then claims complete files, oldest name first. */
async function claimFiles(options: DropFolderOptions, night: NightlyRun, isOpen: IsOpen): Promise<Claims> {
  const { inputDir } = options;
  await openClaimFolder(inputDir, night, options.ledgerId);
  const stuck = await takeOver(options, night, isOpen);
  const waiting = await claimComplete(options, night);
  return { claimed: await claimedFiles(inputDir, night), waiting: [...stuck, ...waiting] };
}

async function takeOver(
  options: DropFolderOptions,
  night: NightlyRun,
  isOpen: IsOpen,
): Promise<readonly WaitingFile[]> {
  const { inputDir } = options;
  const stuck: WaitingFile[] = [];
  for (const nightId of await listNightlyRuns(inputDir)) {
    if (nightId === night.nightId) continue;
    const owner = await nightlyOwner(inputDir, nightId);
    if (owner !== null && owner.ledgerId !== options.ledgerId) {
      // The other ledger may have another Temporal server, so this process cannot ask whether the run is open.
      stuck.push(...(await filesOfOther(inputDir, nightId)));
      continue;
    }
    if (owner !== null && (await isOpen(owner.workflowId, owner.runId))) continue;
    for (const { claimFolder, name } of await listClaimFolders(inputDir, nightId)) {
      if (name === null) continue;
      const path = join(nightlyRunPath(inputDir, nightId), claimFolder, name);
      const kept = await moveIn(options, night, { path, name });
      if (kept === 'not-movable') stuck.push({ name, reason: kept });
    }
    await closeClaimFolders(inputDir, nightId);
  }
  return stuck;
}

async function filesOfOther(inputDir: string, nightId: string): Promise<readonly WaitingFile[]> {
  const folders = await listClaimFolders(inputDir, nightId);
  return folders.flatMap(({ name }) => (name === null ? [] : [{ name, reason: 'other-ledger' as const }]));
}

async function claimComplete(options: DropFolderOptions, night: NightlyRun): Promise<readonly WaitingFile[]> {
  const { inputDir, stableMs, pause } = options;
  const before = await listInbox(inputDir);
  if (before.size === 0) return [];
  await pause(stableMs);
  const waiting: WaitingFile[] = [];
  let held = (await listClaimFolders(inputDir, night.nightId)).length;
  for (const [name, seen] of await listInbox(inputDir)) {
    const reason: WaitingReason | null =
      held >= MOST_FILES ? 'too-many' : seen.size === 0 ? 'empty' : isStable(before.get(name), seen) ? null : 'growing';
    const kept = reason ?? (await moveIn(options, night, { path: seen.path, name, seen }));
    if (kept === null) held += 1;
    else if (kept !== 'gone') waiting.push({ name, reason: kept });
  }
  return waiting;
}

/**
 * Moves a file into a folder of its own by one rename. `seen` is the file as it was when Lote found it complete; a file without it was claimed by an
 * earlier night. Returns null on success and `gone` if another process was faster.
 */
async function moveIn(
  { inputDir }: DropFolderOptions,
  night: NightlyRun,
  { path, name, seen }: { readonly path: SeenFile['path']; readonly name: string; readonly seen?: SeenFile },
): Promise<'not-movable' | 'gone' | 'growing' | null> {
  const claimFolder = await makeClaimFolder(inputDir, night.nightId, seen === undefined);
  // Seconds may have passed: a file that a program writes under this name now is not the one that was seen.
  const found = seen === undefined ? null : await lookAt(path);
  if (found !== null && !isStable(seen, found)) {
    await removeEmptyClaimFolder(inputDir, night.nightId, claimFolder);
    return 'growing';
  }
  try {
    await rename(path, join(nightlyRunPath(inputDir, night.nightId), claimFolder, name));
  } catch (error) {
    await removeEmptyClaimFolder(inputDir, night.nightId, claimFolder);
    return errorCode(error) === 'ENOENT' ? 'gone' : 'not-movable';
  }
  return null;
}

async function claimedFiles(inputDir: string, night: NightlyRun): Promise<Claims['claimed']> {
  const claimed: Claims['claimed'][number][] = [];
  for (const { claimFolder: slot, name, resumed } of await listClaimFolders(inputDir, night.nightId)) {
    if (name === null) continue;
    const file = `${IN_PROGRESS}/${night.nightId}/${slot}/${name}`;
    const found = await lstat(join(inputDir, file)).catch(() => null);
    claimed.push({ slot, name, resumed, file, size: found?.size ?? 0, changedAt: found?.mtimeMs ?? 0 });
  }
  return claimed;
}

interface SeenFile {
  readonly path: string | Buffer;
  readonly size: number;
  readonly changedAt: number;
  readonly inode: number;
}

/** Returns the regular files directly in the folder, by name; never follows links or folders. */
async function listInbox(inputDir: string): Promise<ReadonlyMap<string, SeenFile>> {
  const seen = new Map<string, SeenFile>();
  for (const [name, path] of await listNames(inputDir)) {
    const found = isIgnoredName(name) ? null : await lookAt(path);
    if (found?.isFile === true) seen.set(name, found);
  }
  return seen;
}

async function lookAt(path: SeenFile['path']): Promise<(SeenFile & { readonly isFile: boolean }) | null> {
  const found = await lstat(path).catch(() => null);
  if (found === null) return null;
  return { path, size: found.size, changedAt: found.mtimeMs, inode: found.ino, isFile: found.isFile() };
}

/** Returns paths by name, sorted. A name that is not UTF-8 is read as ISO 8859-1, in which every byte is a character. */
async function listNames(inputDir: string): Promise<readonly [name: string, path: string | Buffer][]> {
  const paths = new Map<string, string | Buffer>();
  for (const bytes of await readdir(inputDir, { encoding: 'buffer' })) {
    const text = bytes.toString();
    if (bytes.equals(Buffer.from(text))) paths.set(text, join(inputDir, text));
    else paths.set(bytes.toString('latin1'), Buffer.concat([Buffer.from(inputDir + sep), bytes]));
  }
  return [...paths].toSorted(([a], [b]) => (a < b ? -1 : 1));
}

/** True if the file did not change between two looks. */
function isStable(before: Omit<SeenFile, 'path'> | undefined, after: Omit<SeenFile, 'path'>): boolean {
  if (before === undefined) return false;
  return before.size === after.size && before.changedAt === after.changedAt && before.inode === after.inode;
}

/** The folder for dropped files. Every step is one repeatable rename, so that a file is always in exactly one place. */
export type DropFolder = ReturnType<typeof createDropFolder>;

/** Moves files from `input/` to `in-progress/<night>/<claim folder>/`, then to `archive|refused/<date>/` with a note. */
export function createDropFolder(options: DropFolderOptions) {
  const { inputDir } = options;
  return {
    /** Claims complete files and those of interrupted nights. `isOpen` says whether the run of another night is open. */
    claim: (night: NightlyRun, isOpen: IsOpen) => withFolderNamed(options, () => claimFiles(options, night, isOpen)),
    archive: (file: ArchiveFile) => withFolderNamed(options, () => archiveFile(options, file)),
    /** `isRead` says whether a batch has read the present bytes of the file at this path. */
    changed: (now: number, isRead: (path: string) => Promise<boolean>) =>
      withFolderNamed(options, () => changedFiles(inputDir, now, isRead)),
    /** Ends a night: removes its folder unless a file is still in it. */
    close: ({ nightId }: NightlyRun) => withFolderNamed(options, () => closeClaimFolders(inputDir, nightId)),
  };
}

/** @throws LoteError `input-unusable`, naming the folder, because folders below the input folder may be on disks of their own */
async function withFolderNamed<T>({ inputDir }: DropFolderOptions, use: () => Promise<T>): Promise<T> {
  try {
    return await use();
  } catch (error) {
    const paths = [...DESTINATIONS.map((name) => join(inputDir, name)), inputDir];
    const path = paths.find((folder) => isAbout(error, folder)) ?? inputDir;
    const next =
      '. Nothing is lost: put it right and let the nights go on, for what this one has claimed lies in in-progress';
    const folder = { title: 'input folder', path, variable: 'LOTE_INPUT_DIR' };
    throw folderTrouble(error, folder, { code: 'input-unusable', next });
  }
}
