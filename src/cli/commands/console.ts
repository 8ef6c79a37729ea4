import { LoteError } from '../../domain/errors.ts';
import { readInstallation } from '../../runtime/config/installation.ts';
import { createLogger } from '../../runtime/process/logger.ts';
import { startDistributedConsole } from '../../wiring/start/distributed-console.ts';
import { EXIT, type ExitCode } from '../output/exit-codes.ts';
import { stay } from '../session/stay.ts';

/** `lote console`: the web pages and the JSON API over a shared ledger. */
export async function consoleCommand(env: NodeJS.ProcessEnv): Promise<ExitCode> {
  // The console sends nothing to the service, so it needs its address for the health page and no key.
  const installation = readInstallation(env, process.cwd(), 'nothing');
  const config = installation.common;
  if (config.databaseUrl === null) {
    throw new LoteError(
      'configuration-invalid',
      'Starting the console as a process of its own: DATABASE_URL must be set. The console of an embedded ledger is part of the process that owns it: `lote up`.',
    );
  }
  const log = createLogger({ level: config.logLevel, secrets: config.secrets });
  const staying = stay();
  const web = await startDistributedConsole(installation, log);
  const metrics = web.metricsUrl === null ? '' : `, metrics at ${web.metricsUrl}`;
  staying.begin();
  process.stdout.write(`Console ${web.url}${metrics}\n`);
  try {
    await Promise.race([staying.over, web.lost]);
  } finally {
    await web.stop();
  }
  return EXIT.ok;
}
