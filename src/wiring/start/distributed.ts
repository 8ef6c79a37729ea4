import type { Client } from '@temporalio/client';
import { startConsole } from '../../console/start-console.ts';
import { LoteError } from '../../domain/errors.ts';
import type { Ledger } from '../../domain/ports/ledger/ledger.ts';
import type { Readiness } from '../../domain/ports/readiness.ts';
import type { Config } from '../../runtime/config/config.ts';
import type { Installation } from '../../runtime/config/installation.ts';
import { dataDirAt } from '../../runtime/data-dir/data-dir.ts';
import { startHealthServer } from '../../runtime/process/health-server.ts';
import type { Logger } from '../../runtime/process/logger.ts';
import { leaveSoon } from '../../runtime/process/shutdown.ts';
import { choosePort } from '../../runtime/process/free-port.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import { seenBy } from '../account/application-ledger.ts';
import { openLedger } from '../account/open-ledger.ts';
import { readProfiles, type ProfiledApplication } from '../account/read-profiles.ts';
import { consoleOfSeveral, type ConsoleAccount } from '../console/console-of-several.ts';
import { consoleParts } from '../console/console-parts.ts';
import { createCommonFolders } from '../folders/common-folders.ts';
import { connectClient, lazyClient, placeOf } from '../temporal/connect-client.ts';
import { openSharedCore } from './process-core.ts';
import { openEach, type OpenApplication } from './open-applications.ts';
import { startWatchedWorker } from '../worker/watched-worker.ts';
import { logMisfits } from '../profile-fit/misfit-log.ts';
import { openProcessTelemetry } from './process-telemetry.ts';
import { startReceiving } from '../receiver/start-receiver.ts';
import { startedParts, type StartedParts } from './stop-in-reverse.ts';
import { workerReadiness } from '../worker/worker-readiness.ts';

export interface DistributedWorker {
  readonly ended: Promise<void>;
  /** Where probes ask; null: nowhere (HEALTH_PORT=none). */
  readonly healthUrl: string | null;
  /** Where the metrics are served; null: nowhere. */
  readonly metricsUrl: string | null;
  stop(): Promise<void>;
}

/** A process that listens. */
export interface ListeningProcess {
  readonly url: string;
  /** Where the metrics are served; null: nowhere. */
  readonly metricsUrl: string | null;
  stop(): Promise<void>;
}

/**
 * A worker on the shared ledger and the shared Temporal server: one process for all applications, and for each a service
 * and folders, and of several a queue of its own.
 */
export async function startDistributedWorker(installation: Installation, log: Logger): Promise<DistributedWorker> {
  const { common } = installation;
  const parts = startedParts(log);
  return orStop(parts, async () => {
    const { core, applications, client, place } = await openShared(installation, 'worker', { parts, log });
    const { worker, folders } = await startWatchedWorker(core, {
      ...{ applications, temporal: { client, place } },
      webhookUrlOf: ({ webhook }) => webhook.url,
      consoleUrl: () => common.console.publicUrl,
      onForcedEnd: leaveSoon,
    });
    logMisfitsOf(applications, parts);
    const ready = workerReadiness({ ledger: core.opened, client, worker, folders });
    const healthUrl = await serveHealth(common, ready, parts);
    return { ended: worker.ended, healthUrl, metricsUrl: core.telemetry.url, stop: () => parts.stop() };
  });
}

/** A receiver on the shared ledger; of several applications each has the address `/webhooks/<name>`. */
export async function startDistributedReceiver(installation: Installation, log: Logger): Promise<ListeningProcess> {
  const parts = startedParts(log);
  return orStop(parts, async () => {
    const { core, applications, client } = await openShared(installation, 'receiver', { parts, log });
    const { common: config } = installation;
    const { telemetry } = core;
    const receiver = await startReceiving(applications, { config, client, telemetry, port: config.receiver.port, log });
    parts.add('receiver', () => receiver.close());
    logMisfitsOf(applications, parts);
    return { url: receiver.url, metricsUrl: telemetry.url, stop: () => parts.stop() };
  });
}

interface Starting {
  /** To it everything is added that must be stopped. */
  readonly parts: StartedParts;
  readonly log: Logger;
}

/** The shared ledger, each application with its service, and Temporal. */
async function openShared(
  { common: config, applications: configs }: Installation,
  role: 'worker' | 'receiver',
  { parts, log }: Starting,
) {
  const { temporal } = config;
  if (temporal.address === null || configs.some(({ service }) => service.kind !== 'remote'))
    throw new LoteError(
      'configuration-invalid',
      'Starting a process of its own: INVOICING_BASE_URL and TEMPORAL_ADDRESS must both be set, and they are not.',
    );
  const profiled = readProfiles(configs);
  const notify = (line: string): void => log.info(line);
  const owned = { config, dataDir: dataDirAt(config.dataDir), parts, notify, log };
  // The server is not ours to end.
  const core = await openSharedCore(owned, () => undefined, role);
  const { applications } = await openEach(core, profiled, { unsendable: role === 'worker' ? 'log' : 'ignore' });
  const place = await placeOf(temporal.address, temporal);
  const client = await connectClient(place, temporal.namespace);
  parts.add('temporal', () => client.connection.close());
  return { core, applications, client, place };
}

function logMisfitsOf(applications: readonly OpenApplication[], parts: StartedParts): void {
  for (const { core, service } of applications) {
    const misfits = logMisfits({ ...core, service });
    parts.add('log of misfits', () => misfits.stop());
  }
}

async function serveHealth(
  { health }: Config,
  ready: () => Promise<Readiness>,
  parts: StartedParts,
): Promise<string | null> {
  if (health === null) return null;
  const { host, explicit } = health;
  const server = await startHealthServer({ host, port: await choosePort(health), ready }).catch((error: unknown) => {
    // Workers that start at once may choose the same free port: without a configured port, a worker takes any.
    if (explicit || !(error instanceof LoteError) || error.code !== 'port-taken') throw error;
    return startHealthServer({ host, port: 0, ready });
  });
  parts.add('health', () => server.close());
  return server.url;
}

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

async function orStop<T>(parts: StartedParts, start: () => Promise<T>): Promise<T> {
  try {
    return await start();
  } catch (error) {
    await parts.stop();
    throw error;
  }
}
