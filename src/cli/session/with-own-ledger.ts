import { LoteError } from '../../domain/errors.ts';
import type { Ledger } from '../../domain/ports/ledger/ledger.ts';
import type { Config } from '../../runtime/config/config.ts';
import { openDataDir } from '../../runtime/data-dir/data-dir.ts';
import { acquireDirectoryLock } from '../../runtime/data-dir/directory-lock.ts';
import { openLedger } from '../../wiring/account/open-ledger.ts';

/**
 * Opens the ledger for one command that nobody else may do at the same time with an embedded one. `title` says what is attempted.
 * @throws LoteError `data-directory-owned`
 */
export async function withOwnLedger<T>(config: Config, title: string, use: (ledger: Ledger) => Promise<T>): Promise<T> {
  const dataDir = await openDataDir(config.dataDir);
  const lock = config.databaseUrl === null ? await acquireDirectoryLock(dataDir.path) : null;
  if (lock === null && config.databaseUrl === null) {
    throw new LoteError(
      'data-directory-owned',
      `${title}: another process owns ${config.dataDir} and is using it. Stop that process first.`,
    );
  }
  try {
    const ledger = await openLedger({ databaseUrl: config.databaseUrl, directory: dataDir.ledger });
    try {
      return await use(ledger);
    } finally {
      await ledger.close();
    }
  } finally {
    await lock?.release();
  }
}
