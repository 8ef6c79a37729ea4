import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import { until } from '../until.ts';

/** As Temporal removes a run whose retention is over, or a person in its UI. Returns once Temporal does not know it any more. */
export async function removeRun(client: Client, workflowId: string, runId: string): Promise<void> {
  const { namespace } = client.options;
  await client.workflowService.deleteWorkflowExecution({ namespace, workflowExecution: { workflowId, runId } });
  const run = client.workflow.getHandle(workflowId, runId);
  await until(async () => {
    try {
      await run.describe();
      return false;
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return true;
      throw error;
    }
  });
}
