import type { Client } from '@temporalio/client';
import type { InvoicingService } from '../../domain/ports/invoicing-service.ts';
import type { Ledger } from '../../domain/ports/ledger/ledger.ts';
import type { Config } from '../../runtime/config/config.ts';
import { removeEndpoints, writeEndpoints, type Endpoints } from '../../runtime/data-dir/endpoints-file.ts';
import type { DirectoryLock } from '../../runtime/data-dir/directory-lock.ts';
import { watchDirectory } from '../../runtime/data-dir/watch-directory.ts';
import type { Logger } from '../../runtime/process/logger.ts';
import { choosePort, type PortWish } from '../../runtime/process/free-port.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { readProfiles } from '../account/read-profiles.ts';
import { deliveryAddress } from '../receiver/webhook-address.ts';
import type { HandOver } from '../operator/hand-over.ts';
import { openTemporal } from '../temporal/embedded-temporal.ts';
import { startEmbeddedConsole } from './embedded-console.ts';
import { openSharedCore, type ApplicationCore, type OwnedPlace, type SharedCore } from './process-core.ts';
import { openEach, type OpenApplication, type SandboxBehaviour } from './open-applications.ts';
import { startWatchedWorker } from '../worker/watched-worker.ts';
import { logMisfits } from '../profile-fit/misfit-log.ts';
import { startReceiving } from '../receiver/start-receiver.ts';
import type { RunningWorker } from '../worker/start-worker.ts';

/** Everything a data directory's owner runs. */
export interface Stack {
  readonly ledger: Ledger;
  readonly service: InvoicingService;
  readonly client: Client;
  readonly worker: RunningWorker;
  readonly sandbox: Sandbox | null;
  readonly endpoints: Endpoints;
  /** Where the metrics are served; null: nowhere. */
  readonly metricsUrl: string | null;
  /** What other processes of the data directory bring. */
  readonly handOver: HandOver;
  /** Rejects when a part without which nothing goes on is lost for good; never resolves before the stack is stopped. */
  readonly lost: Promise<never>;
  stop(): Promise<void>;
  /** For an end that waits for nothing: what would live on without this process. */
  kill(): void;
}

/** What a data directory's owner is started with, and what is asked of the service before anything is sent. */
export interface EmbeddedOptions {
  readonly config: Config;
  /** Those of an installation with several; `config` is then what they have in common. Left out: `config` is the only one. */
  readonly applications?: readonly [Config, ...Config[]];
  readonly log: Logger;
  /** A line for the person who waits. */
  readonly notify: (line: string) => void;
  readonly env: NodeJS.ProcessEnv;
  readonly sandbox?: SandboxBehaviour;
  /**
   * Runs for each application, between its service and Temporal; throws to stop before anything is started that could
   * send.
   */
  readonly beforeSending?: (service: InvoicingService, application: string) => Promise<void>;
  /** See `WorkerPlace`. */
  readonly onWork?: () => void;
  /** See `WorkerPlace`; left out by a caller that must outlive the stack. */
  readonly onForcedEnd?: () => void;
  /** Runs before work that another process hands over; throws to refuse it. */
  readonly beforeHandOver: (service: InvoicingService) => Promise<void>;
}

/**
 * Starts the parts of a data directory's owner, each as the ones before it are there. What was started is in
 * `place.parts`, also when this throws.
 */
