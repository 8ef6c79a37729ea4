import { readConfig } from '../../app/config/config.ts';
import { choosePort } from '../../app/process/free-port.ts';
import { openDataDir } from '../../app/data-dir/data-dir.ts';
import { createLogger } from '../../app/process/logger.ts';
import { startSandbox } from '../../sandbox/sandbox.ts';
import { parseFaults } from '../../sandbox/faults.ts';
import { fileStore } from '../../sandbox/file-store.ts';
import { EXIT, type ExitCode } from '../output/exit-codes.ts';
import { stay } from '../session/interruption.ts';

/** Flags of `lote sandbox`. */
export interface SandboxFlags {
  /** Address to listen at. Optional: the default is this machine alone. */
  readonly host?: string;
  /** `heavy` or a JSON object. */
  readonly faults?: string;
}

/** `lote sandbox`: runs the simulated service alone, for developers of a client for the published interface. */
export async function sandboxCommand(env: NodeJS.ProcessEnv, { host, faults }: SandboxFlags): Promise<ExitCode> {
  // The sandbox plays the service, so it needs no key.
  const config = readConfig(env, process.cwd(), 'nothing');
  const staying = stay();
  const sandbox = await startSandbox({
    host: host ?? config.sandbox.host,
    port: await choosePort(config.sandbox),
    openKeys: true,
    store: fileStore({ directory: (await openDataDir(config.dataDir)).sandbox }),
    log: createLogger({ level: config.logLevel, secrets: config.secrets }),
    ...(faults === undefined ? {} : { faults: parseFaults(faults) }),
  });
  staying.begin();
  process.stdout.write(`Sandbox ${sandbox.url}\n`);
  await staying.over;
  await sandbox.close();
  return EXIT.ok;
}
