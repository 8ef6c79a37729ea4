import { randomUUID } from 'node:crypto';
import { readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { SHORTEST_PURGE_AGE_MS, type Purged, type PurgeLedger } from '../../domain/ports/ledger/purge-ledger.ts';
import type { Config } from '../../runtime/config/config.ts';
import { errorCode } from '../../file-system/error-code.ts';
import type { CommonFolders } from '../folders/common-folders.ts';
import { isUnfinishedCopy, keptFile, keptFiles, SET_ASIDE } from '../files/kept-files.ts';

export interface PurgePlaces {
  readonly ledger: PurgeLedger;
  /** Whose batches are purged. Where it is one of several, its copies of files have a folder of their own. */
  readonly place: Pick<Config, 'application' | 'isOneOfSeveral' | 'dataDir'>;
  /** Null: this process shares folders with nobody. */
  readonly folders: CommonFolders | null;
}

export interface PurgeBatches {
  readonly olderThanMs: number;
  readonly dryRun: boolean;
  readonly now: number;
}

/** A kept file, or one that a purge has set aside and not removed yet. */
const KEPT = /^(?<sha256>[^.]+)(?<aside>\.purged-.*)?$/u;

/**
 * Forgets what closed batches of that age hold, then removes the kept copies of their files. Nobody has to stand still for it: others claim and
 * send meanwhile. The copies go when the ledger has committed: an end in between leaves copies, which the next purge removes.
 */
export async function purgeBatches(places: PurgePlaces, { olderThanMs, dryRun, now }: PurgeBatches): Promise<Purged> {
  if (!dryRun) await places.folders?.require('files');
  const purged = await places.ledger.purge({
    before: now - olderThanMs,
    now,
    dryRun,
    application: places.place.application,
  });
  if (dryRun) return purged;
  await removePurgedFiles(places);
  await removeUnfinished(keptFiles(places.place.dataDir), now);
  return purged;
}

async function removePurgedFiles({ ledger, place }: PurgePlaces): Promise<void> {
  const { dataDir } = place;
  // Applications that know nothing of each other may share a folder: a copy stays while any of them needs it.
  const application = place.isOneOfSeveral ? place.application : null;
  const found = (await readdir(keptFiles(dataDir)).catch(() => [])).flatMap((name) => {
    const { sha256, aside } = KEPT.exec(name)?.groups ?? {};
    return sha256 === undefined ? [] : [{ sha256, path: join(keptFiles(dataDir), name), aside: aside !== undefined }];
  });
  const purged = new Set(
    await ledger.purgedFiles(
      found.map(({ sha256 }) => sha256),
      application,
    ),
  );
  for (const { sha256, path, aside } of found) {
    if (aside || purged.has(sha256))
      await removeFile({ ledger, application, kept: keptFile(dataDir, sha256), sha256, path });
  }
}

/** What killed processes began to copy holds what files held, and nobody reads it. */
async function removeUnfinished(directory: string, now: number): Promise<void> {
  const names = await readdir(directory).catch(() => []);
  for (const path of names.filter(isUnfinishedCopy).map((name) => join(directory, name))) {
    const found = await stat(path).catch(() => null);
    if (found !== null && found.mtimeMs < now - SHORTEST_PURGE_AGE_MS) await rm(path, { force: true });
  }
}

interface KeptCopy {
  readonly ledger: PurgeLedger;
  readonly application: string | null;
  readonly kept: string;
  readonly sha256: string;
  readonly path: string;
}

/**
 * Sets the copy aside and asks again: whoever claimed the file before that wants it, and gets it back; whoever claims it later makes a copy of
 * its own. So a process that stood still since it decided takes nobody's copy away. The same hash has the same bytes, so that a copy which
 * somebody made meanwhile may be replaced. After an end in between it is read where it was set aside, and the next purge decides.
 */
async function removeFile({ ledger, application, kept, sha256, path }: KeptCopy): Promise<void> {
  const aside = `${kept}${SET_ASIDE}${randomUUID()}`;
  try {
    await rename(path, aside);
  } catch (error) {
    // Another purge was here.
    if (errorCode(error) === 'ENOENT') return;
    throw error;
  }
  const [purged] = await ledger.purgedFiles([sha256], application);
  if (purged === undefined) await rename(aside, kept);
  else await rm(aside, { force: true });
}
