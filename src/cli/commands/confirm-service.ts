import { LoteError } from '../../domain/errors.ts';
import { readConfig } from '../../runtime/config/config.ts';
import { openDataDir } from '../../runtime/data-dir/data-dir.ts';
import { acquireDirectoryLock } from '../../runtime/data-dir/directory-lock.ts';
import { confirmService } from '../../wiring/account/account-guard.ts';
import { openLedger } from '../../wiring/account/open-ledger.ts';
import { readProfile } from '../../wiring/account/open-service.ts';
import { EXIT, type ExitCode } from '../output/exit-codes.ts';

/** `lote confirm-service`: the ledger takes the configured address and key for the application's from now on. Nothing is sent. */
export async function confirmServiceCommand(env: NodeJS.ProcessEnv): Promise<ExitCode> {
  const config = readConfig(env);
  const dataDir = await openDataDir(config.dataDir);
  const lock = config.databaseUrl === null ? await acquireDirectoryLock(dataDir.path) : null;
  if (lock === null && config.databaseUrl === null) {
    throw new LoteError(
      'data-directory-owned',
      `Confirming the service: another process owns ${config.dataDir} and works with the service as it is. Stop it first.`,
    );
  }
  const ledger = await openLedger({ databaseUrl: config.databaseUrl, directory: dataDir.ledger });
  try {
    const { application, baseUrl } = await confirmService({
      ledger,
      application: config.application,
      account: config.service.kind === 'remote' ? config.service : null,
      profile: readProfile(config),
      now: Date.now(),
    });
    process.stdout.write(`Application "${application}" of this ledger uses ${baseUrl} with the configured key.\n`);
    return EXIT.ok;
  } finally {
    await ledger.close();
    await lock?.release();
  }
}
