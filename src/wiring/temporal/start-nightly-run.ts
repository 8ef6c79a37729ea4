import { setTimeout as sleep } from 'node:timers/promises';
import { WorkflowExecutionAlreadyStartedError, type WorkflowHandle } from '@temporalio/client';
import { LoteError } from '../../domain/errors.ts';
import type { nightlyIssuance } from '../../../workflows/nightly-issuance.ts';
import { describeNights, nightScheduleId, triggerNight, type NightPlace, type NightState } from './nightly-schedule.ts';

export type NightHandle = WorkflowHandle<typeof nightlyIssuance>;

/** A triggered night appears in the schedule's list in less than 4 s; a busy server gets longer. */
const LOOKS = 120;
const LOOK_EVERY_MS = 500;

/** A night that runs already is joined: that is what the schedule's overlap rule would make of another one. */
export async function startNight(place: NightPlace): Promise<{ handle: NightHandle; joined: boolean }> {
  const before = await describeNights(place);
  if (before === null) return startUnscheduled(place);
  const running = await runningNight(place, before);
  if (running !== null) return { handle: running, joined: true };
  const known = new Set(before.recent.map(({ workflowId }) => workflowId));
  await triggerNight(place);
  for (let look = 0; look < LOOKS; look += 1) {
    const recent = (await describeNights(place))?.recent ?? [];
    const fresh = recent.find(({ workflowId }) => !known.has(workflowId));
    if (fresh !== undefined) return { handle: handleOf(place, fresh.workflowId), joined: false };
    await sleep(LOOK_EVERY_MS);
  }
  throw new LoteError(
    'temporal-unavailable',
    `Starting a night: schedule ${nightScheduleId(place.application)} was triggered, but no run appeared in a minute. Look at the schedule in the Temporal UI.`,
  );
}

/** The schedule's list of what runs lags behind its list of what it started: both are looked at. */
async function runningNight(place: NightPlace, state: NightState): Promise<NightHandle | null> {
  const latest = state.recent.at(-1)?.workflowId;
  for (const workflowId of [...state.running, ...(latest === undefined ? [] : [latest])]) {
    const handle = handleOf(place, workflowId);
    if ((await handle.describe().catch(() => null))?.status.name === 'RUNNING') return handle;
  }
  return null;
}

/** Nights are off: the same workflow with the same input, without a schedule. */
async function startUnscheduled(place: NightPlace): Promise<{ handle: NightHandle; joined: boolean }> {
  const { client, taskQueue, application } = place;
  const workflowId = `${application === 'default' ? '' : `${application}-`}nightly-issuance-now`;
  try {
    const handle = await client.workflow.start<typeof nightlyIssuance>('nightlyIssuance', {
      workflowId,
      taskQueue,
      args: [{}],
      workflowIdConflictPolicy: 'FAIL',
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      staticSummary: 'issues what was dropped',
    });
    return { handle, joined: false };
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    return { handle: handleOf(place, workflowId), joined: true };
  }
}

function handleOf({ client }: NightPlace, workflowId: string): NightHandle {
  return client.workflow.getHandle<typeof nightlyIssuance>(workflowId);
}
