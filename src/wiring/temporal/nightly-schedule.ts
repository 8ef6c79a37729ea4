import {
  ScheduleAlreadyRunning,
  ScheduleNotFoundError,
  ScheduleOverlapPolicy,
  type Client,
  type ScheduleDescription,
} from '@temporalio/client';
import type { nightlyIssuance } from '../../../workflows/nightly-issuance.ts';

/** Where nights are scheduled: one schedule per application. */
export interface NightPlace {
  readonly client: Client;
  readonly taskQueue: string;
  readonly application: string;
}

export interface NightTime {
  readonly hour: number;
  readonly minute: number;
  /** IANA name. */
  readonly timezone: string;
}

export interface NightPlan extends NightTime {
  /** A night whose time passed while the server was down starts within this time, or not at all. */
  readonly catchUpMs: number;
}

/** What the schedule says of itself. */
export interface NightState {
  readonly scheduleId: string;
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

const WORKFLOW: Parameters<Client['workflow']['start']>[0] & string = 'nightlyIssuance';

export function nightScheduleId(application: string): string {
  return application === 'default' ? 'lote-nightly' : `${application}-lote-nightly`;
}

/** Makes the schedule, or brings the one that is there to this plan and lets it go again. */
export async function scheduleNights(place: NightPlace, plan: NightPlan): Promise<void> {
  const options = nightSchedule(place, plan);
  try {
    await place.client.schedule.create(options);
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    const { spec, action, policies, state } = options;
    await handleOf(place).update(() => ({ spec, action, policies, state: { ...state, paused: false } }));
  }
}

/** One night at a time, missed ones are caught up with, and a night that fails stops the next ones until somebody has looked. */
export function nightSchedule(place: Omit<NightPlace, 'client'>, plan: NightPlan) {
  const { hour, minute, timezone, catchUpMs } = plan;
  const scheduleId = nightScheduleId(place.application);
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
      staticSummary: 'issues what was dropped',
    },
    state: { note: `Every night at ${clock(plan)} ${timezone}: issues what was dropped.` },
  };
}

/** False when there was none. */
export async function unscheduleNights(place: NightPlace): Promise<boolean> {
  try {
    await handleOf(place).delete();
    return true;
  } catch (error) {
    if (error instanceof ScheduleNotFoundError) return false;
    throw error;
  }
}

/** Null: nights are off. */
export async function describeNights(place: NightPlace): Promise<NightState | null> {
  const found = await describe(place);
  if (found === null) return null;
  const calendar = found.spec.calendars?.[0];
  return {
    scheduleId: found.scheduleId,
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

/** Starts a night now, as "Trigger" in the Temporal UI does; false: nights are off, so there is nothing to trigger. */
export async function triggerNight(place: NightPlace): Promise<boolean> {
  try {
    await handleOf(place).trigger();
    return true;
  } catch (error) {
    if (error instanceof ScheduleNotFoundError) return false;
    throw error;
  }
}

export function clock({ hour, minute }: Pick<NightTime, 'hour' | 'minute'>): string {
  return `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`;
}

function handleOf({ client, application }: NightPlace) {
  return client.schedule.getHandle(nightScheduleId(application));
}

async function describe(place: NightPlace): Promise<ScheduleDescription | null> {
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
