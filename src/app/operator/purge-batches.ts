import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import { waitingFor } from '../../platform/waiting-for.ts';
import type { Operations, PurgeRequest } from '../../console/operations.ts';
import { createCommonFolders } from '../folders/common-folders.ts';
import { requireClock } from '../account/open-ledger.ts';
import { keptFolder } from '../files/kept-files.ts';
import type { Purged } from '../../ledger/operations/purge.ts';
import type { Ledger } from '../../ledger/ledger.ts';

/**
 * Returns the purge for the process with the ledger: it deletes the content of closed batches of that age, then the kept
 * copies of their files, while other processes claim and send. After a crash in between, the next purge deletes the copies.
 * @throws LoteError `interlock` if the clock of this process differs from a shared ledger's
 */
export function createPurge(
  config: Pick<Config, 'application' | 'databaseUrl' | 'dataDir' | 'inputDir' | 'reportsDir'>,
  ledger: Ledger,
): Operations['purge'] {
  const { application, dataDir } = config;
  const folders = createCommonFolders({ config, ledger });

  async function purge({ olderThanMs, dryRun }: PurgeRequest): Promise<Purged> {
    const now = Date.now();
    if (!dryRun) await folders?.require('files');
    const purged = await ledger.purge({ before: now - olderThanMs, now, dryRun, application });
    if (!dryRun) await removeCopies(ledger, dataDir);
    return purged;
  }

  return async (request) => {
    if (config.databaseUrl !== null) await requireClock(ledger);
    return waitingFor('the ledger to purge', () => purge(request));
  };
}

/**
 * Removes copies of files whose batches are purged. A batch that claims such a file later copies it again, so a copy
 * that is younger than the query stays.
 */
async function removeCopies(ledger: Ledger, dataDir: string): Promise<void> {
  const directory = keptFolder(dataDir).path;
  const askedAt = Date.now();
  const names = await readdir(directory).catch(() => []);
  for (const name of await ledger.purgedFiles(names)) {
    const path = join(directory, name);
    const found = await stat(path).catch(() => null);
    if (found !== null && found.mtimeMs < askedAt) await rm(path, { force: true });
  }
}
