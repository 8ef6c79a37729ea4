import { commandLine } from '../../domain/text/command-line.ts';
import type { Config } from '../../runtime/config/config.ts';
import { clockChanges } from '../../domain/time/clock-changes.ts';
import { clock, type NightlyState, type NightlyTime } from '../../wiring/schedules/nightly-schedule.ts';

const NEXT_SHOWN = 5;
const RECENT_SHOWN = 3;
const YEAR_DAYS = 366;

/** Whose nights these are, where their files are dropped, and on which task queue the workers are. */
export type NightlyFor = Pick<Config, 'application' | 'isOneOfSeveral' | 'inputDir' | 'taskQueue'>;

/** `lote nightly show` for a person: in the night's own zone. */
export function nightlyLines(state: NightlyState | null, config: NightlyFor): readonly string[] {
  if (state === null)
    return [
      `Nights are off. Switch them on with: ${commandLine(config, 'nightly on --at 02:00 --timezone Europe/Lisbon')}`,
    ];
  const zone = state.timezone ?? 'UTC';
  const when =
    state.hour === null || state.minute === null
      ? 'at times of their own'
      : `every day at ${clock({ hour: state.hour, minute: state.minute })}`;
  const elsewhere = otherQueueLines(state, config);
  return [
    ...elsewhere,
    state.paused
      ? `Nights are PAUSED${state.note === null ? '' : `: ${state.note}`}`
      : elsewhere.length > 0
        ? `There nights are on: ${when} ${zone}`
        : `Nights are on: ${when} ${zone}, files of ${config.inputDir}`,
    ...(state.paused
      ? [`Look at the last run, then let them go again with: ${commandLine(config, 'nightly on')}`]
      : []),
    `One at a time; a missed night is caught up with within ${state.catchUpMs / 3_600_000} h; a night that fails pauses the next ones.`,
    ...state.nextTimes.slice(0, NEXT_SHOWN).map((time) => `Next         ${inZone(time, zone)}`),
    ...state.running.map((id) => `Running      ${id}`),
    ...state.recent
      .toReversed()
      .slice(0, RECENT_SHOWN)
      .map(({ takenAt, workflowId }) => `Ran          ${inZone(takenAt, zone)}  ${workflowId}`),
  ];
}

/** A night that starts where no worker of this installation is does nothing for it. */
function otherQueueLines({ taskQueue }: NightlyState, config: NightlyFor): readonly string[] {
  if (taskQueue === config.taskQueue) return [];
  return [
    `Nights DO NOT RUN HERE: they start on task queue ${taskQueue}, and this Lote works on ${config.taskQueue}.`,
    `Take them here with: ${commandLine(config, 'nightly on')} (it refuses where another installation works on ${taskQueue})`,
  ];
}

/** What the clock's changes of the coming year do to this time. */
export function clockWarnings(time: NightlyTime, now: number): readonly string[] {
  return clockChanges(time, now, YEAR_DAYS).map(({ date, kind }) =>
    kind === 'skipped'
      ? `On ${date} the clock of ${time.timezone} has no ${clock(time)}: there is no night on that date. Another time avoids it.`
      : `On ${date} the clock of ${time.timezone} shows ${clock(time)} twice: the night runs once, at the second of them.`,
  );
}

function inZone(time: Date, timezone: string): string {
  return new Intl.DateTimeFormat('sv-SE', {
    timeZone: timezone,
    dateStyle: 'short',
    timeStyle: 'short',
  }).format(time);
}
