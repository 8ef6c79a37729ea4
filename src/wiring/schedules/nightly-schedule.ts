import {
  ScheduleAlreadyRunning,
  ScheduleNotFoundError,
  ScheduleOverlapPolicy,
  type Client,
  type ScheduleDescription,
} from '@temporalio/client';
import { requireOwnSchedule } from './require-own-schedule.ts';
import { namedInput } from '../temporal/named-input.ts';
import type { nightlyIssuance } from '../../../workflows/nightly-issuance.ts';

/** Where nights are scheduled: one schedule per application. */
export interface NightlyPlace {
  readonly client: Client;
  readonly taskQueue: string;
  readonly application: string;
  /** Others are beside it: what is started names the application. Left out: there is one. */
  readonly isOneOfSeveral?: boolean;
}

/** Time of day at which a nightly run starts, in the time zone `timezone`. */
export interface NightlyTime {
  readonly hour: number;
  readonly minute: number;
  /** IANA name. */
  readonly timezone: string;
}

export interface NightlyPlan extends NightlyTime {
  /** A night whose time passed while the server was down starts within this time, or not at all. */
  readonly catchUpMs: number;
}

/** What the schedule says of itself. */
export interface NightlyState {
  readonly scheduleId: string;
  /** On which its nights start. */
  readonly taskQueue: string;
  readonly hour: number | null;
  readonly minute: number | null;
  readonly timezone: string | null;
  readonly catchUpMs: number;
  readonly paused: boolean;
  /** Why it is paused, or what it does. */
  readonly note: string | null;
  readonly nextTimes: readonly Date[];
  readonly recent: readonly { readonly scheduledAt: Date; readonly takenAt: Date; readonly workflowId: string }[];
  readonly running: readonly string[];
}

const DAY_MS = 86_400_000;
const WORKFLOW: Parameters<Client['workflow']['start']>[0] & string = 'nightlyIssuance';

/** Id of the Temporal schedule of an application's nightly runs. */
export function nightlyScheduleId(application: string): string {
  return application === 'default' ? 'lote-nightly' : `${application}-lote-nightly`;
}

/** Makes the schedule, or brings the one that is there to this plan and lets it go again. */
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
 * Makes the schedule that an application's file asks for, or brings the one that is there to it. A pause stays: a night
 * that failed waits for an operator, however often Lote is started.
 */
export async function ensureNightlyRuns(place: NightlyPlace, plan: NightlyPlan): Promise<void> {
  const options = nightlySchedule(place, plan);
  try {
    await place.client.schedule.create(options);
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    await requireOwn(place);
    const { spec, action, policies } = options;
    await handleOf(place).update(({ state }) => ({ spec, action, policies, state }));
  }
}

/**
 * The schedule of nightly runs: one run at a time, missed ones are caught up with, and a run that fails pauses the
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
      args: [{ timezone, ...namedInput(place) }] satisfies Parameters<typeof nightlyIssuance>,
      staticSummary: 'issues what was dropped',
    },
    state: { note: `Every night at ${clock(plan)} ${timezone}: issues what was dropped.` },
  };
}

/** Starts no more of them; where there is none, nothing happens. @throws LoteError `ledger-foreign` */
export async function pauseNightlyRuns(place: NightlyPlace, note: string): Promise<void> {
  await requireOwn(place);
  try {
    await handleOf(place).pause(note);
  } catch (error) {
    if (!(error instanceof ScheduleNotFoundError)) throw error;
  }
}

/** False when there was none. */
export async function unscheduleNightlyRuns(place: NightlyPlace): Promise<boolean> {
  await requireOwn(place);
  try {
    await handleOf(place).delete();
    return true;
  } catch (error) {
    if (error instanceof ScheduleNotFoundError) return false;
    throw error;
  }
}

/** Null: nights are off. */
export async function describeNightlyRuns(place: NightlyPlace): Promise<NightlyState | null> {
  const found = await describe(place);
  if (found === null) return null;
  const calendar = found.spec.calendars?.[0];
  return {
    scheduleId: found.scheduleId,
    taskQueue: found.action.taskQueue,
    hour: firstOf(calendar?.hour),
    minute: firstOf(calendar?.minute),
    timezone: found.spec.timezone ?? null,
    catchUpMs: found.policies.catchupWindow,
    paused: found.state.paused,
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

/** The night that still runs although a day has passed since it began, so that the next one was skipped; null: none. */
export function overdueNight(
  { running, recent }: Pick<NightlyState, 'running' | 'recent'>,
  now: number,
): { readonly workflowId: string; readonly beganAt: Date } | null {
  const [workflowId] = running;
  // No other one is taken while it runs.
  const beganAt = recent.at(-1)?.takenAt;
  if (workflowId === undefined || beganAt === undefined || now - beganAt.getTime() <= DAY_MS) return null;
  return { workflowId, beganAt };
}

/** Starts a night now, as "Trigger" in the Temporal UI does; false: nights are off, so there is nothing to trigger. */
export async function triggerNightlyRun(place: NightlyPlace): Promise<boolean> {
  try {
    await handleOf(place).trigger();
    return true;
  } catch (error) {
    if (error instanceof ScheduleNotFoundError) return false;
    throw error;
  }
}

/** The time as `02:00`. */
export function clock({ hour, minute }: Pick<NightlyTime, 'hour' | 'minute'>): string {
  return `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`;
}

function requireOwn({ client, application, taskQueue }: NightlyPlace): Promise<void> {
  return requireOwnSchedule(client, nightlyScheduleId(application), taskQueue);
}

function handleOf({ client, application }: NightlyPlace) {
  return client.schedule.getHandle(nightlyScheduleId(application));
}

async function describe(place: NightlyPlace): Promise<ScheduleDescription | null> {
  try {
    return await handleOf(place).describe();
  } catch (error) {
    if (error instanceof ScheduleNotFoundError) return null;
    throw error;
  }
}

function firstOf(ranges: readonly { readonly start: number }[] | undefined): number | null {
  return ranges?.[0]?.start ?? null;
}
