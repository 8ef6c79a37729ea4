import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import { waitingFor } from '../../platform/waiting-for.ts';
import type { Operations, PurgeRequest } from '../../console/operations.ts';
import { createCommonFolders, type CommonFolders } from '../folders/common-folders.ts';
import { requireClock } from '../account/open-ledger.ts';
import { keptFolder } from '../files/kept-files.ts';
import type { Purged, PurgeLedger } from '../../ledger/operations/purge.ts';
import type { Ledger } from '../../ledger/ledger.ts';

interface PurgePlaces {
  readonly ledger: PurgeLedger;
  /** Application whose batches are purged, and directory of the copies of their files. */
  readonly place: Pick<Config, 'application' | 'dataDir'>;
  /** Null if this process shares its folders with no other process. */
  readonly folders: CommonFolders | null;
}

/**
 * Deletes the content of closed batches of that age, then the kept copies of their files, while other processes claim
 * and send. Copies are deleted after the ledger's commit; after a crash in between, the next purge deletes them.
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
  if (!dryRun) await removeCopies(places);
  return purged;
}

/**
 * Removes copies of files whose batches are purged. A batch that claims such a file later copies it again, so a copy
 * that is younger than the query stays.
 */
async function removeCopies({ ledger, place: { dataDir } }: PurgePlaces): Promise<void> {
  const directory = keptFolder(dataDir).path;
  const askedAt = Date.now();
  const names = await readdir(directory).catch(() => []);
  for (const name of await ledger.purgedFiles(names)) {
    const path = join(directory, name);
    const found = await stat(path).catch(() => null);
    if (found !== null && found.mtimeMs < askedAt) await rm(path, { force: true });
  }
}

/** Returns the purge for the process with the ledger. @throws LoteError `interlock` if its clock differs from a shared ledger's */
export function createPurge(config: Config, ledger: Ledger): Operations['purge'] {
  const folders = createCommonFolders({ config, ledger });
  return async (request) => {
    if (config.databaseUrl !== null) await requireClock(ledger);
    return waitingFor('the ledger to purge', () => purgeBatches({ ledger, place: config, folders }, request));
  };
}
