import type { Client } from '@temporalio/client';
import { sayingWaits } from '../../platform/waiting-for.ts';
import { LoteError } from '../../domain/errors.ts';
import type { Config } from '../config/config.ts';
import { dataDirAt, type DataDir } from '../data-dir/data-dir.ts';
import type { DirectoryLock } from '../data-dir/directory-lock.ts';
import { removeEndpoints, writeEndpoints, type Endpoints } from '../data-dir/endpoints-file.ts';
import { watchDirectory } from '../data-dir/watch-directory.ts';
import { choosePort } from '../process/free-port.ts';
import { startHealthServer } from '../process/probe-server.ts';
import type { Logger } from '../process/logger.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { readProfile } from '../account/read-profile.ts';
import type { HandOver } from '../operator/hand-over.ts';
import { startReceiver, type Receiver } from '../receiver/start-receiver.ts';
import { connectClient, lazyClient, placeOf } from '../temporal/temporal-connection.ts';
import type { ConnectedTemporal } from '../temporal/temporal-server.ts';
import { watchTemporal } from '../temporal/watch-temporal.ts';
import type { RunningWorker } from '../worker/start-worker.ts';
import type { WatchedWorker } from '../worker/watched-worker.ts';
import {
  openApplication,
  openCore,
  type OpenApplication,
  type ProcessCore,
  type SandboxBehaviour,
} from './open-application.ts';
import type { ShownParts } from './process-console.ts';
import { startedParts, type StartedParts } from './stop-in-reverse.ts';
import type { InvoicingService } from '../../service/client.ts';
import type { Ledger } from '../../ledger/ledger.ts';

/**
 * What a process does: it works off task queues, takes webhooks, or shows the console. A process that has all of them is
 * `embedded` in the metrics. A worker or receiver without INVOICING_BASE_URL also runs the sandbox.
 */
export type Role = 'worker' | 'receiver' | 'console';

/** The roles of the owner of a data directory. */
export const ALL_ROLES: readonly Role[] = ['worker', 'receiver', 'console'];

/** A data directory that a process has for itself. */
export interface OwnDirectory {
  readonly dataDir: DataDir;
  readonly lock: DirectoryLock;
  readonly env: NodeJS.ProcessEnv;
}

/** What a process is started with, and what it asks or tells on the way. */
export interface ProcessStart {
  readonly config: Config;
  readonly log: Logger;
  readonly roles: readonly Role[];
  /** Null: the process works on a shared ledger and a shared Temporal server, and says what it does in its log. */
  readonly own: OwnDirectory | null;
  /** A line for the person who waits. */
  readonly notify?: ((line: string) => void) | undefined;
  readonly sandbox?: SandboxBehaviour | undefined;
  /** Runs between the service and Temporal; throws to stop before anything is started that could send. */
  readonly beforeSending?: ((service: InvoicingService) => Promise<void>) | undefined;
  /** Runs before work that another process hands over; throws to refuse it. */
  readonly beforeHandOver?: ((service: InvoicingService) => Promise<void>) | undefined;
  /** See `WorkerPlace`. */
  readonly onWork?: (() => void) | undefined;
  /** See `WorkerPlace`; left out by a caller that must outlive the process. */
  readonly onForcedEnd?: (() => void) | undefined;
}

/** A process that has started. What it has no role for is null. */
export interface RunningProcess {
  readonly ledger: Ledger;
  readonly client: Client | null;
  readonly worker: RunningWorker | null;
  readonly sandbox: Sandbox | null;
  readonly receiverUrl: string | null;
  readonly consoleUrl: string | null;
  /** Where probes of a worker without a console ask; null: nowhere (HEALTH_PORT=none). */
  readonly healthUrl: string | null;
  /** Where the metrics are served; null: nowhere. */
  readonly metricsUrl: string | null;
  /** Of the owner of a data directory, as it wrote them down. */
  readonly endpoints: Endpoints | null;
  /** What other processes of the data directory bring. */
  readonly handOver: HandOver | null;
  /** Rejects when a part without which nothing goes on is lost for good; never resolves before the process is stopped. */
  readonly lost: Promise<never>;
  stop(): Promise<void>;
}

