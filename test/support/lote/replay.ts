import { Worker } from '@temporalio/worker';
import { inject } from 'vitest';
import type { TestStack } from './stack.ts';

/** Replays the history of a workflow: a worker that starts later goes on with it. Rejects where it cannot. */
export async function replay({ client }: TestStack, workflowId: string): Promise<void> {
  const history = await client.workflow.getHandle(workflowId).fetchHistory();
  await Worker.runReplayHistory({ workflowBundle: { codePath: inject('workflowBundle') } }, history, workflowId);
}
