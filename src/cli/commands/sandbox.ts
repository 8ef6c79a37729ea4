import { configOf, type Config } from '../../runtime/config/config.ts';
import { choosePort } from '../../runtime/process/free-port.ts';
import { openDataDir } from '../../runtime/data-dir/data-dir.ts';
import { createLogger } from '../../runtime/process/logger.ts';
import { startSandbox } from '../../sandbox/sandbox.ts';
import { parseFaults } from '../../sandbox/faults.ts';
import { fileStore } from '../../sandbox/store/file-store.ts';
import { postgresStore } from '../../sandbox/store/postgres-store.ts';
import type { SandboxStore } from '../../sandbox/store/sandbox-store.ts';
import { sandboxProfile } from '../../wiring/account/sandbox-profile.ts';
import { EXIT, type ExitCode } from '../output/exit-codes.ts';
import { stay } from '../session/stay.ts';

/** `lote sandbox`: the simulated service alone, for anyone who writes a client for the published interface. */
export async function sandboxCommand(env: NodeJS.ProcessEnv): Promise<ExitCode> {
  // It plays the service, so that neither a key nor the applications are its business.
  const config = configOf(env, process.cwd(), 'nothing');
  const profile = sandboxProfile(config);
  const faults = env['SANDBOX_FAULTS'];
  const staying = stay();
  const sandbox = await startSandbox({
    host: config.sandbox.host,
    port: await choosePort(config.sandbox),
    openKeys: true,
    store: await storeOf(config),
    log: createLogger({ level: config.logLevel, secrets: config.secrets }),
    ...(profile === null ? {} : { profile }),
    ...(faults === undefined ? {} : { faults: parseFaults(faults) }),
  });
  staying.begin();
  process.stdout.write(`Sandbox ${sandbox.url}\n`);
  await staying.over;
  await sandbox.close();
  return EXIT.ok;
}

/** In a schema of its own where a PostgreSQL is given, else under the data directory: it survives a restart either way. */
async function storeOf({ databaseUrl, dataDir }: Config): Promise<SandboxStore> {
  if (databaseUrl !== null) return postgresStore({ connectionString: databaseUrl });
  return fileStore({ directory: (await openDataDir(dataDir)).sandbox });
}
