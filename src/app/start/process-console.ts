import { setTimeout as sleep } from 'node:timers/promises';
import { LOOPBACK_HOSTS, startConsole } from '../../console/start-console.ts';
import { writeConsoleToken } from '../data-dir/endpoints-file.ts';
import { choosePort } from '../process/free-port.ts';
import { consoleParts } from '../console/console-parts.ts';
import { resolveInput, bringIn } from '../files/input-files.ts';
import { createCommonFolders } from '../folders/common-folders.ts';
import { createHandOver, startFile, type HandOver } from '../operator/hand-over.ts';
import { createPurge } from '../operator/purge-batches.ts';
import { answeredCall, awaitResult } from '../temporal/calls.ts';
import { batchOfFile } from '../temporal/batch-starter.ts';
import type { ConnectedTemporal } from '../temporal/temporal-server.ts';
import type { WatchedWorker } from '../worker/start-worker.ts';
import type { Readiness } from '../../domain/records/readiness.ts';
import type { OpenApplication, ProcessCore } from './open-application.ts';

/** Parts of the process when its console starts. */
export interface ShownParts {
  /** Null for a console alone, which sends nothing. */
  readonly application: OpenApplication | null;
  /** Null if there is no Temporal server, so that the console only shows. */
  readonly temporal: ConnectedTemporal | null;
  /** Null if the process has no worker. */
  readonly watched: (WatchedWorker & { readonly ready: () => Promise<Readiness> }) | null;
}

/** Starts the console for people. Other processes of an owner's data directory also hand over their work through it. */
export async function startProcessConsole(
  core: ProcessCore,
  shown: ShownParts,
): Promise<{ readonly url: string; readonly handOver: HandOver | null }> {
  const { config, ledger, log, profile, parts, own, receiverPort } = core;
  const { application, temporal, watched } = shown;
  const { host, port } = config.console;
  const handOver = own === null ? null : createProcessHandOver(core, shown);
  const web = await startConsole({
    host,
    port: own === null || port === 0 ? port : await choosePort({ ...config.console, reserved: [receiverPort] }),
    ...consoleParts({
      ...{ config, ledger, profile, log, client: temporal?.client ?? null, temporalUi: temporal?.ui ?? null },
      folders: watched === null ? createCommonFolders({ config, ledger, log }) : watched.folders,
      serviceBaseUrl: application?.service.baseUrl ?? config.serviceBaseUrl,
      ...(handOver !== null && {
        asked: {
          run: (request, access) => handOver.run(request, access),
          purge: createPurge(config, ledger),
          rowsOfRefs: ({ batchId, refs }) => ledger.rowsOfRefs(batchId, refs),
        },
      }),
      ...(watched !== null && { ready: watched.ready }),
    }),
    ...(await tokenOf(core)),
  });
  parts.add('console', () => web.close());
  return { url: web.url, handOver };
}

/** Other processes of an owner's data directory read the token from there. */
async function tokenOf({ config, own }: ProcessCore): Promise<{ readonly token?: string }> {
  const { token: given, signIn, host } = config.console;
  if (own === null) return given === null ? {} : { token: given };
  const token = await writeConsoleToken(own.dataDir, given);
  // Off loopback, people use the token too, unless a proxy signs them in: so an operator must choose it.
  return given === null && signIn === null && !LOOPBACK_HOSTS.has(host) ? {} : { token };
}

/** Brings in a file that another process names, and starts its batch. */
function createProcessHandOver(core: ProcessCore, { application, temporal, watched }: ShownParts): HandOver | null {
  if (application === null || temporal === null) return null;
  const { config, ledger } = core;
  const { client } = temporal;
  return createHandOver(async (file, options, { anywhere, note }) => {
    await core.beforeHandOver?.(application.service);
    await watched?.folders?.require('input');
    const path = anywhere ? file : await resolveInput(config.inputDir, file);
    await note((await batchOfFile(config, ledger, await bringIn(config.inputDir, path))).batchId, file);
    const start = () => startFile({ config, client, ledgerId: ledger.id }, path, options);
    const { batchId, handle } = await answeredCall(client, 'Starting a batch', start);
    const ended = awaitResult(handle, { pause: (ms) => sleep(ms, undefined, { ref: false }), onAway: () => undefined });
    return { batchId, workflowId: handle.workflowId, ended };
  });
}
