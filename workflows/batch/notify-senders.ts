import { proxyLocalActivities } from '@temporalio/workflow';
import type { ControlInput } from '../../activities/batch/record-control.ts';
import type { Activities } from '../../activities/index.ts';

/**
 * A local activity: slices may take all slots of other activities for a minute, but never its slots, and it costs one
 * event. An operator waits for it, so it soon gives up a ledger that is away; the refresh that follows writes the same
 * order, however long that takes.
 */
const { recordControl } = proxyLocalActivities<Activities>({
  startToCloseTimeout: '2s',
  scheduleToCloseTimeout: '3s',
  retry: { initialInterval: '100ms', backoffCoefficient: 2, maximumInterval: '500ms' },
});

/**
 * Notifies every process that sends for the batch of what an operator wants. False: the ledger did not answer in time, or has another word that it takes
 * for a later one.
 */
export async function notifySenders(control: ControlInput): Promise<boolean> {
  try {
    return await recordControl(control);
  } catch {
    return false;
  }
}
