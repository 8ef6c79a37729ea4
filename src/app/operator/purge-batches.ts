import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import { waitingFor } from '../../platform/waiting-for.ts';
import { type Operations, type PurgeRequest, SHORTEST_PURGE_AGE_MS } from '../../console/operations.ts';
import { createCommonFolders, type CommonFolders } from '../folders/common-folders.ts';
import { requireClock } from '../account/open-ledger.ts';
import { isUnfinishedCopy, keptFiles } from '../files/kept-files.ts';
import type { Purged, PurgeLedger } from '../../ledger/operations/purge.ts';
import type { Ledger } from '../../ledger/ledger.ts';

interface PurgePlaces {
  readonly ledger: PurgeLedger;
  /** Whose batches are purged, and where the copies of their files are. */
  readonly place: Pick<Config, 'application' | 'dataDir'>;
  /** Null: this process shares its folders with no other process. */
  readonly folders: CommonFolders | null;
}

/**
 * Forgets what closed batches of that age hold, then removes the kept copies of their files, while other processes claim
 * and send. The copies go when the ledger has committed: an end in between leaves copies, which the next purge removes.
 */
export async function purgeBatches(
  places: PurgePlaces,
  { olderThanMs, dryRun }: PurgeRequest,
  now = Date.now(),
): Promise<Purged> {
  const { ledger, folders } = places;
  const { application } = places.place;
  if (!dryRun) await folders?.require('files');
  const purged = await ledger.purge({ before: now - olderThanMs, now, dryRun, application });
  if (!dryRun) await removeCopies(places, now);
  return purged;
}

/**
 * Removes copies of files whose batches are purged, and old ones that a killed process has not finished. A batch that
 * claims such a file afterwards copies it anew, so that a copy which is younger than the question stays.
 */
async function removeCopies({ ledger, place: { dataDir } }: PurgePlaces, now: number): Promise<void> {
  const directory = keptFiles(dataDir);
  const askedAt = Date.now();
  const names = await readdir(directory).catch(() => []);
  const purged = new Set(await ledger.purgedFiles(names));
  for (const name of names) {
    if (!purged.has(name) && !isUnfinishedCopy(name)) continue;
    const path = join(directory, name);
    const before = purged.has(name) ? askedAt : now - SHORTEST_PURGE_AGE_MS;
    const found = await stat(path).catch(() => null);
    if (found !== null && found.mtimeMs < before) await rm(path, { force: true });
  }
}

/** The purge of the process that has the ledger. @throws LoteError `interlock` where its clock is not that of a shared ledger */
export function createPurge(config: Config, ledger: Ledger): Operations['purge'] {
  const folders = createCommonFolders({ config, ledger });
  return async (request) => {
    if (config.databaseUrl !== null) await requireClock(ledger);
    return waitingFor('the ledger to purge', () => purgeBatches({ ledger, place: config, folders }, request));
  };
}
