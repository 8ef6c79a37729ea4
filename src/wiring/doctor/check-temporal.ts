import type { Client, Connection } from '@temporalio/client';
import { errorCode } from '../../file-system/error-code.ts';
import type { Config } from '../../runtime/config/config.ts';
import { besideOwner, ownerAt, readEndpoints } from '../../runtime/data-dir/endpoints-file.ts';
import { dataDirAt } from '../../runtime/data-dir/data-dir.ts';
import { connectTemporal } from '../../runtime/temporal/temporal-connection.ts';
import { profileMark } from '../profile-fit/profile-mark.ts';
import { placeOf } from '../temporal/connect-client.ts';
import { POLLED_WITHIN_MS, queuePollers, withOtherProfile, workerScope } from '../temporal/queue-pollers.ts';
import { searchAttributesOf } from '../temporal/search-attributes.ts';
import { checkOpenRuns } from './check-open-runs.ts';
import { checkSchedules, checkWithoutFile, WITHOUT_FILE, type ScheduleParts } from './check-schedules.ts';
import { errorText, fine, trouble, unknown, within, type Check } from './check.ts';

const CONNECT_PATIENCE_MS = 5_000;
const NOT_KNOWN =
  'not known to this process: Lote starts a server of its own when it runs; of a shared one, TEMPORAL_ADDRESS must be set for it too';
/** Without them no schedule can be asked for. */
const NEEDED = new Set(['temporal', 'temporal namespace']);
/** gRPC status NOT_FOUND. */
const NOT_FOUND = '5';

/** What the checks of Temporal are made with. */
export interface TemporalParts extends ScheduleParts {
  /** What the applications have in common. */
  readonly common: Config;
  /** null: the ledger cannot be read. */
  readonly ledgerId: string | null;
  /** For all of it, from the call on. */
  readonly patienceMs: number;
}

/** Looks at the Temporal server that is configured, or at that of the owner of the data directory. */
export async function checkTemporal(parts: TemporalParts): Promise<readonly Check[]> {
  const until = performance.now() + parts.patienceMs;
  const { temporal, dataDir } = parts.common;
  const owner = ownerAt(temporal, await readEndpoints(dataDirAt(dataDir)));
  const address = temporal.address ?? owner?.temporalAddress ?? null;
  if (address === null) return [unknown('temporal', NOT_KNOWN)];
  let connection: Connection;
  try {
    connection = await connectTemporal(await placeOf(address, temporal), CONNECT_PATIENCE_MS);
  } catch (error) {
    const cure = 'Start the Temporal server, or correct TEMPORAL_ADDRESS (and TEMPORAL_TLS_…, TEMPORAL_API_KEY).';
    return [trouble('temporal', errorText(error), cure)];
  }
  try {
    const { Client: TemporalClient } = await import('@temporalio/client');
    const namespace = owner?.temporalNamespace ?? temporal.namespace;
    const client = new TemporalClient({ connection, namespace });
    const common = besideOwner(parts.common, owner);
    const [first, ...others] = parts.applications;
    const applications: ScheduleParts['applications'] = [
      besideOwner(first, owner),
      ...others.map((one) => besideOwner(one, owner)),
    ];
    return await checkAll(client, { ...parts, common, applications, address, patienceMs: until - performance.now() });
  } finally {
    await connection.close();
  }
}

interface ServerParts extends TemporalParts {
  readonly address: string;
}

/**
 * The server, the schedules of applications that are here, and those of others, at the same time: what does not answer hides nothing of the rest, and a namespace
 * has as many schedules as its other users want.
 */
async function checkAll(client: Client, parts: ServerParts): Promise<readonly Check[]> {
  const [server, openRuns, withoutFile, schedules] = await Promise.all([
    within('temporal', parts.patienceMs, async () => checkServer(client, parts)),
    within('open batches', parts.patienceMs, async () =>
      checkOpenRuns(client, parts.common.taskQueue, await parts.open),
    ),
    within(WITHOUT_FILE, parts.patienceMs, async () => checkWithoutFile(client, parts)),
    within('schedules', parts.patienceMs, async () => checkSchedules(client, parts)),
  ]);
  const isUsable = server.every(({ name, state }) => state !== 'trouble' || !NEEDED.has(name));
  return isUsable ? [...server, ...openRuns, ...withoutFile, ...schedules] : server;
}

