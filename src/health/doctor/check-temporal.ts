import type { Client, Connection } from '@temporalio/client';
import type { Config } from '../../app/config/config.ts';
import { besideOwner, ownerAt, readEndpoints } from '../../app/data-dir/endpoints-file.ts';
import { dataDirAt } from '../../app/data-dir/data-dir.ts';
import { connectTemporal, placeOf } from '../../app/temporal/temporal-connection.ts';
import { clockOf, describeNightlyRuns, overdueNight } from '../../app/schedules/nightly-schedule.ts';
import { describeReconciliation, reconciliationId } from '../../app/schedules/reconciliation-schedule.ts';
import { livePollers, workerScope } from '../../app/temporal/queue-pollers.ts';
import { GRPC_STATUS, temporalRefusal } from '../../app/temporal/calls.ts';
import { searchAttributesOf } from '../../app/temporal/search-attributes.ts';
import { errorText, fine, trouble, unknown, type Check } from './check.ts';
import type { Examination } from './check-ledger.ts';

const CONNECT_PATIENCE_MS = 5_000;
const NOT_KNOWN =
  'not known to this process: Lote starts a server of its own when it runs; of a shared one, TEMPORAL_ADDRESS must be set for it too';

/** Checks the configured Temporal server, or the server of the process that owns the data directory. */
export async function checkTemporal(parts: Examination): Promise<readonly Check[]> {
  const { temporal, dataDir } = parts.config;
  const owner = ownerAt(temporal, await readEndpoints(dataDirAt(dataDir)));
  const address = temporal.address ?? owner?.temporalAddress ?? null;
  if (address === null) return [unknown('temporal', NOT_KNOWN)];
  let connection: Connection;
  try {
    connection = await connectTemporal(placeOf(address, temporal), CONNECT_PATIENCE_MS);
  } catch (error) {
    const cure = 'Start the Temporal server, or correct TEMPORAL_ADDRESS (and TEMPORAL_TLS_…, TEMPORAL_API_KEY).';
    return [trouble('temporal', errorText(error), cure)];
  }
  try {
    const { Client: TemporalClient } = await import('@temporalio/client');
    const namespace = owner?.temporalNamespace ?? temporal.namespace;
    const client = new TemporalClient({ connection, namespace });
    const config = besideOwner(parts.config, owner);
    return await checkServer(client, { ...parts, config, address });
  } finally {
    await connection.close();
  }
}

interface ServerParts extends Examination {
  readonly address: string;
}

async function checkServer(client: Client, parts: ServerParts): Promise<readonly Check[]> {
  const { serverVersion } = await client.workflowService.getSystemInfo({});
  const server = fine('temporal', `${parts.address} answers; server ${serverVersion}`);
  const namespace = await namespaceCheck(client);
  if (namespace.state === 'trouble') return [server, namespace];
  const others = [
    searchAttributesCheck(client),
    workersCheck(client, parts),
    reconciliationCheck(client, parts.config),
    nightsCheck(client, parts.config),
  ];
  return [server, namespace, ...(await Promise.all(others))];
}

async function namespaceCheck(client: Client): Promise<Check> {
  const { namespace } = client.options;
  const name = 'temporal namespace';
  try {
    const { config } = await client.workflowService.describeNamespace({ namespace });
    const days = Number(config?.workflowExecutionRetentionTtl?.seconds ?? 0) / 86_400;
    return fine(name, `${namespace}; histories are kept for ${days} days`);
  } catch (error) {
    if (temporalRefusal(error)?.code !== GRPC_STATUS.notFound)
      return trouble(name, errorText(error), 'Check TEMPORAL_API_KEY and its rights.');
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

async function workersCheck(client: Client, { config, ledger }: ServerParts): Promise<Check> {
  const { taskQueue, databaseUrl } = config;
  const name = 'worker';
  const start = databaseUrl === null ? 'lote up' : 'lote worker';
  const polling = await livePollers(client, taskQueue);
  const scope = ledger === null ? null : workerScope(ledger.id, config);
  const foreign = scope === null ? [] : polling.filter((one) => one.scope !== null && one.scope !== scope);
  if (foreign.length > 0) {
    const whose = [...new Set(foreign.map((one) => one.scope))].join(', ');
    return trouble(
      name,
      `Workers of another ledger or application work on task queue ${taskQueue}: ${whose}; this one is ${scope}.`,
      'Stop them, or give this Lote a task queue of its own (LOTE_TASK_QUEUE).',
    );
  }
  // During an upgrade, workers of several builds poll.
  const builds = polling.map(({ build }) => build ?? 'no build');
  const counts = [...new Set(builds)].map((one) => `${builds.filter((build) => build === one).length} of ${one}`);
  return polling.length > 0
    ? fine(
        name,
        `${polling.length} on task queue ${taskQueue}${counts.length > 1 ? `: ${counts.toSorted().join(', ')}` : ''}`,
      )
    : trouble(
        name,
        `No worker polls task queue ${taskQueue}.`,
        `Start one: ${start}. If one runs, correct LOTE_TASK_QUEUE.`,
      );
}

/** Limits the note of a paused schedule, because an operator may have written a long text. */
const LONGEST_NOTE = 300;

/** Checks the reconciliation schedule: without it, no run settles the invoices that a POST or a delivery left open. */
async function reconciliationCheck(client: Client, config: Config): Promise<Check> {
  const name = 'reconciliation';
  const byHand = 'Until then do it by hand: lote reconcile';
  const state = await describeReconciliation(client, config);
  if (state === null)
    return (await livePollers(client, config.taskQueue)).length > 0
      ? trouble(
          name,
          'A worker polls, and none is scheduled: unknown and pending invoices stay so.',
          `Start Lote again: each start schedules it, and its log says why it could not. ${byHand}`,
        )
      : unknown(name, 'None is scheduled yet: the first start of a worker does it.');
  if (!state.paused) return fine(name, 'scheduled');
  const note = (state.note ?? 'no reason is given').slice(0, LONGEST_NOTE);
  const { namespace } = client.options;
  return trouble(
    name,
    `It is paused, so unknown and pending invoices stay so, and a night waits for a batch whose run has ended: ${note}`,
    `Let it go on: temporal schedule toggle --namespace ${namespace} --schedule-id ${reconciliationId(config)} --unpause. ${byHand}`,
  );
}

async function nightsCheck(client: Client, config: Config): Promise<Check> {
  const name = 'nights';
  const { taskQueue, application } = config;
  const state = await describeNightlyRuns({ client, taskQueue, application });
  if (state === null) return fine(name, 'off');
  if (state.taskQueue !== taskQueue)
    return trouble(
      name,
      `They start on task queue ${state.taskQueue}, and this Lote works on ${taskQueue}: nothing that is dropped here goes out at night.`,
      `Take them here: lote nightly on. It refuses where another installation works on ${state.taskQueue}: give each a namespace, or an application name, of its own.`,
    );
  if (state.paused)
    return trouble(
      name,
      `They are paused: ${(state.note ?? 'no reason is given').slice(0, LONGEST_NOTE)}`,
      `Look at the last run, then let them go again: lote nightly on`,
    );
  const overdue = overdueNight(state, Date.now());
  if (overdue !== null)
    return trouble(
      name,
      `A night that began at ${overdue.beganAt.toISOString()} has not ended, and no other one begins before: ${overdue.workflowId}.`,
      'It waits for a batch that has not ended: its workflow in the Temporal UI names the file, and the page of the batch says what it waits for.',
    );
  const at = clockOf(state);
  return fine(name, `${at === null ? 'at times of their own' : `at ${at}`} ${state.timezone ?? 'UTC'}`);
}
