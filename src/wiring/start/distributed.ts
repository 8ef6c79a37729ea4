import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { AnswerWatch } from '../../../activities/profile-fit/answer-watch.ts';
import { LoteError } from '../../domain/errors.ts';
import type { InvoicingService } from '../../domain/ports/invoicing-service.ts';
import type { Ledger } from '../../domain/ports/ledger.ts';
import type { Readiness } from '../../domain/ports/readiness.ts';
import type { Config } from '../../runtime/config/config.ts';
import type { Installation } from '../../runtime/config/installation.ts';
import { dataDirAt } from '../../runtime/data-dir/data-dir.ts';
import { choosePort } from '../../runtime/temporal/free-port.ts';
import { startHealthServer } from '../../runtime/process/health-server.ts';
import type { Logger } from '../../runtime/process/logger.ts';
import { leaveSoon } from '../../runtime/process/shutdown.ts';
import type { ServiceProfile } from '../../service-profile/profile.ts';
import { activityDeps } from './activity-deps.ts';
import { openAnswerWatch } from './answer-watch.ts';
import { startConsole } from '../../console/start-console.ts';
import type { TemporalPlace } from '../../runtime/temporal/temporal-connection.ts';
import { authenticatedService } from '../account/authenticated-service.ts';
import { createCommonFolders } from '../reports/common-folders.ts';
import { connectClient, lazyClient, placeOf } from '../temporal/connect-client.ts';
import { consoleParts } from '../operator/console-parts.ts';
import { createCrashPoints, type CrashPoints } from './crash-points.ts';
import { killSelf, stopSelf } from './crash-self.ts';
import { workerScope, queuePollers, deregisterWorker } from '../temporal/queue-pollers.ts';
import { requireOwnQueue } from '../temporal/require-own-queue.ts';
import { ensureSchedules } from '../temporal/ensure-schedules.ts';
import { openLedger } from '../account/open-ledger.ts';
import { rememberService, requireKnownService, type AccountGuard } from '../account/account-guard.ts';
import { markedLedger, openSendingGuard } from '../account/sending-guard.ts';
import type { Capture } from '../recordings/capture.ts';
import { openCapture } from '../recordings/open-capture.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import { openSharedService, readProfile } from '../account/open-service.ts';
import { readProfiles } from '../account/read-profiles.ts';
import { watchSharedPatches } from '../temporal/shared-patches.ts';
import { ensureSearchAttributes } from '../temporal/search-attributes.ts';
import { openProcessTelemetry } from './process-telemetry.ts';
import { logMisfits } from './misfit-log.ts';
import { openSharedCore } from './embedded-core.ts';
import { openEach, type OpenApplication } from './embedded-service.ts';
import { startEmbeddedWorker } from './embedded-worker.ts';
import { startReceiver, startReceiverOfSeveral } from './start-receiver.ts';
import { startWorker } from './start-worker.ts';
import { watchTemporal } from '../temporal/watch-temporal.ts';
import { watchStuckBatches, workerReadiness } from './worker-health.ts';
import { startedParts, type StartedParts } from './stop-in-reverse.ts';

/** What every process of the distributed form holds: the shared ledger, the service, Temporal. */
interface Shared {
  readonly parts: StartedParts;
  readonly ledger: Ledger;
  readonly requireAccount: () => Promise<unknown>;
  readonly service: InvoicingService;
  readonly profile: ServiceProfile;
  readonly watch: AnswerWatch;
  readonly client: Client;
  readonly place: TemporalPlace;
  readonly crash: CrashPoints;
  readonly capture: Capture | null;
  readonly telemetry: Telemetry;
}

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

