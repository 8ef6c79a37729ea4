import { setFlagsFromString } from 'node:v8';
import { sayingWaits } from '../../platform/waiting-for.ts';
import { LoteError } from '../../domain/errors.ts';
import type { Readiness } from '../../domain/records/readiness.ts';
import { removeEndpoints, writeEndpoints, type Endpoints } from '../data-dir/endpoints-file.ts';
import { watchDirectory } from '../data-dir/directory-lock.ts';
import { choosePort } from '../process/free-port.ts';
import { startHealthServer } from '../process/probe-server.ts';
import { startReceiver } from '../receiver/start-receiver.ts';
import { connectClient, lazyClient, placeOf } from '../temporal/temporal-connection.ts';
import type { ConnectedTemporal } from '../temporal/temporal-server.ts';
import { watchTemporal } from '../temporal/watch-temporal.ts';
import type { OpenWorker } from '../worker/start-worker.ts';
import {
  openApplication,
  openCore,
  type OpenApplication,
  type ProcessCore,
  type ProcessStart,
  type Role,
} from './open-application.ts';
import type { ShownParts } from '../console/console-parts.ts';
import { startedParts } from './stop-in-reverse.ts';

/** The roles of the owner of a data directory. */
export const ALL_ROLES: readonly Role[] = ['worker', 'receiver', 'console'];

/** A started process. Parts without a role are null. `lost` rejects when an essential part is lost for good; it never resolves. */
export type RunningProcess = Awaited<ReturnType<typeof startProcess>>;

/**
 * V8 option for threads that start later: megabytes of one half of the young generation. A thread never gives that memory back, and by default each of three
 * threads (the database, and the workflows of two workers) takes 13 MB more.
 */
const YOUNG_GENERATION = '--max-semi-space-size=2';

/**
 * V8 option: the calls of a function before the slow compiler takes it, 3,000 by default. That compiler takes a tenth of two cores while a new process sends
 * its first 20,000 invoices, and the quick compiler of Node 24 makes these functions fast enough.
 */
const OPTIMISE_LATER = '--invocation-count-for-turbofan=20000';
const NODE_WITH_TWO_COMPILERS = 24;

/** Starts a process with its roles. If a part cannot start, the earlier parts are stopped. */
export async function startProcess(start: ProcessStart) {
  const { log, own } = start;
  setFlagsFromString(YOUNG_GENERATION);
  if (Number.parseInt(process.versions.node, 10) >= NODE_WITH_TWO_COMPILERS) setFlagsFromString(OPTIMISE_LATER);
  const parts = startedParts(log);
  if (own !== null) parts.addToTheEnd('lock', () => own.lock.release());
  let onLost: ProcessCore['onLost'] = () => undefined;
  const lost = new Promise<never>((_, reject) => (onLost = reject));
  // The caller learns of a loss when it awaits `lost`; before that, a rejection must not end the process.
  lost.catch(() => undefined);
  try {
    const opening = async () => openInOrder(await openCore(start, { parts, onLost }));
    const running = own === null ? await sayingWaits((line) => log.warn(line), opening) : await opening();
    return { ...running, lost, stop: () => parts.stop() };
  } catch (error) {
    await parts.stop();
    throw error;
  }
}

/** Opens each part after the parts that it needs. Telemetry and ledger are open already (`openCore`). */
async function openInOrder(core: ProcessCore) {
  const { config, roles, ledger } = core;
  const application = roles.some((role) => role !== 'console') ? await openApplication(core) : null;
  const temporal = await reachTemporal(core);
  const receiverUrl = await openReceiver(core, application, temporal);
  let consoleUrl: string | null = null;
  const urls = {
    webhookUrl: config.webhook.url ?? (config.service.kind === 'sandbox' ? receiverUrl : null),
    consoleUrl: () => config.console.publicUrl ?? consoleUrl,
  };
  const worker = await openWorker(application, temporal, urls);
  consoleUrl = await openConsole(core, { application, temporal, worker });
  const healthUrl = worker === null || consoleUrl !== null ? null : await serveHealth(core, worker.ready);
  const sandbox = application?.builtIn ?? null;
  const shown = { receiver: receiverUrl, console: consoleUrl, sandbox: sandbox?.url ?? null };
  return {
    ...{ ledger, sandbox, client: temporal?.client ?? null, worker: worker?.worker ?? null },
    ...{ receiverUrl, consoleUrl, healthUrl },
    /** Address of the metrics; null if they are not served. */
    metricsUrl: core.telemetry.url,
    /** Addresses that the owner of a data directory wrote into it. */
    endpoints: temporal === null ? null : await publish(core, temporal, shown),
  };
}