/** Starts a process with its roles; what was started is stopped again when a later part cannot start. */
export async function startProcess(start: ProcessStart): Promise<RunningProcess> {
  const { log, own } = start;
  const parts = startedParts(log);
  if (own !== null) parts.addToTheEnd('lock', () => own.lock.release());
  try {
    const opening = () => openInOrder(start, parts);
    return own === null ? await sayingWaits((line) => log.warn(line), opening) : await opening();
  } catch (error) {
    await parts.stop();
    throw error;
  }
}

/** Each part as the ones before it are there: ledger, service, Temporal, receiver, worker, console. */
async function openInOrder(start: ProcessStart, parts: StartedParts): Promise<RunningProcess> {
  const { config, log, roles, own } = start;
  const notify = start.notify ?? ((line: string): void => log.info(line));
  // A profile that is wrong stops the start before anything is opened.
  const profile = readProfile(config);
  const dataDir = own?.dataDir ?? dataDirAt(config.dataDir);
  const role = own === null ? (roles[0] ?? 'console') : 'embedded';
  const core = await openCore({ config, dataDir, parts, notify, log }, { profile, role });
  const receiverPort = await portOf(config, own);
  const application = roles.some((one) => one !== 'console')
    ? await openApplication(core, {
        unsendable: own !== null ? 'refuse' : roles.includes('worker') ? 'log' : 'ignore',
        reserved: receiverPort,
        behaviour: start.sandbox,
        beforeSending: start.beforeSending,
      })
    : null;
  const temporal = await reachTemporal(start, core);
  const joined = application === null || temporal === null ? null : { application, temporal };

  const receiver =
    joined !== null && roles.includes('receiver')
      ? await startReceiver({
          ...core,
          ...joined.application,
          client: () => joined.temporal.client,
          port: receiverPort,
        })
      : null;
  if (receiver !== null) parts.add('receiver', () => receiver.close());

  let consoleUrl: string | null = null;
  const watched =
    joined !== null && roles.includes('worker')
      ? await openWorker(start, { ...joined, receiver, consoleUrl: () => config.console.publicUrl ?? consoleUrl })
      : null;

  const shown = { core, application, temporal, watched, receiverPort };
  const web = roles.includes('console') ? await openConsole(start, shown) : null;
  consoleUrl = web?.url ?? null;
  const healthUrl = web === null && watched !== null ? await serveHealth(config, shown) : null;

  const running = { receiverUrl: receiver?.url ?? null, consoleUrl, sandbox: application?.sandbox ?? null };
  const published = own === null || temporal === null ? null : await publish(own, { core, temporal, running });
  const lost = firstLoss([temporal?.lost, watched === null ? undefined : lostWorker(watched.worker), published?.lost]);
  return {
    ...{ ...running, ledger: core.ledger, client: temporal?.client ?? null, worker: watched?.worker ?? null },
    ...{ healthUrl, metricsUrl: core.telemetry.url, handOver: web?.handOver ?? null },
    ...{ endpoints: published?.endpoints ?? null, lost, stop: () => parts.stop() },
  };
}

/** 0 means any free port: the receiver itself asks for it, so that no other process takes it in between. */
async function portOf({ receiver, service }: Config, own: OwnDirectory | null): Promise<number> {
  if (own === null || receiver.port === 0) return receiver.port;
  // A real service knows the address of the receiver: then no other port will do.
  return choosePort({ ...receiver, explicit: receiver.explicit || service.kind === 'remote' });
}

/**
 * The server that is given, or an embedded one of the owner of a data directory. A console alone connects when it is
 * first used; null: it has no server.
 */
