import { setTimeout as sleep } from 'node:timers/promises';
import { WorkflowExecutionAlreadyStartedError, type WorkflowHandle } from '@temporalio/client';
import { LoteError } from '../../domain/errors.ts';
import type { nightlyIssuance } from '../../../workflows/nightly-issuance.ts';
import { namedInput } from '../temporal/named-input.ts';
import { requireOwnRun } from '../temporal/own-run.ts';
import {
  describeNightlyRuns,
  nightlyScheduleId,
  triggerNightlyRun,
  type NightlyPlace,
  type NightlyState,
} from './nightly-schedule.ts';
import { requireOwnSchedule } from './require-own-schedule.ts';

export type NightlyRunHandle = WorkflowHandle<typeof nightlyIssuance>;

/** A triggered night appears in the schedule's list in less than 4 s; a busy server gets longer. */
const LOOKS = 120;
const POLL_INTERVAL_MS = 500;

/** A night that runs already is joined: that is what the schedule's overlap rule would make of another one. */
export async function startNightlyRun(place: NightlyPlace): Promise<{ handle: NightlyRunHandle; joined: boolean }> {
  const before = await describeNightlyRuns(place);
  if (before === null) return startUnscheduled(place);
  await requireOwnSchedule(place.client, before.scheduleId, place.taskQueue);
  const running = await runningNightlyRun(place, before);
  if (running !== null) return { handle: running, joined: true };
  const known = new Set(before.recent.map(({ workflowId }) => workflowId));
  await triggerNightlyRun(place);
  for (let look = 0; look < LOOKS; look += 1) {
    const recent = (await describeNightlyRuns(place))?.recent ?? [];
    const fresh = recent.find(({ workflowId }) => !known.has(workflowId));
    if (fresh !== undefined) return { handle: handleOf(place, fresh.workflowId), joined: false };
    await sleep(POLL_INTERVAL_MS);
  }
  throw new LoteError(
    'temporal-unavailable',
    `Starting a night: schedule ${nightlyScheduleId(place.application)} was triggered, but no run appeared in a minute. Look at the schedule in the Temporal UI.`,
  );
}

/** The schedule's list of what runs lags behind its list of what it started: both are looked at. */
async function runningNightlyRun(place: NightlyPlace, state: NightlyState): Promise<NightlyRunHandle | null> {
  const latest = state.recent.at(-1)?.workflowId;
  for (const workflowId of [...state.running, ...(latest === undefined ? [] : [latest])]) {
    const handle = handleOf(place, workflowId);
    if ((await handle.describe().catch(() => null))?.status.name === 'RUNNING') return handle;
  }
  return null;
}

/** Nights are off: the same workflow with the same input, without a schedule. @throws LoteError `ledger-foreign` */
async function startUnscheduled(place: NightlyPlace): Promise<{ handle: NightlyRunHandle; joined: boolean }> {
  const { client, taskQueue, application } = place;
  const workflowId = `${application === 'default' ? '' : `${application}-`}nightly-issuance-now`;
  try {
    const handle = await client.workflow.start<typeof nightlyIssuance>('nightlyIssuance', {
      workflowId,
      taskQueue,
      args: [namedInput(place)],
      workflowIdConflictPolicy: 'FAIL',
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      staticSummary: 'issues what was dropped',
    });
    return { handle, joined: false };
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    await requireOwnRun(place, workflowId, 'Joining the night that runs');
    return { handle: handleOf(place, workflowId), joined: true };
  }
}

function handleOf({ client }: NightlyPlace, workflowId: string): NightlyRunHandle {
  return client.workflow.getHandle<typeof nightlyIssuance>(workflowId);
}
