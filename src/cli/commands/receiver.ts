import { readInstallation } from '../../runtime/config/installation.ts';
import { createLogger } from '../../runtime/process/logger.ts';
import { startDistributedReceiver } from '../../wiring/start/distributed-receiver.ts';
import { EXIT, type ExitCode } from '../output/exit-codes.ts';
import { requireSharedInstallation } from '../session/shared-installation.ts';
import { stay } from '../session/stay.ts';

/** `lote receiver`: takes webhook deliveries into the shared ledger. */
export async function receiverCommand(env: NodeJS.ProcessEnv): Promise<ExitCode> {
  const installation = requireSharedInstallation(readInstallation(env), 'receiver');
  const config = installation.common;
  const log = createLogger({ level: config.logLevel, secrets: config.secrets });
  const staying = stay();
  const receiver = await startDistributedReceiver(installation, log);
  const metrics = receiver.metricsUrl === null ? '' : `, metrics at ${receiver.metricsUrl}`;
  staying.begin();
  process.stdout.write(`Receiver ${receiver.url}${metrics}\n`);
  try {
    await Promise.race([staying.over, receiver.lost]);
  } finally {
    await receiver.stop();
  }
  return EXIT.ok;
}