export async function startStack(options: EmbeddedOptions, place: OwnedPlace, lock: DirectoryLock): Promise<Stack> {
  const { config, dataDir, parts, notify, log } = place;
  let endTemporal = (): void => undefined;
  const { applications, core, receiverPort, sandbox } = await openApplications(options, place, () => endTemporal());
  const [{ service, core: firstCore }] = applications;
  const ledger = options.applications === undefined ? firstCore.ledger : core.opened;

  const temporal = await openTemporal({ config, log, notify, env: options.env, dataDir: dataDir.path });
  parts.addToTheEnd('temporal', () => temporal.stop());
  endTemporal = temporal.kill;
  notify(`Temporal at ${temporal.place.address}`);
  const { client } = temporal;

  const receiver = await startReceiving(applications, {
    ...{ config, client, port: receiverPort, log },
    telemetry: core.telemetry,
  });
  parts.add('receiver', () => receiver.close());
  if (sandbox !== null) await registerByHand(sandbox, firstCore, config.webhook.url ?? receiver.url);
  for (const one of applications) {
    const misfits = logMisfits({ ...one.core, service: one.service });
    parts.add('log of misfits', () => misfits.stop());
  }

  let consoleUrl: string | null = null;
  const {
    worker,
    lost: withoutTemporal,
    folders,
  } = await startWatchedWorker(core, {
    ...{ applications, temporal },
    webhookUrlOf: (one) => one.webhook.url ?? (sandbox === null ? null : receiver.url),
    consoleUrl: () => config.console.publicUrl ?? consoleUrl,
    ...(options.onWork !== undefined && { onWork: options.onWork }),
    ...(options.onForcedEnd !== undefined && { onForcedEnd: options.onForcedEnd }),
  });
  const { web, handOver } = await startEmbeddedConsole(place, {
    ...{ applications, ledger, temporal, worker, folders },
    receiver: { url: receiver.url, port: receiverPort },
    beforeHandOver: options.beforeHandOver,
  });
  consoleUrl = web.url;

  const endpoints: Endpoints = {
    ...{ owner: lock.owner, pid: process.pid, ledgerId: ledger.id, reportsDir: config.reportsDir },
    temporalAddress: temporal.place.address,
    temporalNamespace: config.temporal.namespace,
    taskQueue: config.taskQueue,
    temporalUi: temporal.ui,
    ...{ receiver: receiver.url, console: web.url, sandbox: sandbox?.url ?? null },
  };
  await writeEndpoints(dataDir, endpoints);
  parts.add('endpoints', () => removeEndpoints(dataDir));
  const directory = watchDirectory({ path: dataDir.path, owner: lock.owner });
  parts.add('watch of the data directory', () => directory.release());
  const lost = Promise.race([temporal.lost, withoutTemporal, lostWorker(worker), directory.lost]);
  lost.catch(() => undefined);
  return {
    ...{ ledger, service, client, worker, sandbox, endpoints, handOver, lost },
    metricsUrl: core.telemetry.url,
    stop: () => parts.stop(),
    kill: () => temporal.kill(),
  };
}

interface OpenApplications {
  readonly applications: readonly [OpenApplication, ...OpenApplication[]];
  readonly core: SharedCore;
  readonly receiverPort: number;
  /** Of the only application, when no service was given. */
  readonly sandbox: Sandbox | null;
}

/** The ledger, and each application with its service. */
async function openApplications(
  options: EmbeddedOptions,
  place: OwnedPlace,
  killTemporal: () => void,
): Promise<OpenApplications> {
  const configs: readonly [Config, ...Config[]] = options.applications ?? [place.config];
  // A profile that is wrong stops the start before anything is opened.
  const profiled = readProfiles(configs);
  const core = await openSharedCore(place, killTemporal);
  // 0 means any free port: the receiver itself asks for it, so that nobody takes it in between.
  const { receiver } = place.config;
  const receiverPort = receiver.port === 0 ? 0 : await choosePort(withRealService(receiver, configs[0]));
  const opened = await openEach(core, profiled, {
    reserved: [receiverPort],
    ...(options.sandbox !== undefined && { behaviour: options.sandbox }),
    ...(options.beforeSending !== undefined && { beforeSending: options.beforeSending }),
  });
  return { ...opened, core, receiverPort };
}

/** Where the profile says that somebody registers the address at the service, nobody but this process can do so at the sandbox. */
async function registerByHand(sandbox: Sandbox, { config, profile }: ApplicationCore, url: string): Promise<void> {
  const [secret] = config.webhook.secrets;
  if (profile.webhook.register || secret === undefined) return;
  await sandbox.registerByHand(deliveryAddress(url, profile.signature.kind, secret) ?? url, secret);
}

/** A worker that was stopped has left; one that leaves by itself has died, and nothing goes on without it. */
async function lostWorker(worker: RunningWorker): Promise<never> {
  await worker.ended;
  return new Promise(() => undefined);
}

/** A real service knows the address of the receiver: then no other port will do. */
function withRealService(receiver: Config['receiver'], { service }: Config): PortWish {
  return { ...receiver, explicit: receiver.explicit || service.kind === 'remote' };
}
