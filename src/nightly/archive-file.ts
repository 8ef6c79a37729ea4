import { existsSync } from 'node:fs';
import { lstat, readFile, rm } from 'node:fs/promises';
import { join, parse } from 'node:path';
import { errorCode, namesIn } from '../platform/error-code.ts';
import { FOLDER_MODE, makeFolder } from '../platform/folders.ts';
import { moveFile, writeNewFile } from '../platform/files.ts';
import { type DropFolderOptions, nightlyRunPath } from './claim-folder.ts';
import type { ArchiveFile, ChangedFile, Destination } from '../domain/records/dropped-file.ts';

const NOTE_SUFFIX = '.note.txt';
/** The umask of the process decides the rights. */
const NOTE_MODE = 0o666;
/** Marks the line with the state of the file when Lote read it: batch, bytes, and time of its last change. */
const READ = 'read: ';
const LONGEST_NAME_BYTES = 255;
/** The line of the note that names the claim. It makes every step repeatable after a crash. */
const CLAIM_LINE = /^claim: (?<claim>\S+)$/mu;

/** Archives a file. Its note comes first and reserves the name, also after a crash. Returns the relative path; null if the file is gone. */
export async function archiveFile(options: DropFolderOptions, file: ArchiveFile): Promise<string | null> {
  const { inputDir } = options;
  const source = join(nightlyRunPath(inputDir, file.night.nightId), file.slot, file.name);
  const folder = join(inputDir, file.destination, file.night.date);
  await makeFolder(folder, FOLDER_MODE);
  const isThere = await isFile(source);
  const name = await reservedName(options, { file, folder, isThere });
  if (name === null) return null;
  if (isThere && !(await moved(source, join(folder, name)))) {
    // A later attempt archived the file while this one was stopped: if the note has no file, this attempt wrote it.
    if (!(await isFile(join(folder, name)))) await rm(join(folder, name + NOTE_SUFFIX), { force: true });
    return archiveFile(options, file);
  }
  return `${file.destination}/${file.night.date}/${name}`;
}

async function moved(from: string, to: string): Promise<boolean> {
  try {
    await moveFile(from, to);
    return true;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false;
    throw error;
  }
}

/**
 * Reserves the file's own name with its note, or that name with a number if the archive has it already. An interrupted
 * attempt may have reserved a name before. `isThere`: the file is still in its claim folder. Returns null if the file
 * is gone and the archive does not have it.
 */
async function reservedName(
  { inputDir }: DropFolderOptions,
  { file, folder, isThere }: { readonly file: ArchiveFile; readonly folder: string; readonly isThere: boolean },
): Promise<string | null> {
  const claim = `${file.night.nightId}/${file.slot}`;
  const read = `${READ}${file.batchId ?? '-'} ${file.size} ${file.changedAt}`;
  for (let number = 1; ; number += 1) {
    const name = numbered(file.name, number);
    const note = join(folder, name + NOTE_SUFFIX);
    const owner = await claimIn(note);
    const isTaken = await isFile(join(folder, name));
    if (owner === claim) return isThere || isTaken ? name : null;
    if (!isThere && !isTaken && owner === null) return null;
    if (isTaken || !isThere) continue;
    // An interrupted run left its note, and another run has its file now.
    if (owner !== null && !existsSync(nightlyRunPath(inputDir, owner))) await rm(note, { force: true });
    await writeNewFile(note, `${file.note.trimEnd()}\n\nclaim: ${claim}\n${read}\n`, NOTE_MODE);
    // Another process may have placed a note at the same moment.
    if ((await claimIn(note)) !== claim) continue;
    return name;
  }
}

/** Cuts the end of the stem if the name leaves no room for the note's name. */
function numbered(name: string, number: number): string {
  const { name: stem, ext } = parse(name);
  const end = number === 1 ? ext : `-${number}${ext}`;
  let rest = stem;
  while (Buffer.byteLength(rest + end + NOTE_SUFFIX) > LONGEST_NAME_BYTES) rest = rest.replace(/.$/su, '');
  return rest + end;
}

async function claimIn(note: string): Promise<string | null> {
  const text = await readFile(note, 'utf8').catch(() => '');
  return CLAIM_LINE.exec(text)?.groups?.['claim'] ?? null;
}

async function isFile(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => null))?.isFile() === true;
}

/** Folders of archived files, each with a folder for each date. */
export const DESTINATIONS: readonly Destination[] = ['archive', 'refused'];
const DAY_MS = 24 * 60 * 60_000;
/** A program that pauses for longer has finished writing. */
const DAYS = 7;
const READ_LINE = new RegExp(`^${READ}(?<batch>\\S+) (?<size>\\d+) (?<changedAt>[\\d.]+)$`, 'mu');

/**
 * Returns archived files of the last seven days that changed since Lote read them and whose bytes no batch has read.
 * `now` is in epoch milliseconds; `isRead` says whether a batch has read the present bytes of a changed file.
 */
export async function changedFiles(
  inputDir: string,
  now: number,
  isRead: (path: string) => Promise<boolean>,
): Promise<readonly ChangedFile[]> {
  const changed: ChangedFile[] = [];
  // The date of a night may be a day behind UTC.
  const since = new Date(now - (DAYS + 1) * DAY_MS).toISOString().slice(0, 10);
  for (const destination of DESTINATIONS) {
    for (const date of await namesIn(join(inputDir, destination))) {
      if (date < since) continue;
      const folder = `${destination}/${date}`;
      for (const note of await namesIn(join(inputDir, folder))) {
        if (!note.endsWith(NOTE_SUFFIX)) continue;
        const name = `${folder}/${note.slice(0, -NOTE_SUFFIX.length)}`;
        const read = READ_LINE.exec(await readFile(join(inputDir, folder, note), 'utf8').catch(() => ''))?.groups;
        const found = await lstat(join(inputDir, name)).catch(() => null);
        if (read === undefined || found?.isFile() !== true) continue;
        const isSame = found.size === Number(read['size']) && found.mtimeMs === Number(read['changedAt']);
        if (isSame || (await isRead(join(inputDir, name)))) continue;
        changed.push({ name, batchId: read['batch'] === '-' ? null : (read['batch'] ?? null) });
      }
    }
  }
  return changed;
}
