import { LoteError } from '../../domain/errors.ts';
import type { Config } from '../../runtime/config/config.ts';
import { readInstallation, type Installation } from '../../runtime/config/installation.ts';
import { createLogger } from '../../runtime/process/logger.ts';
import { startDistributedWorker } from '../../wiring/start/distributed.ts';
import { EXIT, type ExitCode } from '../output/exit-codes.ts';
import { untilSignal } from '../session/until-signal.ts';

/** `lote worker`: one of any number of workers on a shared Temporal server and a PostgreSQL ledger. */
export async function workerCommand(env: NodeJS.ProcessEnv): Promise<ExitCode> {
  const installation = requireSharedInstallation(readInstallation(env), 'worker');
  const config = installation.common;
  const log = createLogger({ level: config.logLevel, secrets: config.secrets });
  const worker = await startDistributedWorker(installation, log);
  const health = worker.healthUrl === null ? '' : `, health at ${worker.healthUrl}`;
  const metrics = worker.metricsUrl === null ? '' : `, metrics at ${worker.metricsUrl}`;
  const ended = Promise.race([untilSignal(), worker.ended]);
  process.stdout.write(`Worker on task queue ${config.taskQueue}${health}${metrics}\n`);
  try {
    await ended;
  } finally {
    await worker.stop();
  }
  return EXIT.ok;
}

/** The same for any installation: each of its applications must have what one has. */
export function requireSharedInstallation(installation: Installation, part: string): Installation {
  for (const config of installation.applications) requireShared(config, part);
  return installation;
}

/** Parts that run apart share a database and a Temporal server; without them each would keep a truth of its own. */
export function requireShared(config: Config, part: string): Config {
  if (config.databaseUrl !== null && config.temporal.address !== null && config.service.kind === 'remote')
    return config;
  throw new LoteError(
    'configuration-invalid',
    `Starting ${part} as a process of its own: DATABASE_URL, TEMPORAL_ADDRESS, INVOICING_BASE_URL and INVOICING_API_KEY must all be set. For everything in one process use \`lote up\`.`,
  );
}
