import { setTimeout as sleep } from 'node:timers/promises';
import { LOOPBACK_HOSTS, startConsole, type RunningConsole } from '../../console/start-console.ts';
import type { InvoicingService } from '../../domain/ports/invoicing-service.ts';
import { writeConsoleToken } from '../../runtime/config/console-token.ts';
import { choosePort } from '../../runtime/temporal/free-port.ts';
import { consoleParts } from '../operator/console-parts.ts';
import { createHandOver, type HandOver } from '../operator/hand-over.ts';
import { purgeBatches } from '../operator/purge-batches.ts';
import type { CommonFolders } from '../reports/common-folders.ts';
import { bringIn, resolveInput } from '../reports/input-files.ts';
import { awaitBatch } from '../temporal/await-batch.ts';
import { startBatch } from '../temporal/batch-starter.ts';
import type { ConnectedTemporal } from '../temporal/embedded-temporal.ts';
import type { EmbeddedCore } from './embedded-core.ts';
import type { RunningWorker } from './start-worker.ts';
import { workerReadiness } from './worker-health.ts';

export interface EmbeddedConsoleOptions {
  readonly service: InvoicingService;
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
  core: EmbeddedCore,
  options: EmbeddedConsoleOptions,
): Promise<EmbeddedConsole> {
  const { config, dataDir, profile, ledger, parts, log } = core;
  const { service, temporal, receiver, worker, folders } = options;
  const { client } = temporal;
  const { signIn } = config.console;
  const handOver = createEmbeddedHandOver(core, options);
  const token = await writeConsoleToken(dataDir, config.console.token);
  const web = await startConsole({
    host: config.console.host,
    port: config.console.port === 0 ? 0 : await choosePort({ ...config.console, reserved: [receiver.port] }),
    ...consoleParts({
      ...{ config, ledger, folders, client, profile, log },
      serviceBaseUrl: service.baseUrl,
      temporalUi: temporal.ui,
      run: (request, access) => handOver.run(request, access),
      purge: (request) => purgeBatches({ ledger, dataDir: config.dataDir, folders }, { ...request, now: Date.now() }),
      ready: workerReadiness({ ledger, client, worker, folders }),
    }),
    // Off loopback people use the token too, unless a proxy signs them in: it must be one that they chose.
    ...(config.console.token === null && signIn === null && !LOOPBACK_HOSTS.has(config.console.host) ? {} : { token }),
  });
  parts.add('console', () => web.close());
  return { web, handOver };
}

/** Brings in the file that another process names, and starts its batch. */
function createEmbeddedHandOver({ config, ledger }: EmbeddedCore, options: EmbeddedConsoleOptions): HandOver {
  const { service, temporal, folders, beforeHandOver } = options;
  const { taskQueue, application, inputDir } = config;
  return createHandOver(async (file, given, { anywhere }) => {
    await beforeHandOver(service);
    await folders?.require('input');
    const name = await bringIn(inputDir, anywhere ? file : await resolveInput(inputDir, file));
    const place = { client: temporal.client, taskQueue, application, inputDir };
    const { batchId, handle } = await startBatch(place, { ...given, file: name, ledgerId: ledger.id });
    const ended = awaitBatch(handle, { pause: (ms) => sleep(ms, undefined, { ref: false }), onAway: () => undefined });
    return { batchId, workflowId: handle.workflowId, ended };
  });
}
