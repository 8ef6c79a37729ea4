import type { Installation } from '../../runtime/config/installation.ts';
import type { Logger } from '../../runtime/process/logger.ts';
import { startReceiving } from '../receiver/start-receiver.ts';
import { watchAccess } from '../temporal/watch-temporal.ts';
import { logMisfitsOf, openShared, orStop, type ListeningProcess } from './distributed-process.ts';
import { startedParts } from './stop-in-reverse.ts';

/** A receiver on the shared ledger; of several applications each has the address `/webhooks/<name>`. */
export async function startDistributedReceiver(installation: Installation, log: Logger): Promise<ListeningProcess> {
  const parts = startedParts(log);
  return orStop(parts, async () => {
    const { core, applications, client, place } = await openShared(installation, 'receiver', { parts, log });
    const { common: config } = installation;
    const { telemetry } = core;
    const receiver = await startReceiving(applications, { config, client, telemetry, port: config.receiver.port, log });
    parts.add('receiver', () => receiver.close());
    logMisfitsOf(applications, parts);
    const watch = watchAccess(client, { place, temporal: config.temporal });
    parts.add('watch of temporal', () => watch.stop());
    return { url: receiver.url, metricsUrl: telemetry.url, lost: watch.lost, stop: () => parts.stop() };
  });
}
