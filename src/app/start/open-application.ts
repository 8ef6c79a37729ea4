import { Calibration } from '../../../activities/calibration.ts';
import { firstInvoicesWaitMs } from '../../domain/answer-counts.ts';
import type { Notify } from '../../platform/files.ts';
import type { Config } from '../config/config.ts';
import { dataDirAt, type DataDir } from '../data-dir/data-dir.ts';
import type { DirectoryLock } from '../data-dir/directory-lock.ts';
import { choosePort } from '../process/free-port.ts';
import type { Logger } from '../process/logger.ts';
import { startMetricsServer } from '../process/probe-server.ts';
import { VERSION } from '../version.ts';
import { fileStore } from '../../sandbox/store.ts';
import { DEFAULT_API_KEY, startSandbox, type Sandbox, type SandboxOptions } from '../../sandbox/sandbox.ts';
import { createInvoicingService, type InvoicingService } from '../../service/client.ts';
import { NO_TELEMETRY, type Telemetry } from '../../health/telemetry.ts';
import { rememberService, requireKnownService, type AccountGuard } from '../account/account-guard.ts';
import { openLedger } from '../account/open-ledger.ts';
import { authenticatedService, createServiceTime } from '../account/open-service.ts';
import { openSendingGuard } from '../account/sending-guard.ts';
import { profileDigestOf, readProfile } from '../account/read-profile.ts';
import type { StartedParts } from './stop-in-reverse.ts';
import { tested } from './test-points.ts';

/**
 * A role of a process: polling task queues, receiving webhooks, or serving the console. The metrics call a process with
 * all roles `embedded`. A worker or receiver without INVOICING_BASE_URL also runs the sandbox.
 */
export type Role = 'worker' | 'receiver' | 'console';

/** A data directory that this process owns alone. */
export interface OwnDirectory {
  readonly dataDir: DataDir;
  readonly lock: DirectoryLock;
  readonly env: NodeJS.ProcessEnv;
}

/** Settings of a process at its start, with callbacks. */
export interface ProcessStart {
  readonly config: Config;
  readonly log: Logger;
  readonly roles: readonly Role[];
  /** Null if the process uses a shared ledger and a shared Temporal server; it then reports only in its log. */
  readonly own: OwnDirectory | null;
  /** Receives lines for a waiting person; default: the log. */
  readonly notify?: Notify | undefined;
  /** Faults of the built-in sandbox. */
  readonly sandbox?: Pick<SandboxOptions, 'faults' | 'seed'> | undefined;
  /** Runs after opening the service and before Temporal; throws to stop before anything could send. */
  readonly beforeSending?: ((service: InvoicingService) => Promise<void>) | undefined;
  /** Runs before work that another process hands over; throws to refuse the work. */
  readonly beforeHandOver?: ((service: InvoicingService) => Promise<void>) | undefined;
  /** See `WorkerPlace`. */
  readonly workflowBundle?: string | undefined;
  /** See `WorkerPlace`. */
  readonly onWork?: (() => void) | undefined;
  /** See `WorkerPlace`; omitted by a caller that must outlive the process. */
  readonly onForcedEnd?: (() => void) | undefined;
}

/** The core that every part of a process uses. */
export type ProcessCore = Awaited<ReturnType<typeof openCore>>;

/** Opens telemetry and the ledger. `parts` receives each started part; `onLost` is called when an essential part is lost for good. */
export async function openCore(
  start: ProcessStart,
  { parts, onLost }: { readonly parts: StartedParts; readonly onLost: (error: unknown) => void },
) {
  const { config, log, own, roles, notify = (line) => log.info(line) } = start;
  // A wrong profile stops the start before anything is opened.
  const profile = readProfile(config);
  const dataDir = own?.dataDir ?? dataDirAt(config.dataDir);
  const role = own === null ? (roles[0] ?? 'console') : 'embedded';
  const telemetry = await openProcessTelemetry({ config, parts, log }, role);
  notify('Opening the ledger …');
  const { databaseUrl } = config;
  const opened = await openLedger({ databaseUrl, directory: dataDir.ledger, measure: telemetry.onStatement });
  parts.addToTheEnd('ledger', () => opened.close());
  const ledger = tested('ledger', opened);
  telemetry.readsFrom(ledger);
  return {
    ...{ ...start, notify, parts, onLost, dataDir, profile, ledger, telemetry },
    /** Null for the built-in sandbox, which needs no guard. */
    sending: openSendingGuard(config, { ledger }),
    receiverPort: await portOf(config, own),
  };
}

/** With port 0, the receiver itself chooses a free port, so that no other process takes the port in between. */
async function portOf({ receiver, service }: Config, own: OwnDirectory | null): Promise<number> {
  if (own === null || receiver.port === 0) return receiver.port;
  // A real service knows the receiver's address, so no other port will do.
  return choosePort({ ...receiver, explicit: receiver.explicit || service.kind === 'remote' });
}

/**
 * Opens the telemetry of this process. Without METRICS_PORT and OTEL_EXPORTER_OTLP_ENDPOINT, there is none, and its
 * code is not loaded.
 * @throws LoteError `port-taken`, `configuration-invalid`
 */
