import { LOOPBACK_HOSTS, startConsole } from '../../console/console-app.ts';
import { writeConsoleToken } from '../data-dir/endpoints-file.ts';
import { choosePort } from '../process/free-port.ts';
import { consoleParts } from '../console/console-parts.ts';
import { createCommonFolders } from '../folders/common-folders.ts';
import { createHandOver } from '../operator/hand-over.ts';
import { createPurge } from '../operator/purge-batches.ts';
import type { ConnectedTemporal } from '../temporal/temporal-server.ts';
import type { OpenWorker } from '../worker/start-worker.ts';
import type { OpenApplication, ProcessCore } from './open-application.ts';

/** The parts of a process that its console uses. */
export interface ShownParts {
  /** Null for a console alone, which sends nothing. */
  readonly application: OpenApplication | null;
  /** Null if there is no Temporal server, so that the console only shows. */
  readonly temporal: ConnectedTemporal | null;
  readonly worker: OpenWorker | null;
}

/** Starts the console for people. Other processes of an owner's data directory also hand over their work through it. */
export async function startProcessConsole(
  core: ProcessCore,
  { application, temporal, worker }: ShownParts,
): Promise<string> {
  const { config, ledger, log, profile, parts, own, receiverPort } = core;
  const { host, port } = config.console;
  const client = temporal?.client ?? null;
  const folders = worker === null ? createCommonFolders({ config, ledger, log }) : worker.folders;
  const service = application?.service ?? null;
  const isAsked = own !== null && client !== null && service !== null;
  const web = await startConsole({
    host,
    port: own === null || port === 0 ? port : await choosePort({ ...config.console, reserved: [receiverPort] }),
    ...consoleParts({
      ...{ config, ledger, profile, log, client, folders, temporalUi: temporal?.ui ?? null },
      serviceBaseUrl: service?.baseUrl ?? config.serviceBaseUrl,
      ...(isAsked && {
        asked: {
          run: createHandOver({ ...{ config, client, ledger, folders, service }, beforeHandOver: core.beforeHandOver }),
          purge: createPurge(config, ledger),
          rowsOfRefs: ({ batchId, refs }) => ledger.rowsOfRefs(batchId, refs),
        },
      }),
      ...(worker !== null && { ready: worker.ready }),
    }),
    ...(await tokenOf(core)),
  });
  parts.add('console', () => web.close());
  return web.url;
}

/** Other processes of an owner's data directory read the token from there. */
async function tokenOf({ config, own }: ProcessCore): Promise<{ readonly token?: string }> {
  const { token: given, signIn, host } = config.console;
  if (own === null) return given === null ? {} : { token: given };
  const token = await writeConsoleToken(own.dataDir, given);
  // Off loopback, people use the token too, unless a proxy signs them in: so an operator must choose it.
  return given === null && signIn === null && !LOOPBACK_HOSTS.has(host) ? {} : { token };
}
