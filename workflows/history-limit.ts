import { workflowInfo } from '@temporalio/workflow';
import { hasPatch } from './has-patch.ts';

/**
 * Temporal ends a run at 51,200 events. A run that waits looks again and again, at 11 to 15 events each time, and from here on goes on in a new run
 * of the same workflow: more events than an ordinary page comes to, and few to replay.
 */
const MOST_EVENTS = 2_000;

/** Asked where nothing is under way. The marker is written together with the new run, so that older histories never meet it. */
export function historyIsLong(): boolean {
  return workflowInfo().historyLength >= MOST_EVENTS && hasPatch('go-on-in-a-new-run');
}
