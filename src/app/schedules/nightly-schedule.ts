import {
  ScheduleAlreadyRunning,
  ScheduleOverlapPolicy,
  type Client,
  type ScheduleDescription,
  WorkflowExecutionAlreadyStartedError,
  type WorkflowHandle,
} from '@temporalio/client';
import type { nightlyIssuance } from '../../../workflows/nightly-issuance.ts';
import { LoteError } from '../../domain/errors.ts';
import { givenOnly } from '../../domain/given-only.ts';
import { requireOwnRun } from '../temporal/batch-starter.ts';
import { unlessUnknown } from '../temporal/calls.ts';
import { livePollers } from '../temporal/queue-pollers.ts';

/** Place of an application's schedule. */
export interface NightlyPlace {
  readonly client: Client;
  readonly taskQueue: string;
  readonly application: string;
}

/** Time of day at which a nightly run starts, in the time zone `timezone` (an IANA name). */
export interface NightlyTime {
  readonly hour: number;
  readonly minute: number;
  readonly timezone: string;
}

/** `catchUpMs`: after a downtime, a missed night starts only within this time after its scheduled start. */
type NightlyPlan = NightlyTime & { readonly catchUpMs: number };

/** The state of the schedule in Temporal. */
export type NightlyState = Readonly<ReturnType<typeof stateOf>>;

const DAY_MS = 86_400_000;
const WORKFLOW = 'nightlyIssuance';
const SUMMARY = 'issues what was dropped';

/** Id of the Temporal schedule of an application's nightly runs. */
export function nightlyScheduleId(application: string): string {
  return application === 'default' ? 'lote-nightly' : `${application}-lote-nightly`;
}

/** Creates the schedule, or updates an existing one to this plan and unpauses it. */
export async function scheduleNightlyRuns(place: NightlyPlace, plan: NightlyPlan): Promise<void> {
  const options = nightlySchedule(place, plan);
  try {
    await place.client.schedule.create(options);
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    await requireOwn(place);
    const { spec, action, policies, state } = options;
    await handleOf(place).update(() => ({ spec, action, policies, state: { ...state, paused: false } }));
  }
}

/**
 * Returns the schedule of nightly runs: one run at a time, missed runs are caught up, and a failed run pauses the
 * schedule until an operator has checked it.
 */
export function nightlySchedule(place: Omit<NightlyPlace, 'client'>, plan: NightlyPlan) {
  const { hour, minute, timezone, catchUpMs } = plan;
  const scheduleId = nightlyScheduleId(place.application);
  return {
    scheduleId,
    spec: { calendars: [{ hour, minute }], timezone },
    policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: catchUpMs, pauseOnFailure: true },
    action: {
      type: 'startWorkflow' as const,
      workflowType: WORKFLOW,
      workflowId: scheduleId.replace('lote-nightly', 'nightly-issuance'),
      taskQueue: place.taskQueue,
      args: [{ timezone }] satisfies Parameters<typeof nightlyIssuance>,
      staticSummary: SUMMARY,
    },
    state: { note: `Every night at ${clockOf(plan)} ${timezone}: issues what was dropped.` },
  };
}

/** Returns false without a schedule. */
export async function unscheduleNightlyRuns(place: NightlyPlace): Promise<boolean> {
  if ((await requireOwn(place)) === null) return false;
  const deleted = handleOf(place).delete();
  return (await unlessUnknown(deleted.then(() => true))) ?? false;
}

/** Returns null if there is no schedule. */
export async function describeNightlyRuns(place: NightlyPlace): Promise<NightlyState | null> {
  const found = await unlessUnknown(handleOf(place).describe());
  return found === null ? null : stateOf(found);
}

function stateOf(found: ScheduleDescription) {
  const calendar = found.spec.calendars?.[0];
  return {
    scheduleId: found.scheduleId,
    /** Task queue on which its nights start. */
    taskQueue: found.action.taskQueue,
    hour: calendar?.hour[0]?.start ?? null,
    minute: calendar?.minute[0]?.start ?? null,
    timezone: found.spec.timezone ?? null,
    catchUpMs: found.policies.catchupWindow,
    paused: found.state.paused,
    /** The reason of a pause, or else the purpose of the schedule. */
    note: found.state.note ?? null,
    nextTimes: found.info.nextActionTimes,
    recent: found.info.recentActions.map(({ scheduledAt, takenAt, action }) => ({
      scheduledAt,
      takenAt,
      workflowId: action.workflow.workflowId,
    })),
    running: found.info.runningActions.map(({ workflow }) => workflow.workflowId),
  };
}

