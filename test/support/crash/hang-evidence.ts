import type { Client } from '@temporalio/client';

const LONGEST_TEXT = 300;

/** What Temporal knows of every open workflow of a task queue: for the log of a test whose batch does not end. */
export async function hangEvidence(client: Client, taskQueue: string): Promise<string> {
  const lines: string[] = [];
  for await (const { workflowId, runId } of client.workflow.list({
    query: `ExecutionStatus = 'Running' AND TaskQueue = '${taskQueue}'`,
  })) {
    lines.push(await evidenceOf(client, { workflowId, runId }));
  }
  return lines.length === 0 ? 'no workflow is open' : lines.join('\n');
}

async function evidenceOf(client: Client, execution: { workflowId: string; runId: string }): Promise<string> {
  const { namespace } = client.options;
  const described = await client.workflowService.describeWorkflowExecution({ namespace, execution });
  const { pendingActivities, pendingWorkflowTask, pendingChildren, workflowExecutionInfo } = described;
  const found = {
    events: Number(workflowExecutionInfo?.historyLength ?? 0),
    task: pendingWorkflowTask ?? null,
    children: pendingChildren?.length ?? 0,
    activities: pendingActivities ?? [],
  };
  return `${execution.workflowId}: ${shortened(JSON.stringify(found))}`;
}

/** A failure's stack is long, and may be repeated in each activity. */
function shortened(text: string): string {
  return text.replaceAll(/"stackTrace":"(?:[^"\\]|\\.)*"/g, '"stackTrace":"…"').slice(0, LONGEST_TEXT * 10);
}
