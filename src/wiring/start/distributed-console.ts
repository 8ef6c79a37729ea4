import type { Client } from '@temporalio/client';
import { startConsole } from '../../console/start-console.ts';
import type { Ledger } from '../../domain/ports/ledger/ledger.ts';
import type { Installation } from '../../runtime/config/installation.ts';
import type { Logger } from '../../runtime/process/logger.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import { seenBy } from '../account/application-ledger.ts';
import { openLedger } from '../account/open-ledger.ts';
import { readProfiles, type ProfiledApplication } from '../account/read-profiles.ts';
import { consoleOfSeveral, type ConsoleAccount } from '../console/console-of-several.ts';
import { consoleParts } from '../console/console-parts.ts';
import { createCommonFolders } from '../folders/common-folders.ts';
import { lazyClient, placeOf } from '../temporal/connect-client.ts';
import { orStop, type ListeningProcess } from './distributed-process.ts';
import { openProcessTelemetry } from './process-telemetry.ts';
import { startedParts } from './stop-in-reverse.ts';

/**
 * A console on the shared ledger. With a Temporal server it does everything that the console of `lote up` does; without
 * one it only shows, and says so. Whether Temporal and the service are there it tells on its health page: it comes up
 * without them.
 */
export async function startDistributedConsole(installation: Installation, log: Logger): Promise<ListeningProcess> {
  const parts = startedParts(log);
  const { common: config } = installation;
  const { temporal, console: place } = config;
  return orStop(parts, async () => {
    const telemetry = await openProcessTelemetry({ config, role: 'console', parts, log });
    const { databaseUrl, dataDir: directory } = config;
    const opened = await openLedger({ databaseUrl, directory, measure: telemetry.onStatement });
    parts.addToTheEnd('ledger', () => opened.close());
    const client =
      temporal.address === null ? null : lazyClient(await placeOf(temporal.address, temporal), temporal.namespace);
    if (client !== null) parts.add('temporal', () => client.connection.close());
    const web = await startConsole({
      ...{ host: place.host, port: place.port },
      ...shownBy(installation, { opened, telemetry, client, log }),
      ...(place.token === null ? {} : { token: place.token }),
    });
    parts.add('console', () => web.close());
    return { url: web.url, metricsUrl: telemetry.url, stop: () => parts.stop() };
  });
}

interface ConsoleProcess {
  /** The ledger as it is stored. */
  readonly opened: Ledger;
  readonly telemetry: Telemetry;
  readonly client: Client | null;
  readonly log: Logger;
}

/** What the console of an only application shows and does, or that of several. */
function shownBy({ common: config, applications }: Installation, { opened, telemetry, client, log }: ConsoleProcess) {
  const { serviceBaseUrl, temporal } = config;
  const common = { config, client, temporalUi: temporal.uiUrl, log };
  const [first, ...others] = readProfiles(applications);
  if (!first.config.isOneOfSeveral) {
    const ledger = telemetry.ledger(opened);
    const folders = createCommonFolders({ config, ledger, log });
    return consoleParts({ ...common, ledger, folders, profile: first.profile, serviceBaseUrl });
  }
  const accountOf = (one: ProfiledApplication): ConsoleAccount => ({
    ...one,
    ledger: telemetry.ofApplication(one.config.application).ledger(seenBy(one.config, opened)),
    baseUrl: one.config.serviceBaseUrl,
  });
  return consoleOfSeveral({ ...common, ledger: opened, accounts: [accountOf(first), ...others.map(accountOf)] });
}