/** Returns a night that has run for more than a day, so that Temporal skipped the next one; null if there is none. */
export function overdueNight(
  { running, recent }: Pick<NightlyState, 'running' | 'recent'>,
  now: number,
): { readonly workflowId: string; readonly beganAt: Date } | null {
  const [workflowId] = running;
  // The schedule starts no other night while this one runs.
  const beganAt = recent.at(-1)?.takenAt;
  if (workflowId === undefined || beganAt === undefined || now - beganAt.getTime() <= DAY_MS) return null;
  return { workflowId, beganAt };
}

/** Returns the start time of nights as `02:00`, or null for times that Lote did not set. */
export function clockOf({ hour, minute }: Pick<NightlyState, 'hour' | 'minute'>): string | null {
  return hour === null || minute === null
    ? null
    : [hour, minute].map((part) => String(part).padStart(2, '0')).join(':');
}

function handleOf({ client, application }: NightlyPlace) {
  return client.schedule.getHandle(nightlyScheduleId(application));
}

/**
 * Returns the state of this installation's schedule, or null without one. Refuses the schedule of another installation
 * with the same application name in this namespace: its nights would run here, or end. Lote may take over a schedule
 * whose task queue no worker polls, as after a change of this installation's `LOTE_TASK_QUEUE`.
 * @throws LoteError `ledger-foreign`
 */
async function requireOwn(place: NightlyPlace): Promise<NightlyState | null> {
  const { client, application, taskQueue } = place;
  const state = await describeNightlyRuns(place);
  const other = state?.taskQueue ?? taskQueue;
  if (other === taskQueue || !(await livePollers(client, other)).some(({ scope }) => scope !== null)) return state;
  throw new LoteError(
    'ledger-foreign',
    `Changing the nights: the schedule ${nightlyScheduleId(application)} must start work on task queue ${taskQueue}, but it does on ${other}, where another worker is. ` +
      'Nothing was changed. Where that worker is of this installation, set the same LOTE_TASK_QUEUE, or stop it and wait 90 s. Otherwise give each ' +
      `installation a namespace of its own (TEMPORAL_NAMESPACE; now both have ${client.options.namespace}).`,
  );
}

type NightlyRunHandle = WorkflowHandle<typeof nightlyIssuance>;

/**
 * Starts a night beside the schedule, or joins a running night. If the schedule starts its own night at the same time,
 * only one of them claims each file.
 * @throws LoteError `ledger-foreign`
 */
export async function startNightlyRun(place: NightlyPlace): Promise<{ handle: NightlyRunHandle; joined: boolean }> {
  const { client, taskQueue, application } = place;
  const state = await requireOwn(place);
  const running = await runningNightlyRun(place, state);
  if (running !== null) return { handle: running, joined: true };
  const workflowId = `${application === 'default' ? '' : `${application}-`}nightly-issuance-now`;
  try {
    const handle = await client.workflow.start<typeof nightlyIssuance>(WORKFLOW, {
      workflowId,
      taskQueue,
      args: [givenOnly({ timezone: state?.timezone ?? undefined })],
      workflowIdConflictPolicy: 'FAIL',
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      staticSummary: SUMMARY,
    });
    return { handle, joined: false };
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    await requireOwnRun(place, workflowId, 'Joining the night that runs');
    return { handle: nightOf(place, workflowId), joined: true };
  }
}

/** Returns the running night or null. Checks both lists, because the schedule's list of running nights lags behind its started ones. */
export async function runningNightlyRun(
  place: NightlyPlace,
  state: NightlyState | null,
): Promise<NightlyRunHandle | null> {
  if (state === null) return null;
  const latest = state.recent.at(-1)?.workflowId;
  for (const workflowId of [...state.running, ...(latest === undefined ? [] : [latest])]) {
    const handle = nightOf(place, workflowId);
    if ((await handle.describe().catch(() => null))?.status.name === 'RUNNING') return handle;
  }
  return null;
}

function nightOf({ client }: NightlyPlace, workflowId: string): NightlyRunHandle {
  return client.workflow.getHandle<typeof nightlyIssuance>(workflowId);
}
