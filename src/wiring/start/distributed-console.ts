import type { Client } from '@temporalio/client';
import { startConsole } from '../../console/start-console.ts';
import type { Ledger } from '../../domain/ports/ledger/ledger.ts';
import type { TemporalConfig } from '../../runtime/config/config.ts';
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
import { watchAccess } from '../temporal/watch-temporal.ts';
import { orStop, type ListeningProcess } from './distributed-process.ts';
import { openProcessTelemetry } from './process-telemetry.ts';
import { startedParts, type StartedParts } from './stop-in-reverse.ts';

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
    const { client, lost } = await openClient(temporal, parts);
    const web = await startConsole({
      ...{ host: place.host, port: place.port },
      ...shownBy(installation, { opened, telemetry, client, log }),
      ...(place.token === null ? {} : { token: place.token }),
    });
    parts.add('console', () => web.close());
    return { url: web.url, metricsUrl: telemetry.url, lost, stop: () => parts.stop() };
  });
}

/** Null: there is no server to speak to. */
async function openClient(
  temporal: TemporalConfig,
  parts: StartedParts,
): Promise<{ readonly client: Client | null; readonly lost: Promise<never> }> {
  if (temporal.address === null) return { client: null, lost: new Promise(() => undefined) };
  const place = await placeOf(temporal.address, temporal);
  const client = lazyClient(place, temporal.namespace);
  parts.add('temporal', () => client.connection.close());
  const watch = watchAccess(client, { place, temporal });
  parts.add('watch of temporal', () => watch.stop());
  return { client, lost: watch.lost };
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
