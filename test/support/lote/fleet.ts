import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { inject, onTestFinished } from 'vitest';
import type { SandboxOptions } from '../../../src/sandbox/sandbox.ts';
import { acquireTemporalBinary } from '../../../src/app/temporal/temporal-binary.ts';
import { startTemporalServer } from '../../../src/app/temporal/temporal-server.ts';
import { startBatch, type BatchHandle } from '../../../src/app/temporal/batch-starter.ts';
import { ownPort } from '../servers/own-port.ts';
import { postgresDatabase } from '../servers/postgres-database.ts';
import { isInvoice } from '../servers/service-front.ts';
import { runLote } from './lote-command.ts';
import { sandboxEnv, servedPlace, sharedTemporal } from './running-lote.ts';

/** The line that each process writes when it is up. */
const UP = { worker: 'Worker on task queue', receiver: 'Receiver http', console: 'Console http' } as const;

export type Role = keyof typeof UP;

export interface FleetOptions {
  /** Processes that run when the test begins; default: none. */
  readonly roles?: readonly Role[];
  readonly sandbox?: Partial<SandboxOptions>;
  /** Merged over the default service profile. */
  readonly profile?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string>>;
  /** The servers of ledger and Temporal; default: those of the test run. */
  readonly postgresUrl?: string;
  readonly temporalAddress?: string;
  /** True if Lote may send a whole file at once, as after the first batches of an installation. */
  readonly isProved?: boolean;
  /** True if the service sends webhooks. Default: true if one of the roles is the receiver. */
  readonly webhooks?: boolean;
}

/** Lote as processes with their own database, Temporal task queue and folders. A sandbox outlives and judges them. */
export type Fleet = Awaited<ReturnType<typeof startFleet>>;
export type OwnTemporal = Awaited<ReturnType<typeof ownTemporal>>;

/** Starts a Temporal server that a test may end, or whose data it may delete. */
export async function ownTemporal() {
  const dataDir = await mkdtemp(join(tmpdir(), 'lote-temporal-'));
  const binary = await acquireTemporalBinary(() => undefined, process.env);
  const server = await startTemporalServer({
    ...{ binary, dataDir, namespace: 'default', port: await ownPort(), uiPort: await ownPort() },
  });
  return {
    ...{ server, dataDir },
    /** Starts the server again on its file and ports after it was killed. */
    async restart() {
      // Retries as a supervisor does: the start fails if another process takes a chosen port first.
      while (!(await server.restart())) console.error('The Temporal server of a test did not come up: once more');
    },
    async stop() {
      await server.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Starts a fleet for one test. It is removed after the test, even if the test times out. */
export function testFleet(options: FleetOptions = {}): Promise<Fleet> {
  return startFleet(options, onTestFinished);
}

/** Starts a fleet for several tests, which must remove it. Passes its removal to `atEnd` before it starts a process. */
export async function startFleet(
  options: FleetOptions = {},
  atEnd: (remove: () => Promise<void>) => void = () => undefined,
) {
  const hasReceiver = options.webhooks ?? options.roles?.includes('receiver') === true;
  const [place, database] = await Promise.all([
    servedPlace({ settleMs: 20, ...options.sandbox }, profileOf(options, hasReceiver)),
    postgresDatabase(options.postgresUrl ?? inject('postgresUrl') ?? ''),
  ]);
  const { all, front, inputDir, file } = place;
  const address = options.temporalAddress ?? inject('temporalAddress');
  const connection = Connection.lazy({ address });
  let removing: Promise<void> | undefined;
  const removeAll = async (): Promise<void> => {
    await place.remove();
    await connection.close();
    await database.drop();
  };
  const remove = (): Promise<void> => (removing ??= removeAll());
  atEnd(remove);
  const clientEnv = {
    ...{ ...place.env, ...sharedTemporal(), TEMPORAL_ADDRESS: address, DATABASE_URL: database.url },
    ...options.env,
  };
  const { WEBHOOK_URL, ...serviceEnv } = await sandboxEnv(place, front);
  const env: Readonly<Record<string, string>> = {
    ...{ ...serviceEnv, ...clientEnv, SERVICE_PROFILE: place.serviceProfile, LOTE_DROP_STABLE_FOR: '50ms' },
    ...(hasReceiver && { WEBHOOK_URL }),
    ...options.env,
  };
  if (options.isProved === true) await runLote(['confirm-service', '--profile'], env);
  type More = Readonly<Record<string, string>>;
  /** Starts a process without waiting until it is up; `command` is the script of another build. */
  const start = (role: Role, more?: More, command?: string) => all.start([role], { ...env, ...more }, command);
  const up = async (role: Role, more?: More, command?: string) => {
    const process = start(role, more, command);
    await process.said(UP[role]);
    return process;
  };
  const client = new Client({ connection });
  const startDropped = async (name: string): Promise<BatchHandle> => {
    const { LOTE_TASK_QUEUE: taskQueue, LOTE_APPLICATION: application } = clientEnv;
    return (await startBatch({ client, taskQueue, application, inputDir }, { file: name })).handle;
  };
  return {
    ...{ ...place, place, database, client, env, clientEnv, start, up, startDropped, remove },
    /** One process for each requested role, in that order. */
    parts: await Promise.all((options.roles ?? []).map((role) => up(role))),
    /** Runs a command as a client, which knows no service. */
    run: (...parameters: readonly string[]) => all.start(parameters, clientEnv).end,
    /** Writes a file of `invoices` invoices and starts its batch. Files of two series have no common invoice. */
    async startFile(name: string, invoices: number, series = 'F') {
      await file(name, { invoices, series });
      return startDropped(name);
    },
    /** When each POST of an invoice began, in the order of arrival. */
    postTimes: () => front.requests.filter(isInvoice).map(({ at }) => at),
  };
}

/** Without webhooks only a GET brings the final words, so Lote must poll soon. */
function profileOf({ profile }: FleetOptions, hasReceiver: boolean): object {
  const polls = hasReceiver ? {} : { pollEverySeconds: 2 };
  return { ...profile, limits: { ...polls, ...(profile?.['limits'] as object | undefined) } };
}
