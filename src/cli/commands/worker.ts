import { readInstallation } from '../../runtime/config/installation.ts';
import { createLogger } from '../../runtime/process/logger.ts';
import { startDistributedWorker } from '../../wiring/start/distributed-worker.ts';
import { EXIT, type ExitCode } from '../output/exit-codes.ts';
import { requireSharedInstallation } from '../session/shared-installation.ts';
import { stay } from '../session/stay.ts';

/** `lote worker`: one of any number of workers on a shared Temporal server and a PostgreSQL ledger. */
export async function workerCommand(env: NodeJS.ProcessEnv): Promise<ExitCode> {
  const installation = requireSharedInstallation(readInstallation(env), 'worker');
  const config = installation.common;
  const log = createLogger({ level: config.logLevel, secrets: config.secrets });
  const staying = stay();
  const worker = await startDistributedWorker(installation, log, staying.begin);
  const health = worker.healthUrl === null ? '' : `, health at ${worker.healthUrl}`;
  const metrics = worker.metricsUrl === null ? '' : `, metrics at ${worker.metricsUrl}`;
  const ended = Promise.race([staying.over, worker.ended]);
  process.stdout.write(`Worker on task queue ${config.taskQueue}${health}${metrics}\n`);
  try {
    await ended;
  } finally {
    await worker.stop();
  }
  return EXIT.ok;
}
