import type { Client, WorkflowExecutionDescription } from '@temporalio/client';
import type { RunDirectory } from '../../../activities/deps.ts';
import type { BatchStop } from '../../domain/records/batch-record.ts';
import { GRPC_STATUS, temporalRefusal, unlessUnknown } from './calls.ts';

/** Asks Temporal whether the run that holds a batch is open. A run whose workflow Temporal no longer knows counts as ended. */
export function createRunDirectory(client: Client): RunDirectory {
  return {
    async isOpen(workflowId, runId, asker) {
      if (runId === asker) return false;
      if ((await describe(workflowId, runId))?.status.name === 'RUNNING') return true;
      const latest = await describe(workflowId);
      return latest?.status.name === 'RUNNING' && latest.runId !== asker;
    },
    async isSwitchedOff(workflowId, runId) {
      const run = await describe(workflowId, runId);
      const schedule = run?.searchAttributes['TemporalScheduledById']?.[0];
      if (run === null || typeof schedule !== 'string') return false;
      const found = await unlessUnknown(client.schedule.getHandle(schedule).describe());
      // A schedule that is younger than the run was created when nights were switched on again.
      return found === null || found.info.createdAt > run.startTime;
    },
    temporalId: () => temporalIdOf(client),
    async stopOf({ workflowId, runId, temporalId }) {
      const asked = await describe(workflowId, runId);
      for (const run of [asked, await describe(workflowId)]) {
        if (run?.status.name === 'TERMINATED' || run?.status.name === 'CANCELLED') return stopOf(client, run);
      }
      if (asked !== null || temporalId === null) return null;
      const now = await temporalIdOf(client);
      // Without this permission, a caller cannot tell a removed run from a lost one.
      const isRemoved = now === null || now === temporalId;
      return isRemoved ? { what: 'deleted', at: Date.now(), who: null, why: null } : null;
    },
  };

  function describe(workflowId: string, runId?: string): Promise<WorkflowExecutionDescription | null> {
    return unlessUnknown(client.workflow.getHandle(workflowId, runId).describe());
  }
}

/** Returns the operator's stop from the history of the run. */
async function stopOf(client: Client, run: WorkflowExecutionDescription): Promise<BatchStop> {
  const { events } = await client.workflow.getHandle(run.workflowId, run.runId).fetchHistory();
  const terminated = events?.at(-1)?.workflowExecutionTerminatedEventAttributes;
  const cancelled = events?.find(
    ({ workflowExecutionCancelRequestedEventAttributes: found }) => found,
  )?.workflowExecutionCancelRequestedEventAttributes;
  return {
    what: run.status.name === 'TERMINATED' ? 'terminated' : 'cancelled',
    at: run.closeTime?.getTime() ?? Date.now(),
    who: (terminated ?? cancelled)?.identity || null,
    why: terminated?.reason || cancelled?.cause || null,
  };
}

/** The caller must not wait longer. */
const PATIENCE_MS = 5_000;

/** Errors of a server, or of a proxy before it, that refuses this query to this client. */
const REFUSALS: readonly unknown[] = [
  GRPC_STATUS.permissionDenied,
  GRPC_STATUS.unimplemented,
  GRPC_STATUS.unauthenticated,
];

/**
 * Identifies a Temporal database by the UUID that the client's namespace got at its registration. A new namespace, or
 * the same one on an empty server, has another UUID. Returns null if the server does not show it to this client.
 * @throws the connection's error, also without an answer within 5 s
 */
async function temporalIdOf(client: Client): Promise<string | null> {
  const { namespace } = client.options;
  try {
    const ask = () => client.workflowService.describeNamespace({ namespace });
    const { namespaceInfo } = await client.withDeadline(Date.now() + PATIENCE_MS, ask);
    return namespaceInfo?.id || null;
  } catch (error) {
    if (REFUSALS.includes(temporalRefusal(error)?.code)) return null;
    throw error;
  }
}