export async function openProcessTelemetry(
  { config, log, parts }: Pick<ProcessStart, 'config' | 'log'> & { readonly parts: StartedParts },
  role: Role | 'embedded',
): Promise<Telemetry> {
  const { metrics, application, serviceBaseUrl: baseUrl } = config;
  // Only workers send requests to trace.
  const traces = role === 'worker' || role === 'embedded' ? config.traces : null;
  const identity = { version: VERSION, role };
  let telemetry = NO_TELEMETRY;
  if (metrics !== null) {
    const { openMetrics } = await import('../../health/metrics/open-metrics.ts');
    const serve = (text: () => Promise<string>) => startMetricsServer(metrics, text);
    const measured = await openMetrics({ ...identity, application, baseUrl, serve });
    parts.add('metrics', () => measured.close());
    telemetry = { ...telemetry, ...measured, worker: { onSdkMetrics: measured.onSdkMetrics } };
  }
  if (traces !== null) {
    const { openTraces } = await import('../../health/traces/open-traces.ts');
    const tracing = openTraces({ ...traces, ...identity, log });
    parts.add('traces', () => tracing.close());
    telemetry = { ...telemetry, worker: { ...telemetry.worker, interceptors: tracing.interceptors } };
  }
  return telemetry;
}

/** A second GET counts as separate proof after half the wait for the first final words, or half the settle time. */
const SECOND_LOOK_SHARE = 2;

/** Opens the calibration that the receiver and the activities of one process share. */
export function openCalibration(
  parts: Pick<ProcessCore, 'config' | 'ledger' | 'profile' | 'log'> & { readonly service: InvoicingService },
  /** True if the service knows where to send events. */
  expectsEvents: boolean,
): Calibration {
  const { config, profile } = parts;
  const small = (words: readonly string[]): readonly string[] => words.map((word) => word.toLowerCase());
  const noEventsMs = firstInvoicesWaitMs(config.settleTimeoutMs);
  return new Calibration({
    ...parts,
    profileDigest: profileDigestOf(config, profile),
    rules: {
      ...{ issued: small(profile.invoice.issued), failed: small(profile.invoice.failed), expectsEvents, noEventsMs },
      secondLookMs: noEventsMs / SECOND_LOOK_SHARE,
      earlyLookMs: config.settleTimeoutMs / SECOND_LOOK_SHARE,
    },
    now: Date.now,
  });
}

/** The core with the service of this process and its calibration. `builtIn` is null if the service is real. */
export type OpenApplication = Awaited<ReturnType<typeof openApplication>>;

const CLOCK_BEHIND =
  "the service's clock is ahead of this machine's: if this one is wrong, set it (NTP); until then keys count as that much older";

/**
 * Opens the configured service or starts the built-in sandbox, and requires the account that the ledger knows. If the
 * ledger is older than the send log, nothing may be sent: an owner refuses to start, a worker starts and says so in its
 * log and in each waiting batch, and a receiver never sends.
 */
export async function openApplication(core: ProcessCore) {
  const { config, profile, ledger, sending, telemetry, parts, log } = core;
  const { application } = config;
  const builtIn = config.service.kind === 'sandbox' ? await startOwnSandbox(core) : null;
  const remote = config.service.kind === 'remote' ? config.service : null;
  const guard = (): AccountGuard => ({ ledger, application, account: remote, profile, now: Date.now() });
  const requireKnown = (): Promise<void> => requireKnownService(guard());
  /** See `requireKnownService` and `SendingGuard`. */
  const requireAccount = async (): Promise<void> => {
    await requireKnown();
    await sending?.require();
  };
  await (core.own === null ? requireKnown() : requireAccount());
  if (core.own === null && core.roles.includes('worker'))
    await sending?.require().catch((err: unknown) => log.error('nothing is sent', { application, err }));
  const time = createServiceTime((aheadMs) =>
    log.warn(CLOCK_BEHIND, { application, aheadSeconds: Math.round(aheadMs / 1_000) }),
  );
  const account = remote ?? { baseUrl: builtIn?.url ?? '', apiKey: DEFAULT_API_KEY };
  telemetry.sendsTo(account.baseUrl);
  const opened = createInvoicingService({
    ...{ ...account, profile, application, measure: telemetry.onRequest },
    // All processes of the ledger share this rate.
    rate: ledger.sharedRate(account.baseUrl, profile.limits.requestsPerSecond),
    // The built-in sandbox uses this machine's clock.
    ...(remote !== null && { heard: (at) => time.heard(at) }),
  });
  const service = authenticatedService(tested('service', opened), () => rememberService(guard()));
  parts.add('service', () => service.close());
  await core.beforeSending?.(service);
  const calibration = openCalibration({ ...core, service }, config.webhook.url !== null || builtIn !== null);
  return { ...core, builtIn, service, requireAccount, time, calibration };
}

/** The sandbox plays another company, so it keeps its own books and never uses the ledger's database. */
async function startOwnSandbox({ config, dataDir, log, receiverPort, parts, sandbox }: ProcessCore): Promise<Sandbox> {
  const { host, port } = config.sandbox;
  const started = await startSandbox({
    ...{ host, log },
    port: port === 0 ? 0 : await choosePort({ ...config.sandbox, reserved: [receiverPort] }),
    store: fileStore({ directory: dataDir.sandbox }),
    ...sandbox,
  });
  parts.addToTheEnd('sandbox', () => started.close());
  return started;
}
