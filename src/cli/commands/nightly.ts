import { waitingFor } from '../../platform/waiting-for.ts';
import { LoteError } from '../../domain/errors.ts';
import { ownZone, zoneNamed } from '../../domain/time/zone-offsets.ts';
import { readConfig, type Config } from '../../app/config/config.ts';
import { durationMs } from '../../app/config/env-schema.ts';
import {
  clockOf,
  describeNightlyRuns,
  type NightlyPlace,
  type NightlyTime,
  runningNightlyRun,
  scheduleNightlyRuns,
  startNightlyRun,
  unscheduleNightlyRuns,
  type NightlyState,
} from '../../app/schedules/nightly-schedule.ts';
import type { NightlyResult } from '../../../workflows/nightly-issuance.ts';
import { EXIT, type ExitCode } from '../output/exit-codes.ts';
import { lineWriter, localTime, printResult } from '../output/terminal-text.ts';
import { INTERRUPTED as GOES_ON } from '../session/interruption.ts';
import { awaitRun } from '../session/follow-batches.ts';
import { withTemporal } from '../session/with-temporal.ts';
import type { Session } from '../session/open-session.ts';

/** Parses the time of a night, and spells its zone as Temporal does. @throws LoteError `usage` */
export function nightlyTime(at: string, timezone: string): NightlyTime {
  const found = /^(?<hour>[01]?\d|2[0-3]):(?<minute>[0-5]\d)$/u.exec(at);
  if (found === null)
    throw new LoteError(
      'usage',
      `Switching nights on: --at must be a time such as 02:00, found ${JSON.stringify(at)}.`,
    );
  const zone = zoneNamed(timezone);
  if (zone === null)
    throw new LoteError(
      'usage',
      `Switching nights on: --timezone must be an IANA name such as Europe/Lisbon or Europe/Madrid, found ${JSON.stringify(timezone)}.`,
    );
  return { hour: Number(found.groups?.['hour']), minute: Number(found.groups?.['minute']), timezone: zone };
}

const DEFAULT_AT = '02:00';
/** A host that slept until noon still runs its night; a host that was off for a day does not start two nights at once. */
const DEFAULT_CATCH_UP = '12h';
const STANDS_STILL =
  'Interrupted: the night stands still where it is. It goes on with the next `lote up` or `lote nightly now`.';

interface NightlyCommand {
  readonly json: boolean;
}

/** `at` as `02:00`, `timezone` as IANA name, `catchUp` as a duration such as `12h`. */
interface NightlyOn extends NightlyCommand {
  readonly at?: string;
  readonly timezone?: string;
  readonly catchUp?: string;
}

/** `lote nightly on`: makes or changes the schedule; a missing option keeps its value. */
export async function nightlyOn(env: NodeJS.ProcessEnv, command: NightlyOn): Promise<ExitCode> {
  const { at, timezone, catchUp, json } = command;
  // Refuses a wrong time before Lote waits for a server.
  nightlyTime(at ?? DEFAULT_AT, timezone ?? 'UTC');
  const catchUpMs = durationOf(catchUp ?? DEFAULT_CATCH_UP);
  return withNightlyRuns(env, async (place, config) => {
    const before = await describeNightlyRuns(place);
    const wasAt = before === null ? null : clockOf(before);
    const time = nightlyTime(at ?? wasAt ?? DEFAULT_AT, timezone ?? before?.timezone ?? ownZone());
    const kept = catchUp === undefined ? before?.catchUpMs : undefined;
    await scheduleNightlyRuns(place, { ...time, catchUpMs: kept ?? catchUpMs });
    await showNights(place, config, json);
  });
}

/** `lote nightly off`: deletes the schedule. A run that no worker has begun finds no schedule and takes no files. */
export async function nightlyOff(env: NodeJS.ProcessEnv, command: NightlyCommand): Promise<ExitCode> {
  return withNightlyRuns(env, async (place) => {
    const running = (await runningNightlyRun(place, await describeNightlyRuns(place)))?.workflowId ?? null;
    const was = await unscheduleNightlyRuns(place);
    const off = was ? 'Nights are off now.\n' : 'Nights were off already.\n';
    const goesOn = `Running      ${running} goes on to its end, if a worker has begun it; else it takes nothing.\n`;
    printResult(command.json, { nights: null, was, running }, () => (running === null ? off : off + goesOn));
  });
}