/** A worker on the shared ledger and the shared Temporal server. */
export async function startDistributedWorker(config: Config, log: Logger): Promise<DistributedWorker> {
  const shared = await openShared(config, 'worker', log);
  return orStop(shared.parts, async () => {
    const { taskQueue } = config;
    const pollers = () => queuePollers(shared.client, taskQueue);
    await requireOwnQueue({
      taskQueue,
      scope: workerScope(shared.ledger.id, config),
      pollers,
      pause: (ms) => sleep(ms),
      notify: (line) => log.warn('foreign ledger on the task queue', { detail: line }),
    });
    const folders = createCommonFolders({ config, ledger: shared.ledger, log });
    await folders?.join();
    const deps = activityDeps({
      ...{ ...shared, folders },
      ...{ config, webhookUrl: config.webhook.url, log },
      searchable: await ensureSearchAttributes(shared.client, log),
      consoleUrl: () => config.console.publicUrl,
    });
    const sharedPatches = await watchSharedPatches({ pollers, log });
    shared.parts.add('watch of patches', () => sharedPatches.stop());
    const worker = await startWorker(deps, {
      sharedPatches,
      onForcedEnd: leaveSoon,
      temporal: shared.place,
      namespace: config.temporal.namespace,
      taskQueue,
      telemetry: shared.telemetry.worker,
      deregister: (identity) => deregisterWorker(shared.client, taskQueue, identity),
    });
    shared.parts.add('worker', () => worker.stop());
    await ensureSchedules([config], shared.client, log);
    const { client, ledger } = shared;
    const stuck = watchStuckBatches({ ...shared, applications: new Set([config.application]), log });
    shared.parts.add('watch of stuck batches', () => stuck.stop());
    const misfits = logMisfits({ ...shared, config, log });
    shared.parts.add('log of misfits', () => misfits.stop());
    const watch = watchTemporal(client, shared.place.address, log);
    shared.parts.add('watch of temporal', () => watch.stop());
    const healthUrl = await serveHealth(config, workerReadiness({ ledger, client, worker, folders }), shared.parts);
    return { ended: worker.ended, healthUrl, metricsUrl: shared.telemetry.url, stop: () => shared.parts.stop() };
  });
}

/** The same for several applications: one process, and for each a service, folders and a queue of its own. */
export async function startDistributedWorkerOfSeveral(
  installation: Installation,
  log: Logger,
): Promise<DistributedWorker> {
  const { common } = installation;
  const parts = startedParts(log);
  return orStop(parts, async () => {
    const { core, applications, client, place } = await openSeveral(installation, 'worker', parts, log);
    const { worker } = await startEmbeddedWorker(core, {
      ...{ applications, temporal: { client, place } },
      webhookUrlOf: ({ webhook }) => webhook.url,
      consoleUrl: () => common.console.publicUrl,
      onForcedEnd: leaveSoon,
    });
    logMisfitsOf(applications, parts);
    const ready = workerReadiness({ ledger: core.opened, client, worker, folders: null });
    const healthUrl = await serveHealth(common, ready, parts);
    return { ended: worker.ended, healthUrl, metricsUrl: core.telemetry.url, stop: () => parts.stop() };
  });
}

/** The same for several applications: each has the address `/webhooks/<name>`. */
export async function startDistributedReceiverOfSeveral(
  installation: Installation,
  log: Logger,
): Promise<ListeningProcess> {
  const parts = startedParts(log);
  return orStop(parts, async () => {
    const { core, applications, client } = await openSeveral(installation, 'receiver', parts, log);
    const { common: config } = installation;
    const receiver = await startReceiverOfSeveral(
      applications.map((one) => ({ ...one.core, service: one.service, watch: one.watch, client: () => client })),
      { config, port: config.receiver.port, log },
    );
    parts.add('receiver', () => receiver.close());
    logMisfitsOf(applications, parts);
    return { url: receiver.url, metricsUrl: core.telemetry.url, stop: () => parts.stop() };
  });
}