/**
 * Connects to the configured server, or starts an embedded one for the owner of a data directory. A console alone
 * connects at its first call. Returns null if there is no server.
 */
async function reachTemporal(core: ProcessCore): Promise<ConnectedTemporal | null> {
  const temporal = await (core.config.temporal.address === null ? startOwnTemporal(core) : connectToTemporal(core));
  if (temporal === null) return null;
  const watch = watchTemporal(temporal.client, temporal.place.address, core.log);
  core.parts.add('watch of temporal', () => watch.stop());
  return temporal;
}

async function startOwnTemporal({ config, log, notify, own, onLost, parts }: ProcessCore) {
  if (own === null) return null;
  const { embeddedTemporal } = await import('../temporal/temporal-server.ts');
  const temporal = await embeddedTemporal({ config, log, notify, env: own.env, dataDir: own.dataDir.path, onLost });
  parts.addToTheEnd('temporal', () => temporal.stop());
  notify(`Temporal at ${temporal.place.address}`);
  return temporal;
}

async function connectToTemporal({ config, roles, parts }: ProcessCore): Promise<ConnectedTemporal> {
  const { address, namespace, uiUrl: ui } = config.temporal;
  const place = placeOf(address ?? '', config.temporal);
  const isConsole = roles.every((role) => role === 'console');
  const client = isConsole ? lazyClient(place, namespace) : await connectClient(place, namespace);
  const stop = () => client.connection.close();
  parts.add('temporal', stop);
  return { place, ui, client, stop };
}

async function openReceiver(
  { roles, parts, receiverPort: port }: ProcessCore,
  application: OpenApplication | null,
  temporal: ConnectedTemporal | null,
): Promise<string | null> {
  if (application === null || temporal === null || !roles.includes('receiver')) return null;
  const receiver = await startReceiver({ ...application, client: () => temporal.client, port });
  parts.add('receiver', () => receiver.close());
  return receiver.url;
}

/** Loads the worker's code only in a process with this role. */
async function openWorker(
  application: OpenApplication | null,
  temporal: ConnectedTemporal | null,
  urls: { readonly webhookUrl: string | null; readonly consoleUrl: () => string | null },
): Promise<OpenWorker | null> {
  if (application === null || temporal === null || !application.roles.includes('worker')) return null;
  const { openWorker: open } = await import('../worker/start-worker.ts');
  return open(application, { ...temporal, ...urls });
}

/** Loads the console's code only in a process with this role. */
async function openConsole(core: ProcessCore, shown: ShownParts): Promise<string | null> {
  if (!core.roles.includes('console')) return null;
  const { startProcessConsole } = await import('../console/console-parts.ts');
  return startProcessConsole(core, shown);
}

/** Answers probes of a worker without a console. Returns null if HEALTH_PORT is `none`. */
async function serveHealth({ config, parts }: ProcessCore, ready: () => Promise<Readiness>): Promise<string | null> {
  if (config.health === null) return null;
  const { host, explicit } = config.health;
  const port = await choosePort(config.health);
  const server = await startHealthServer({ host, port }, ready).catch((error: unknown) => {
    // Workers that start at once may choose the same free port; without a configured port, take any.
    if (explicit || !(error instanceof LoteError) || error.code !== 'port-taken') throw error;
    return startHealthServer({ host, port: 0 }, ready);
  });
  parts.add('health', () => server.close());
  return server.url;
}

/** Publishes the addresses for other processes of the data directory, and watches that this process still owns it. */
async function publish(
  { config, ledger, parts, own, onLost }: ProcessCore,
  temporal: ConnectedTemporal,
  urls: Pick<Endpoints, 'receiver' | 'console' | 'sandbox'>,
): Promise<Endpoints | null> {
  if (own === null) return null;
  const { lock, dataDir } = own;
  const endpoints: Endpoints = {
    ...{ owner: lock.owner, pid: process.pid, ledgerId: ledger.id, reportsDir: config.reportsDir },
    ...{ temporalAddress: temporal.place.address, temporalNamespace: config.temporal.namespace },
    ...{ taskQueue: config.taskQueue, temporalUi: temporal.ui, ...urls },
  };
  await writeEndpoints(dataDir, endpoints);
  parts.add('endpoints', () => removeEndpoints(dataDir));
  const watch = watchDirectory(dataDir.path, lock, onLost);
  parts.add('watch of the data directory', () => watch.stop());
  return endpoints;
}
