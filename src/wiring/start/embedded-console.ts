import { setTimeout as sleep } from 'node:timers/promises';
import type { ConsoleActions } from '../../console/console-options.ts';
import { LOOPBACK_HOSTS, startConsole, type RunningConsole } from '../../console/start-console.ts';
import { LoteError } from '../../domain/errors.ts';
import type { InvoicingService } from '../../domain/ports/invoicing-service.ts';
import type { Ledger } from '../../domain/ports/ledger/ledger.ts';
import { writeConsoleToken } from '../../runtime/config/console-token.ts';
import { choosePort } from '../../runtime/process/free-port.ts';
import { consoleOfSeveral, type ConsoleAccount, type ConsoleOfSeveral } from '../console/console-of-several.ts';
import { consoleParts } from '../console/console-parts.ts';
import { createHandOver, type HandOver } from '../operator/hand-over.ts';
import { purgeBatches } from '../operator/purge-batches.ts';
import { createCommonFolders, type CommonFolders } from '../folders/common-folders.ts';
import { bringIn, resolveInput } from '../files/input-files.ts';
import { answeredCall } from '../temporal/answered-call.ts';
import { awaitResult } from '../temporal/await-result.ts';
import { batchOfFile, startBatch } from '../temporal/batch-starter.ts';
import type { ConnectedTemporal } from '../temporal/embedded-temporal.ts';
import type { OwnedPlace } from './process-core.ts';
import type { OpenApplication } from './open-applications.ts';
import type { RunningWorker } from '../worker/start-worker.ts';
import { workerReadiness } from '../worker/worker-readiness.ts';

export interface EmbeddedConsoleOptions {
  readonly applications: readonly [OpenApplication, ...OpenApplication[]];
  readonly ledger: Ledger;
  readonly temporal: ConnectedTemporal;
  readonly receiver: { readonly url: string; readonly port: number };
  readonly worker: RunningWorker;
  readonly folders: CommonFolders | null;
  /** Runs before work that another process hands over; throws to refuse it. */
  readonly beforeHandOver: (service: InvoicingService) => Promise<void>;
}

export interface EmbeddedConsole {
  readonly web: RunningConsole;
  /** What other processes of the data directory bring, through the console. */
  readonly handOver: HandOver;
}

/** The console, where people watch and other processes of the data directory hand over their work. */
export async function startEmbeddedConsole(
  place: OwnedPlace,
  options: EmbeddedConsoleOptions,
): Promise<EmbeddedConsole> {
  const { config, dataDir, parts } = place;
  const { receiver } = options;
  const { signIn } = config.console;
  const handOver = createEmbeddedHandOver(options);
  const token = await writeConsoleToken(dataDir, config.console.token);
  const web = await startConsole({
    host: config.console.host,
    port: config.console.port === 0 ? 0 : await choosePort({ ...config.console, reserved: [receiver.port] }),
    ...shownBy(place, options, handOver),
    // Off loopback people use the token too, unless a proxy signs them in: it must be one that they chose.
    ...(config.console.token === null && signIn === null && !LOOPBACK_HOSTS.has(config.console.host) ? {} : { token }),
  });
  parts.add('console', () => web.close());
  return { web, handOver };
}

/** What the console shows and does: of the only application everything, of several what needs no choice. */
function shownBy({ config, log }: OwnedPlace, options: EmbeddedConsoleOptions, handOver: HandOver) {
  const { applications, ledger, temporal, worker, folders } = options;
  const { client, ui: temporalUi } = temporal;
  const [{ core, service }] = applications;
  const common = {
    ...{ config, ledger, client, temporalUi, log },
    run: handOver.run.bind(handOver),
    purge: purgeOf(options),
    ready: workerReadiness({ ledger, client, worker, folders }),
  };
  if (core.config.isOneOfSeveral) return consoleOfSeveral({ ...common, accounts: accountsOf(applications) });
  return consoleParts({ ...common, folders, profile: core.profile, serviceBaseUrl: service.baseUrl });
}

function accountsOf([first, ...others]: EmbeddedConsoleOptions['applications']): ConsoleOfSeveral['accounts'] {
  const accountOf = ({ core, service, requireAccount }: OpenApplication): ConsoleAccount => ({
    ...core,
    ...{ baseUrl: service.baseUrl, requireAccount },
  });
  return [accountOf(first), ...others.map(accountOf)];
}

/** What another process wants purged: of several applications, it names one. */
function purgeOf({ ledger, applications }: EmbeddedConsoleOptions): NonNullable<ConsoleActions['purge']> {
  return async ({ application: name, ...request }) => {
    const { config } = applicationNamed(applications, name).core;
    const folders = createCommonFolders({ config, ledger });
    return purgeBatches({ ledger, place: config, folders }, { ...request, now: Date.now() });
  };
}

/** Brings in the file that another process names, and starts its batch. */
function createEmbeddedHandOver(options: EmbeddedConsoleOptions): HandOver {
  const { ledger, applications, temporal, folders, beforeHandOver } = options;
  return createHandOver(async (file, { application, ...given }, { anywhere, note }) => {
    const { core, service } = applicationNamed(applications, application);
    const { inputDir } = core.config;
    await beforeHandOver(service);
    await folders?.require('input');
    const name = await bringIn(inputDir, anywhere ? file : await resolveInput(inputDir, file));
    const place = { ...core.config, client: temporal.client };
    await note((await batchOfFile(place, ledger, name)).batchId, file);
    const start = () => startBatch(place, { ...given, file: name, ledgerId: ledger.id });
    const { batchId, handle } = await answeredCall(temporal.client, 'Starting a batch', start);
    const ended = awaitResult(handle, { pause: (ms) => sleep(ms, undefined, { ref: false }), onAway: () => undefined });
    return { batchId, workflowId: handle.workflowId, ended };
  });
}

/** @throws LoteError `usage` with the names that there are */
function applicationNamed(applications: readonly OpenApplication[], name: string | undefined): OpenApplication {
  const found = applications.find(({ core }) =>
    core.config.isOneOfSeveral ? core.config.application === name : name === undefined,
  );
  if (found !== undefined) return found;
  const names = applications.map(({ core }) => core.config.application).join(', ');
  throw new LoteError(
    'usage',
    `Taking over a command: it must name one of the applications of the process that owns the data directory (${names}), found ${JSON.stringify(name ?? 'none')}. Add --application NAME.`,
  );
}