/** `lote nightly show`: prints the schedule and the last nights. */
export async function nightlyShow(env: NodeJS.ProcessEnv, command: NightlyCommand): Promise<ExitCode> {
  return withNightlyRuns(env, (place, config) => showNights(place, config, command.json));
}

async function showNights(place: NightlyPlace, config: Config, json: boolean): Promise<void> {
  const state = await describeNightlyRuns(place);
  printResult(json, { nights: state }, () => `${nightlyLines(state, config).join('\n')}\n`);
}

/** `lote nightly now`: runs a night at once and waits for it. Starts the missing parts and stops them again. */
export async function nightlyNow(env: NodeJS.ProcessEnv, { json }: NightlyCommand): Promise<ExitCode> {
  const interrupted = (place: Session['place']): string => (place === 'own' ? STANDS_STILL : GOES_ON);
  const { withWork } = await import('../session/work-session.ts');
  return withWork({ json, env, interrupted }, async ({ client, config, ended }) => {
    const notify = lineWriter({ json });
    const starting = () => Promise.race([startNightlyRun({ ...config, client }), ended]);
    const { handle, joined } = await waitingFor('Temporal', starting);
    const { workflowId } = handle;
    notify(`Night ${workflowId} ${joined ? 'runs already: waiting for it' : 'started'} …`);
    const result = await awaitRun(handle, ended, (reason) => notify(`${workflowId}: ${reason}`));
    printResult(json, { night: result }, () => resultText(result));
    return result.problems + result.waiting === 0 ? EXIT.ok : EXIT.someNotIssued;
  });
}

function resultText({ night, files, problems, waiting, reports }: NightlyResult): string {
  return `Night ${night}: ${files} files, ${problems} of them need a person, ${waiting} still waiting\nSummary      ${reports.html}\n`;
}

async function withNightlyRuns(
  env: NodeJS.ProcessEnv,
  use: (place: NightlyPlace, config: Config) => Promise<void>,
): Promise<ExitCode> {
  await withTemporal(readConfig(env), (client, config) =>
    waitingFor('Temporal', () => use({ ...config, client }, config)),
  );
  return EXIT.ok;
}

function durationOf(text: string): number {
  const value = durationMs(text);
  // Temporal silently raises a shorter window to ten seconds.
  if (value >= 10_000) return value;
  throw new LoteError(
    'usage',
    `Switching nights on: --catch-up must be a duration with a unit of at least 10s, such as 12h, found ${JSON.stringify(text)}.`,
  );
}

const NEXT_SHOWN = 5;
const RECENT_SHOWN = 3;

type NightlyFor = Pick<Config, 'inputDir' | 'taskQueue'>;

/** Formats the output of `lote nightly show`, with times in the night's own zone. */
export function nightlyLines(state: NightlyState | null, config: NightlyFor): readonly string[] {
  if (state === null)
    return [`Nights are off. Switch them on with: lote nightly on --at 02:00 --timezone Europe/Lisbon`];
  const zone = state.timezone ?? 'UTC';
  const at = clockOf(state);
  const when = at === null ? 'at times of their own' : `every day at ${at}`;
  const elsewhere = otherQueueLines(state, config);
  return [
    ...elsewhere,
    state.paused
      ? `Nights are PAUSED${state.note === null ? '' : `: ${state.note}`}`
      : elsewhere.length > 0
        ? `There nights are on: ${when} ${zone}`
        : `Nights are on: ${when} ${zone}, files of ${config.inputDir}`,
    ...(state.paused ? [`Look at the last run, then let them go again with: lote nightly on`] : []),
    `One at a time; a missed night is caught up with within ${state.catchUpMs / 3_600_000} h; a night that fails pauses the next ones.`,
    ...state.nextTimes.slice(0, NEXT_SHOWN).map((time) => `Next         ${localTime(time, zone)}`),
    ...state.running.map((id) => `Running      ${id}`),
    ...state.recent
      .toReversed()
      .slice(0, RECENT_SHOWN)
      .map(({ takenAt, workflowId }) => `Ran          ${localTime(takenAt, zone)}  ${workflowId}`),
  ];
}

/** Warns of a night that starts on a task queue without a worker of this installation. */
function otherQueueLines({ taskQueue }: NightlyState, config: NightlyFor): readonly string[] {
  if (taskQueue === config.taskQueue) return [];
  return [
    `Nights DO NOT RUN HERE: they start on task queue ${taskQueue}, and this Lote works on ${config.taskQueue}.`,
    `Take them here with: lote nightly on (it refuses where another installation works on ${taskQueue})`,
  ];
}
