import type { Client, WorkflowExecutionDescription } from '@temporalio/client';
import type { RunDirectory } from '../../../activities/deps.ts';
import type { BatchStop } from '../../domain/records/batch-record.ts';
import { unlessUnknown } from './calls.ts';

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
    async stopOf({ workflowId, runId }) {
      for (const run of [await describe(workflowId, runId), await describe(workflowId)]) {
        if (run?.status.name === 'TERMINATED' || run?.status.name === 'CANCELLED') return stopOf(client, run);
      }
      return null;
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