async function checkServer(client: Client, parts: ServerParts): Promise<readonly Check[]> {
  const { serverVersion } = await client.workflowService.getSystemInfo({});
  const server = fine('temporal', `${parts.address} answers; server ${serverVersion}`);
  const namespace = await namespaceCheck(client);
  if (namespace.state === 'trouble') return [server, namespace];
  return [server, namespace, await searchAttributesCheck(client), await workersCheck(client, parts)];
}

async function namespaceCheck(client: Client): Promise<Check> {
  const { namespace } = client.options;
  const name = 'temporal namespace';
  try {
    const { config } = await client.workflowService.describeNamespace({ namespace });
    const days = Number(config?.workflowExecutionRetentionTtl?.seconds ?? 0) / 86_400;
    return fine(name, `${namespace}; histories are kept for ${days} days`);
  } catch (error) {
    if (grpcCode(error) !== NOT_FOUND) return trouble(name, errorText(error), 'Check TEMPORAL_API_KEY and its rights.');
    return trouble(
      name,
      `The server has no namespace ${namespace}.`,
      `Correct TEMPORAL_NAMESPACE, or make it: temporal operator namespace create --namespace ${namespace}`,
    );
  }
}

async function searchAttributesCheck(client: Client): Promise<Check> {
  const name = 'search attributes';
  const attributes = await searchAttributesOf(client).catch(() => null);
  if (attributes === null) return unknown(name, 'The server does not say which it has.');
  const { missing, ofOtherTypes } = attributes;
  if (missing.length === 0 && ofOtherTypes.length === 0) return fine(name, 'all three are registered');
  const found = [
    ...(missing.length === 0 ? [] : [`missing: ${missing.join(', ')}`]),
    ...(ofOtherTypes.length === 0 ? [] : [`of another type: ${ofOtherTypes.join(', ')}`]),
  ];
  return trouble(
    name,
    `Batches cannot be found in the Temporal UI; ${found.join('; ')}.`,
    'A worker that may do so registers them when it starts; else: temporal operator search-attribute create --name LoteBatch --type Keyword --name LoteState --type Keyword --name LoteProblems --type Int',
  );
}

async function workersCheck(client: Client, { common, applications, ledgerId }: ServerParts): Promise<Check> {
  const { taskQueue, databaseUrl } = common;
  const name = 'worker';
  const start = databaseUrl === null ? 'lote up' : 'lote worker';
  const since = Date.now() - POLLED_WITHIN_MS;
  const polling = (await queuePollers(client, taskQueue)).filter(({ lastPolledAt }) => lastPolledAt >= since);
  const scope = ledgerId === null ? null : workerScope(ledgerId, applications[0]);
  const foreign = scope === null ? [] : polling.filter((one) => one.scope !== null && one.scope !== scope);
  if (foreign.length > 0) {
    const whose = [...new Set(foreign.map((one) => one.scope))].join(', ');
    return trouble(
      name,
      `Workers of another ledger or application work on task queue ${taskQueue}: ${whose}; this one is ${scope}.`,
      'Stop them, or give this Lote a task queue of its own (LOTE_TASK_QUEUE).',
    );
  }
  const others = withOtherProfile(polling, profileMark(applications[0]));
  if (others.length > 0)
    return trouble(
      name,
      `Workers on task queue ${taskQueue} have another service profile than this process: ${others.map(({ identity }) => identity).join(', ')}.`,
      'Each reads answers, and repeats keys, by its own profile: give all the same file (SERVICE_PROFILE), and start those again that have another one. One that was killed counts for 90 s.',
    );
  return polling.length > 0
    ? fine(name, `${polling.length} on task queue ${taskQueue}`)
    : trouble(
        name,
        `Nobody works on task queue ${taskQueue}.`,
        `Start one: ${start}. If one runs, correct LOTE_TASK_QUEUE.`,
      );
}

function grpcCode(error: unknown): string {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return typeof code === 'number' ? String(code) : errorCode(error);
}
