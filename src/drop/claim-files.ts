import { lstat, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../file-system/error-code.ts';
import { FOLDER_MODE, makeFolder } from '../file-system/make-folder.ts';
import type { Claims, DropFolder, NightlyRun, WaitingFile, WaitingReason } from '../domain/ports/drop-folder.ts';
import type { DropFolderOptions } from './drop-folder-options.ts';
import { MARKER_SUFFIX } from './is-ignored-name.ts';
import { isStable, listInbox, type SeenFile } from './list-inbox.ts';
import {
  IN_PROGRESS,
  listNightlyRuns,
  listClaimFolders,
  makeClaimFolder,
  nightlyOwner,
  nightlyRunPath,
  openClaimFolder,
  removeEmptyClaimFolder,
  removeClaimFolder,
  removeDrafts,
} from './claim-folder.ts';

/** Each file is a batch with some 30 events in the night's history, which may hold 51,200. */
const MOST_FILES = 500;
/** Temporal takes no result of more than 2 MB, and each look at the folder is one. */
const MOST_NAMED = 200;

type IsOpen = Parameters<DropFolder['claim']>[1];

/** Takes over what interrupted nights left, then claims what is complete, oldest name first. */
export async function claimFiles(options: DropFolderOptions, night: NightlyRun, isOpen: IsOpen): Promise<Claims> {
  const { inputDir, at } = options;
  await makeFolder(join(inputDir, IN_PROGRESS), FOLDER_MODE);
  await openClaimFolder(inputDir, night, options.ledgerId);
  await at('night-opened');
  const stuck = await takeOver(options, night, isOpen);
  const waiting = await claimComplete(options, night);
  await bringMarkers(options, night);
  return { claimed: await claimedFiles(inputDir, night), waiting: bounded([...stuck, ...waiting]) };
}

/** Names the first files of each reason, and counts the others at the last of them. */
function bounded(waiting: readonly WaitingFile[]): readonly WaitingFile[] {
  const found = new Map<WaitingReason, number>();
  const named = waiting.filter(({ reason }) => {
    const number = (found.get(reason) ?? 0) + 1;
    found.set(reason, number);
    return number <= MOST_NAMED;
  });
  return named.map((file, index) => {
    const more = (found.get(file.reason) ?? 0) - MOST_NAMED;
    const isLast = named.findLastIndex(({ reason }) => reason === file.reason) === index;
    return isLast && more > 0 ? { ...file, more } : file;
  });
}

async function takeOver(
  options: DropFolderOptions,
  night: NightlyRun,
  isOpen: IsOpen,
): Promise<readonly WaitingFile[]> {
  const { inputDir } = options;
  const stuck: WaitingFile[] = [];
  await removeDrafts(inputDir);
  for (const nightId of await listNightlyRuns(inputDir)) {
    if (nightId === night.nightId) continue;
    const owner = await nightlyOwner(inputDir, nightId);
    if (owner !== null && owner.ledgerId !== null && owner.ledgerId !== options.ledgerId) {
      // Its Temporal server may be another one, too: whether its run is open cannot be asked here.
      stuck.push(...(await filesOfOther(inputDir, nightId)));
      continue;
    }
    if (owner !== null && (await isOpen(owner.workflowId, owner.runId))) continue;
    for (const { claimFolder, name } of await listClaimFolders(inputDir, nightId)) {
      const from = join(nightlyRunPath(inputDir, nightId), claimFolder);
      const kept = name === null ? null : await moveIn(options, night, { from, name, resumed: true });
      if (name !== null && kept === 'not-movable') stuck.push({ name, reason: kept });
      await removeEmptyClaimFolder(inputDir, nightId, claimFolder);
    }
    await removeClaimFolder(inputDir, nightId);
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
    const reason = held >= MOST_FILES ? 'too-many' : whyNotYet(options, before.get(name), seen);
    const kept = reason ?? (await moveIn(options, night, { from: inputDir, name, resumed: false, seen }));
    if (kept === null) held += 1;
    else if (kept !== 'gone') waiting.push({ name, reason: kept });
  }
  return waiting;
}

function whyNotYet({ marker }: DropFolderOptions, before: SeenFile | undefined, seen: SeenFile): WaitingReason | null {
  if (seen.size === 0) return 'empty';
  if (!isStable(before, seen)) return 'growing';
  // A marker that is older than the file is a left-over of an earlier file of this name.
  if (marker && (seen.markedAt === null || seen.markedAt < seen.changedAt)) return 'no-marker';
  return null;
}

interface Move {
  readonly from: string;
  readonly name: string;
  readonly resumed: boolean;
  /** As the look saw it that found it complete; left out: it was claimed before. */
  readonly seen?: SeenFile;
}

/** One rename into a folder of its own; null: it is ours now, `gone`: somebody else was faster. */
async function moveIn(
  { inputDir, at }: DropFolderOptions,
  night: NightlyRun,
  { from, name, resumed, seen }: Move,
): Promise<'not-movable' | 'gone' | 'growing' | null> {
  const claimFolder = await makeClaimFolder(inputDir, night.nightId, resumed);
  await at('claim-folder-made');
  const path = seen?.path ?? join(from, name);
  // Seconds may have passed since the look: a file of this name that somebody writes now is not the one that was seen.
  if (seen !== undefined && !(await isAsSeen(path, seen))) {
    await removeEmptyClaimFolder(inputDir, night.nightId, claimFolder);
    return 'growing';
  }
  try {
    await rename(path, join(nightlyRunPath(inputDir, night.nightId), claimFolder, name));
  } catch (error) {
    await removeEmptyClaimFolder(inputDir, night.nightId, claimFolder);
    return errorCode(error) === 'ENOENT' ? 'gone' : 'not-movable';
  }
  await at('file-claimed');
  return null;
}

/** The marker follows its file, so that it cannot vouch for the next file of that name. */
async function bringMarkers({ inputDir, at }: DropFolderOptions, night: NightlyRun): Promise<void> {
  for (const { claimFolder, name } of await listClaimFolders(inputDir, night.nightId)) {
    if (name === null || (await exists(join(inputDir, name)))) continue;
    const marker = name + MARKER_SUFFIX;
    try {
      await rename(join(inputDir, marker), join(nightlyRunPath(inputDir, night.nightId), claimFolder, marker));
      await at('marker-claimed');
    } catch (error) {
      // A name without room for the suffix has no marker.
      if (!['ENOENT', 'ENAMETOOLONG'].includes(errorCode(error))) throw error;
    }
  }
}

async function claimedFiles(inputDir: string, night: NightlyRun): Promise<Claims['claimed']> {
  const folders = await listClaimFolders(inputDir, night.nightId);
  return folders.flatMap(({ claimFolder, name, resumed }) =>
    name === null
      ? []
      : [{ slot: claimFolder, name, resumed, file: `${IN_PROGRESS}/${night.nightId}/${claimFolder}/${name}` }],
  );
}

async function isAsSeen(path: SeenFile['path'], seen: SeenFile): Promise<boolean> {
  const found = await lstat(path).catch(() => null);
  // Gone: the rename says so.
  return found === null || (found.size === seen.size && found.mtimeMs === seen.changedAt && found.ino === seen.inode);
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