async function reachTemporal(
  { config, log, roles, own }: ProcessStart,
  { parts, notify }: ProcessCore,
): Promise<ConnectedTemporal | null> {
  const { address, namespace, uiUrl: ui } = config.temporal;
  const watched = (temporal: ConnectedTemporal): ConnectedTemporal => {
    const watch = watchTemporal(temporal.client, { place: temporal.place, temporal: config.temporal }, log);
    parts.add('watch of temporal', () => watch.stop());
    return { ...temporal, lost: firstLoss([temporal.lost, watch.lost]) };
  };
  if (address === null) {
    if (own === null) return null;
    const { embeddedTemporal } = await import('../temporal/temporal-server.ts');
    const temporal = await embeddedTemporal({ config, log, notify, env: own.env, dataDir: own.dataDir.path });
    parts.addToTheEnd('temporal', () => temporal.stop());
    notify(`Temporal at ${temporal.place.address}`);
    return watched(temporal);
  }
  const place = placeOf(address, config.temporal);
  const isConsole = roles.every((role) => role === 'console');
  const client = isConsole ? lazyClient(place, namespace) : await connectClient(place, namespace);
  const stop = () => client.connection.close();
  parts.add('temporal', stop);
  return watched({ place, ui, client, lost: new Promise(() => undefined), stop });
}

interface Joined {
  readonly application: OpenApplication;
  readonly temporal: ConnectedTemporal;
  readonly receiver: Receiver | null;
  readonly consoleUrl: () => string | null;
}

/** Loaded only by a process that has this role. */
async function openWorker(start: ProcessStart, joined: Joined): Promise<WatchedWorker> {
  const { application, receiver, temporal, consoleUrl } = joined;
  const { startWatchedWorker } = await import('../worker/watched-worker.ts');
  const ownUrl = application.sandbox === null ? null : (receiver?.url ?? null);
  return startWatchedWorker(application, {
    ...{ temporal, consoleUrl, webhookUrl: start.config.webhook.url ?? ownUrl },
    ...{ onWork: start.onWork, onForcedEnd: start.onForcedEnd },
  });
}

/** Loaded only by a process that has this role. */
async function openConsole(start: ProcessStart, shown: ShownParts) {
  const { startProcessConsole } = await import('./process-console.ts');
  return startProcessConsole(start, shown);
}

/** A worker that was stopped has left; one that leaves by itself has died, and nothing goes on without it. */
async function lostWorker(worker: RunningWorker): Promise<never> {
  await worker.ended;
  return new Promise(() => undefined);
}

function firstLoss(losses: readonly (Promise<never> | undefined)[]): Promise<never> {
  const lost = Promise.race([new Promise<never>(() => undefined), ...losses.filter((loss) => loss !== undefined)]);
  lost.catch(() => undefined);
  return lost;
}

/** Answers probes of a worker that has no console. Null: HEALTH_PORT is `none`. */
async function serveHealth({ health }: Config, { core, temporal, watched }: ShownParts): Promise<string | null> {
  if (health === null || temporal === null || watched === null) return null;
  const { workerReadiness } = await import('./readiness.ts');
  const ready = workerReadiness({ ledger: core.ledger, client: temporal.client, ...watched });
  const { host, explicit } = health;
  const server = await startHealthServer({ host, port: await choosePort(health), ready }).catch((error: unknown) => {
    // Workers that start at once may choose the same free port: without a configured port, a worker takes any.
    if (explicit || !(error instanceof LoteError) || error.code !== 'port-taken') throw error;
    return startHealthServer({ host, port: 0, ready });
  });
  core.parts.add('health', () => server.close());
  return server.url;
}

interface Published {
  readonly core: ProcessCore;
  readonly temporal: ConnectedTemporal;
  readonly running: Pick<RunningProcess, 'receiverUrl' | 'consoleUrl' | 'sandbox'>;
}

/** Tells other processes of the data directory where everything is, and watches that the directory stays this process's own. */
async function publish({ lock, dataDir }: OwnDirectory, { core, temporal, running }: Published) {
  const { config, ledger, parts } = core;
  const endpoints: Endpoints = {
    ...{ owner: lock.owner, pid: process.pid, ledgerId: ledger.id, reportsDir: config.reportsDir },
    ...{ temporalAddress: temporal.place.address, temporalNamespace: config.temporal.namespace },
    ...{ taskQueue: config.taskQueue, temporalUi: temporal.ui },
    ...{ receiver: running.receiverUrl, console: running.consoleUrl, sandbox: running.sandbox?.url ?? null },
  };
  await writeEndpoints(dataDir, endpoints);
  parts.add('endpoints', () => removeEndpoints(dataDir));
  const directory = watchDirectory({ path: dataDir.path, owner: lock.owner });
  parts.add('watch of the data directory', () => directory.release());
  return { endpoints, lost: directory.lost };
}
