import { mkdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { LoteError } from '../../domain/errors.ts';
import { LOOPBACK_HOSTS, startConsole } from '../../console/start-console.ts';
import type { InvoicingService } from '../../domain/ports/invoicing-service.ts';
import type { Ledger } from '../../domain/ports/ledger.ts';
import type { Config } from '../../runtime/config/config.ts';
import { acquireDirectoryLock, type DirectoryLock } from '../../runtime/data-dir/directory-lock.ts';
import { writeConsoleToken } from '../../runtime/config/console-token.ts';
import { openDataDir, type DataDir } from '../../runtime/data-dir/data-dir.ts';
import { removeEndpoints, writeEndpoints, type Endpoints } from '../../runtime/config/endpoints.ts';
import { choosePort, type PortWish } from '../../runtime/temporal/free-port.ts';
import type { Logger } from '../../runtime/process/logger.ts';
import { DEFAULT_API_KEY, startSandbox, type Sandbox, type SandboxOptions } from '../../sandbox/sandbox.ts';
import { pgliteStore } from '../../sandbox/store/pglite-store.ts';
import { activityDeps } from './activity-deps.ts';
import { authenticatedService } from '../account/authenticated-service.ts';
import { awaitBatch } from '../temporal/await-batch.ts';
import { startBatch } from '../temporal/batch-starter.ts';
import { createCommonFolders } from '../reports/common-folders.ts';
import { consoleParts } from '../operator/console-parts.ts';
import { createCrashPoints } from './crash-points.ts';
import { openTemporal } from '../temporal/embedded-temporal.ts';
import { killSelf, stopSelf } from './end-self.ts';
import { createHandOver, type HandOver } from '../operator/hand-over.ts';
import { bringIn, resolveInput } from '../reports/input-files.ts';
import { rememberService, requireKnownService, type AccountGuard } from '../account/account-guard.ts';
import { openLedger } from '../account/open-ledger.ts';
import { openSharedService, readProfile, type ServiceAccount } from '../account/open-service.ts';
import { workerScope, queuePollers, sayGoodbye } from '../temporal/queue-pollers.ts';
import { purgeBatches } from '../operator/purge-batches.ts';
import { requireReportsFolder } from '../reports/require-reports-folder.ts';
import { requireOwnQueue } from '../temporal/require-own-queue.ts';
import { ensureReconciliationSchedule } from '../temporal/reconciliation-schedule.ts';
import { ensureSearchAttributes } from '../temporal/search-attributes.ts';
import { startReceiver } from './start-receiver.ts';
import { startWorker, type RunningWorker } from './start-worker.ts';
import { watchTemporal } from '../temporal/watch-temporal.ts';
import { watchStuckBatches, workerReadiness } from './worker-health.ts';
import { startedParts } from './stop-in-reverse.ts';

/** Everything a data directory's owner runs. */
export interface Stack {
  readonly ledger: Ledger;
  readonly service: InvoicingService;
  readonly client: Client;
  readonly worker: RunningWorker;
  readonly sandbox: Sandbox | null;
  readonly endpoints: Endpoints;
  /** What other processes of the data directory bring. */
  readonly handOver: HandOver;
  /** Rejects when a part without which nothing goes on is lost for good; never resolves before the stack is stopped. */
  readonly lost: Promise<never>;
  stop(): Promise<void>;
  /** For an end that waits for nothing: what would live on without this process. */
  kill(): void;
}

export interface EmbeddedOptions {
  readonly config: Config;
  readonly log: Logger;
  /** A line for the person who waits. */
  readonly notify: (line: string) => void;
  readonly env: NodeJS.ProcessEnv;
  /** Of the built-in sandbox: what goes wrong in it. */
  readonly sandbox?: Pick<SandboxOptions, 'faults' | 'seed'>;
  /** Runs between the service and Temporal; throws to stop before anything is started that could send. */
  readonly beforeSending?: (service: InvoicingService) => Promise<void>;
  /** Runs before work that another process hands over; throws to refuse it. */
  readonly beforeHandOver: (service: InvoicingService) => Promise<void>;
}

/**
 * Starts what is not given from outside, in one order: lock, ledger, sandbox, Temporal, receiver, worker; stops in the reverse. Null when
 * another process owns the data directory.
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<Stack | null> {
  const { config, log } = options;
  const dataDir = await openDataDir(config.dataDir);
  await mkdir(config.inputDir, { recursive: true });
  await requireReportsFolder(config);
  const lock = await acquireDirectoryLock(dataDir.path);
  if (lock === null) return null;
  const parts = startedParts(log);
  parts.add('lock', () => lock.release());
  try {
    return await startParts(options, { dataDir, lock }, parts);
  } catch (error) {
    await parts.stop();
    throw error;
  }
}

async function startParts(
  options: EmbeddedOptions,
  { dataDir, lock }: { readonly dataDir: DataDir; readonly lock: DirectoryLock },
  parts: ReturnType<typeof startedParts>,
): Promise<Stack> {
  const { config, log, notify } = options;
  const profile = readProfile(config);
  notify('Opening the ledger …');
  let endTemporal = (): void => undefined;
  const crash = createCrashPoints({
    crashAt: config.crashAt,
    killTemporal: () => endTemporal(),
    ...{ killSelf, stopSelf },
  });
  const ledger = crash.ledger(await openLedger({ databaseUrl: config.databaseUrl, directory: dataDir.ledger }));
  parts.add('ledger', () => ledger.close());

  // 0 means any free port: the receiver itself asks for it, so that nobody takes it in between.
  const receiverPort = config.receiver.port === 0 ? 0 : await choosePort(withRealService(config));
  const sandbox =
    config.service.kind === 'sandbox'
      ? await startOwnSandbox({ config, dataDir, log, reserved: [receiverPort] }, options.sandbox)
      : null;
  if (sandbox !== null) parts.add('sandbox', () => sandbox.close());
  const account = accountOf(config, sandbox);
  const { application } = config;
  const known = config.service.kind === 'sandbox' ? null : account;
  const guard = (): AccountGuard => ({ ledger, application, account: known, profile, now: Date.now() });
  const isKnown = (): Promise<boolean> => requireKnownService(guard());
  await isKnown();
  const service = authenticatedService({
    service: crash.service(openSharedService(config, account, { profile, ledger })),
    isKnown,
    remember: () => rememberService(guard()),
  });
  parts.add('service', () => service.close());
  await options.beforeSending?.(service);

  const temporal = await openTemporal({ config, log, notify, env: options.env, dataDir: dataDir.path });
  parts.add('temporal', () => temporal.stop());
  endTemporal = temporal.kill;
  notify(`Temporal at ${temporal.place.address}`);
  const client = temporal.client;

  const receiver = await startReceiver({
    config,
    port: receiverPort,
    ledger,
    service,
    profile,
    client: () => client,
    crash,
    log,
  });
  parts.add('receiver', () => receiver.close());
  const ownWebhookUrl = sandbox === null ? null : receiver.url;

  notify('Starting the worker …');
  const { taskQueue } = config;
  await requireOwnQueue({
    taskQueue,
    scope: workerScope(ledger.id, application),
    pollers: () => queuePollers(client, taskQueue),
    pause: (ms) => sleep(ms),
    notify,
  });
  const webhookUrl = config.webhook.url ?? ownWebhookUrl;
  let consoleUrl: string | null = null;
  const folders = createCommonFolders({ config, ledger, log });
  await folders?.join();
  const deps = activityDeps({
    ...{ config, ledger, folders, service, profile, client, requireAccount: isKnown, webhookUrl, crash, log },
    searchable: await ensureSearchAttributes(client, log),
    consoleUrl: () => config.console.publicUrl ?? consoleUrl,
  });
  const worker = await startWorker(deps, {
    temporal: temporal.place,
    namespace: config.temporal.namespace,
    taskQueue,
    // A server of our own leaves with its worker.
    ...(config.temporal.address === null
      ? {}
      : { sayGoodbye: (identity: string) => sayGoodbye(client, taskQueue, identity) }),
  });
  parts.add('worker', () => worker.stop());
  await ensureReconciliationSchedule(client, config, log);
  const stuck = watchStuckBatches({ ledger, client, application, log });
  parts.add('watch of stuck batches', () => stuck.stop());
  const watch = watchTemporal(client, temporal.place.address, log);
  parts.add('watch of temporal', () => watch.stop());

  const handOver = createHandOver(async (file, given, { anywhere }) => {
    await options.beforeHandOver(service);
    await folders?.require('input');
    const name = await bringIn(config.inputDir, anywhere ? file : await resolveInput(config.inputDir, file));
    const place = { client, taskQueue, application: config.application, inputDir: config.inputDir };
    const { batchId, handle } = await startBatch(place, { ...given, file: name, ledgerId: ledger.id });
    const ended = awaitBatch(handle, { pause: (ms) => sleep(ms, undefined, { ref: false }), onAway: () => undefined });
    return { batchId, workflowId: handle.workflowId, ended };
  });
  const token = await writeConsoleToken(dataDir, config.console.token);
  const web = await startConsole({
    host: config.console.host,
    port: config.console.port === 0 ? 0 : await choosePort({ ...config.console, reserved: [receiverPort] }),
    ...consoleParts({
      config,
      ledger,
      folders,
      client,
      profile,
      serviceBaseUrl: service.baseUrl,
      temporalUi: temporal.ui,
      receiverUrl: receiver.url,
      run: (request, access) => handOver.run(request, access),
      purge: (request) => purgeBatches({ ledger, dataDir: config.dataDir, folders }, { ...request, now: Date.now() }),
      ready: workerReadiness({ ledger, client, worker, folders }),
      log,
    }),
    // Off loopback people use the token too: it must be one that they chose.
    ...(config.console.token === null && !LOOPBACK_HOSTS.has(config.console.host) ? {} : { token }),
  });
  parts.add('console', () => web.close());
  consoleUrl = web.url;

  const endpoints: Endpoints = {
    owner: lock.owner,
    pid: process.pid,
    temporalAddress: temporal.place.address,
    temporalNamespace: config.temporal.namespace,
    temporalUi: temporal.ui,
    ledgerId: ledger.id,
    reportsDir: config.reportsDir,
    receiver: receiver.url,
    console: web.url,
    sandbox: sandbox?.url ?? null,
  };
  await writeEndpoints(dataDir, endpoints);
  parts.add('endpoints', () => removeEndpoints(dataDir));
  const lost = Promise.race([temporal.lost, lostWorker(worker)]);
  lost.catch(() => undefined);
  return {
    ...{ ledger, service, client, worker, sandbox, endpoints, handOver, lost },
    stop: () => parts.stop(),
    kill: () => temporal.kill(),
  };
}

/** A worker that was stopped has left; one that leaves by itself has died, and nothing goes on without it. */
async function lostWorker(worker: RunningWorker): Promise<never> {
  await worker.ended;
  return new Promise(() => undefined);
}

/** A real service was told where we listen: then no other port will do. */
function withRealService({ receiver, service }: Config): PortWish {
  return { ...receiver, explicit: receiver.explicit || service.kind === 'remote' };
}

function accountOf(config: Config, sandbox: Sandbox | null): ServiceAccount {
  if (config.service.kind === 'remote') return config.service;
  if (sandbox !== null) return { baseUrl: sandbox.url, apiKey: DEFAULT_API_KEY };
  throw new LoteError('internal', 'Neither a service nor the sandbox is there; this is a mistake in Lote.');
}

/** The sandbox keeps its own books, never in the ledger's database: it plays somebody else. */
async function startOwnSandbox(
  place: {
    config: Config;
    dataDir: DataDir;
    log: Logger;
    reserved: readonly number[];
  },
  behaviour: EmbeddedOptions['sandbox'],
): Promise<Sandbox> {
  const { config, dataDir, log, reserved } = place;
  return startSandbox({
    host: config.sandbox.host,
    port: config.sandbox.port === 0 ? 0 : await choosePort({ ...config.sandbox, reserved }),
    store: pgliteStore({ directory: dataDir.sandbox }),
    log: log,
    ...behaviour,
  });
}