async function openSeveral(
  { common: config, applications: configs }: Installation,
  role: 'worker' | 'receiver',
  parts: StartedParts,
  log: Logger,
) {
  const profiled = readProfiles(configs);
  const notify = (line: string): void => log.info(line);
  const owned = { config, dataDir: dataDirAt(config.dataDir), parts, notify, log };
  const core = await openSharedCore(owned, () => undefined, role);
  const { applications } = await openEach(core, profiled, {});
  const place = await placeOf(config.temporal.address ?? '', config.temporal);
  const client = await connectClient(place, config.temporal.namespace);
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

/** A receiver on the shared ledger. */
export async function startDistributedReceiver(config: Config, log: Logger): Promise<ListeningProcess> {
  const shared = await openShared(config, 'receiver', log);
  return orStop(shared.parts, async () => {
    const receiver = await startReceiver({
      ...shared,
      config,
      port: config.receiver.port,
      client: () => shared.client,
      log,
    });
    shared.parts.add('receiver', () => receiver.close());
    const misfits = logMisfits({ ...shared, config, log });
    shared.parts.add('log of misfits', () => misfits.stop());
    return { url: receiver.url, metricsUrl: shared.telemetry.url, stop: () => shared.parts.stop() };
  });
}

/**
 * A console on the shared ledger. With a Temporal server it does everything that the console of `lote up` does; without
 * one it only shows, and says so. Whether Temporal and the service are there it tells on its health page: it comes up
 * without them.
 */
export async function startDistributedConsole(config: Config, log: Logger): Promise<ListeningProcess> {
  const parts = startedParts(log);
  const { serviceBaseUrl, temporal, console: place } = config;
  return orStop(parts, async () => {
    const telemetry = await openProcessTelemetry({ config, role: 'console', parts, log });
    const ledger = telemetry.ledger(await openTimedLedger(config, telemetry));
    parts.add('ledger', () => ledger.close());
    const client =
      temporal.address === null ? null : lazyClient(await placeOf(temporal.address, temporal), temporal.namespace);
    if (client !== null) parts.add('temporal', () => client.connection.close());
    const web = await startConsole({
      ...{ host: place.host, port: place.port },
      ...consoleParts({
        ...{ config, ledger, client, log, folders: createCommonFolders({ config, ledger, log }) },
        profile: readProfile(config),
        serviceBaseUrl,
        temporalUi: temporal.uiUrl,
      }),
      ...(place.token === null ? {} : { token: place.token }),
    });
    parts.add('console', () => web.close());
    return { url: web.url, metricsUrl: telemetry.url, stop: () => parts.stop() };
  });
}

async function openShared(config: Config, role: 'worker' | 'receiver', log: Logger): Promise<Shared> {
  const { service: account, temporal } = config;
  if (account.kind !== 'remote' || temporal.address === null) {
    throw new LoteError('configuration-invalid', 'A process of its own needs INVOICING_BASE_URL and TEMPORAL_ADDRESS.');
  }
  const parts = startedParts(log);
  const profile = readProfile(config);
  const { address } = temporal;
  return orStop(parts, async () => {
    const crash = crashPointsOf(config);
    const telemetry = await openProcessTelemetry({ config, role, parts, log });
    const opened = await openTimedLedger(config, telemetry);
    const sending = openSendingGuard(config, { ledger: opened, profile, log });
    const ledger = telemetry.ledger(crash.ledger(markedLedger(opened, sending)));
    parts.add('ledger', () => ledger.close());
    const capture = await openCapture({ config, profile, parts, log });
    const { application } = config;
    const guard = (): AccountGuard => ({ ledger, application, account, profile, now: Date.now() });
    const isKnown = (): Promise<boolean> => requireKnownService(guard());
    const requireAccount = async (): Promise<void> => {
      await isKnown();
      await sending?.require();
    };
    await isKnown();
    const service = authenticatedService({
      service: crash.service(openSharedService(config, account, { profile, ledger, capture, telemetry })),
      isKnown,
      remember: () => rememberService(guard()),
    });
    parts.add('service', () => service.close());
    const place = await placeOf(address, temporal);
    const client = await connectClient(place, temporal.namespace);
    parts.add('temporal', () => client.connection.close());
    const expectsEvents = config.webhook.url !== null;
    const watch = openAnswerWatch({ config, ledger, service, profile, expectsEvents, log });
    return { parts, ledger, requireAccount, service, profile, watch, client, place, crash, capture, telemetry };
  });
}

/** The ledger whose statements are timed, where somebody asks for it. */
async function openTimedLedger(
  { databaseUrl, dataDir: directory }: Config,
  { onStatement: measure }: Telemetry,
): Promise<Ledger> {
  return openLedger({ databaseUrl, directory, measure });
}

async function orStop<T>(parts: StartedParts, start: () => Promise<T>): Promise<T> {
  try {
    return await start();
  } catch (error) {
    await parts.stop();
    throw error;
  }
}

function crashPointsOf({ crashAt }: Config): CrashPoints {
  return createCrashPoints({
    crashAt,
    // The server is not ours to end.
    killTemporal: () => undefined,
    ...{ killSelf, stopSelf },
  });
}
