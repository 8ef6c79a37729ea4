import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { errorCode, unlessMissing } from '../platform/error-code.ts';

/** Work folders that a killed process left; a living one is done long before. */
const STALE_AFTER_MS = 60 * 60 * 1000;
const WORK_PREFIX = '.writing-';
const OF_REVISION = /^\.writing-(?<revision>\d+)-/u;
/** A corrections file on its way out of the place of the newest one: a person may have edited it. */
const SET_ASIDE = /^corrections-replaced-by-/u;

/** A folder inside the report's folder, in which one writer makes its files before it puts them in place. */
export interface WorkFolder {
  readonly path: string;
  readonly revision: number;
}

/** Makes the work folder, and then takes the revision, so that a folder that cannot be written uses up no revisions. */
export async function makeWork(
  directory: string,
  nextRevision: (work: string) => Promise<number>,
): Promise<WorkFolder> {
  const made = await mkdtemp(join(directory, WORK_PREFIX));
  try {
    const revision = await nextRevision(made);
    const path = join(directory, basename(made).replace(WORK_PREFIX, `${WORK_PREFIX}${revision}-`));
    await rename(made, path);
    return { path, revision };
  } catch (error) {
    await removeWork(directory, made);
    throw error;
  }
}

/**
 * Takes their work folders from the writers of older revisions, in one step each. A writer puts files in place by moving them out of its work
 * folder, so none of these can put anything in place any more, also one that is stopped and goes on later.
 */
export async function supersedeOlder(directory: string, revision: number): Promise<void> {
  for (const name of await readdir(directory)) {
    const older = OF_REVISION.exec(name)?.groups?.['revision'];
    if (older === undefined || Number(older) >= revision) continue;
    const taken = join(directory, `${WORK_PREFIX}superseded-${randomUUID()}`);
    try {
      await rename(join(directory, name), taken);
    } catch (error) {
      // Its writer, or another newer one, was faster.
      if (errorCode(error) === 'ENOENT') continue;
      throw error;
    }
    await removeWork(directory, taken);
  }
}

/** Whether a newer writer has taken the folder. */
export async function isSuperseded(directory: string, work: string): Promise<boolean> {
  return (await isMissing(work)) && !(await isMissing(directory));
}

/** Removes what was made in it. A corrections file that was set aside half-way goes to its place first. */
export async function removeWork(directory: string, work: string): Promise<void> {
  const names = (await unlessMissing(readdir(work))) ?? [];
  for (const name of names.filter((file) => SET_ASIDE.test(file)))
    await rename(join(work, name), join(directory, name));
  await rm(work, { recursive: true, force: true });
}

/** Removes the work folders of processes that were killed. */
export async function removeStaleWork(directory: string, now: number): Promise<void> {
  for (const name of await readdir(directory)) {
    if (!name.startsWith(WORK_PREFIX)) continue;
    const path = join(directory, name);
    // Another process may be removing it at the same moment.
    const found = await stat(path).catch(() => null);
    if (found !== null && now - found.mtimeMs > STALE_AFTER_MS) await removeWork(directory, path);
  }
}

async function isMissing(path: string): Promise<boolean> {
  return stat(path).then(
    () => false,
    (error: unknown) => errorCode(error) === 'ENOENT',
  );
}
