import ms from 'ms';
import { commandLine } from '../../domain/text/command-line.ts';
import { LoteError } from '../../domain/errors.ts';
import type { InvoicingService } from '../../domain/ports/invoicing-service.ts';
import { ownZone } from '../../domain/time/own-zone.ts';
import type { Config } from '../../runtime/config/config.ts';
import { createLogger } from '../../runtime/process/logger.ts';
import { endNightlyRuns } from '../../wiring/schedules/end-nights.ts';
import {
  clock,
  describeNightlyRuns,
  scheduleNightlyRuns,
  type NightlyPlace,
} from '../../wiring/schedules/nightly-schedule.ts';
import { reconciliationId } from '../../wiring/schedules/reconciliation-schedule.ts';
import { reachTemporal, type ReachedTemporal } from '../../wiring/temporal/reach-temporal.ts';
import { bringInput } from '../../wiring/schedules/schedule-input.ts';
import { startNightlyRun } from '../../wiring/schedules/start-nightly-run.ts';
import type { NightlyResult } from '../../../workflows/nightly-issuance.ts';
import { EXIT, type ExitCode } from '../output/exit-codes.ts';
import { awaitRun } from '../session/await-run.ts';
import { chosenApplication } from '../session/chosen-application.ts';
import { onOwnStack, startOwnStack, type OwnStack } from '../session/own-stack.ts';
import { quietLevel } from '../session/log-level.ts';
import { clockWarnings, nightlyLines } from '../output/nightly-lines.ts';
import { nightlyTime } from '../session/nightly-time.ts';
import { preflight, preflightOf } from '../session/preflight.ts';
import { withBackend } from '../session/with-backend.ts';

const DEFAULT_AT = '02:00';
/** A host that slept until noon still has its night; one that was off for a day does not start two at once. */
const DEFAULT_CATCH_UP = '12h';

export interface NightlyCommand {
  /** `--application`; left out: there is one. */
  readonly application?: string;
  readonly json: boolean;
  readonly env: NodeJS.ProcessEnv;
}

/** Options of `lote nightly on`: `at` as `02:00`, `timezone` as IANA name, `catchUp` as a duration such as `12h`. */
export interface NightlyOn extends NightlyCommand {
  readonly at?: string;
  readonly timezone?: string;
  readonly catchUp?: string;
}

/**
 * `lote nightly on`: makes or changes the schedule; an option that is left out keeps its value. Reconciliation that Lote
 * paused with the nights goes on too.
 */
export async function nightlyOn(command: NightlyOn): Promise<ExitCode> {
  // Said before a server is started, or waited for.
  nightlyTime(command.at ?? DEFAULT_AT, command.timezone ?? 'UTC');
  durationOf(command.catchUp ?? DEFAULT_CATCH_UP);
  return withNightlyRuns(command, async (place, { stays }, config) => {
    const before = await describeNightlyRuns(place);
    const wasAt =
      before === null || before.hour === null || before.minute === null
        ? null
        : { hour: before.hour, minute: before.minute };
    const time = nightlyTime(
      command.at ?? (wasAt === null ? DEFAULT_AT : clock(wasAt)),
      command.timezone ?? before?.timezone ?? ownZone(),
    );
    const catchUpMs =
      command.catchUp === undefined ? (before?.catchUpMs ?? durationOf(DEFAULT_CATCH_UP)) : durationOf(command.catchUp);
    await scheduleNightlyRuns(place, { ...time, catchUpMs });
    // Paused together while the application had no file: nights without it would leave unknown invoices alone.
    await bringInput(place.client, reconciliationId(place), place);
    const warnings = clockWarnings(time, Date.now());
    const state = await describeNightlyRuns(place);
    const lines = [
      ...nightlyLines(state, config),
      ...warnings.map((warning) => `Note: ${warning}`),
      ...(stays ? [] : ['Nights run while Lote is up: start it with `lote up`, or with your service manager.']),
    ];
    print(command.json, { nights: state, warnings }, lines);
    return EXIT.ok;
  });
}

/** `lote nightly off`: also a night that was missed and that nobody has begun does not run any more. */
export async function nightlyOff(command: NightlyCommand): Promise<ExitCode> {
  return withNightlyRuns(command, async (place, _, config) => {
    const again = commandLine(config, 'nightly now');
    const { was, ended, interrupted, running } = await endNightlyRuns(place);
    print(command.json, { nights: null, was, ended, interrupted, running }, [
      was ? 'Nights are off now.' : 'Nights were off already.',
      ...running.map((id) => `Running      ${id} goes on to its end.`),
      ...ended.map((id) => `Ended        ${id}: no worker had begun it, and it sends nothing.`),
      ...interrupted.map(
        (id) =>
          `Interrupted  ${id}: a worker took it up in this very moment, and it was ended all the same. Its batches go on; what else it had claimed lies in in-progress until the next run: ${again}`,
      ),
    ]);
    return EXIT.ok;
  });
}

/** `lote nightly show`. */
export async function nightlyShow(command: NightlyCommand): Promise<ExitCode> {
  return withNightlyRuns(command, async (place, _, config) => {
    const state = await describeNightlyRuns(place);
    print(command.json, { nights: state }, nightlyLines(state, config));
    return EXIT.ok;
  });
}

/** `lote nightly now`: a night at once, waited for. Boots what is not there and takes it down again. */
export async function nightlyNow(command: NightlyCommand): Promise<ExitCode> {
  const { config, embedded } = chosenApplication(command.env, command.application ?? null);
  const log = createLogger({ level: quietLevel(config, command.env), secrets: config.secrets });
  if (config.databaseUrl !== null && config.temporal.address !== null) return nightlyElsewhere(command);
  const ask = (service: InvoicingService): Promise<void> => preflight(service, Date.now);
  const own = await startOwnStack(
    {
      ...{ ...embedded, log, notify: notifier(command.json), env: command.env },
      ...{ beforeSending: preflightOf(config), beforeHandOver: ask },
    },
    `Interrupted: the night stands still where it is. It goes on with the next \`lote up\` or \`${commandLine(config, 'nightly now')}\`.`,
  );
  return own === null ? nightlyElsewhere(command) : nightlyOnOwnStack(own, command, config);
}

/** Workers elsewhere, or the owner of the data directory, run the night. */
function nightlyElsewhere(command: NightlyCommand): Promise<ExitCode> {
  return withBackend(command, (backend) => runNightly(command, placeOf(backend, backend.config), backend.ended));
}

/** This process owns the data directory: it leaves when the night, and what others handed over, has ended. */
function nightlyOnOwnStack(own: OwnStack, command: NightlyCommand, config: Config): Promise<ExitCode> {
  const { stack } = own;
  return onOwnStack(own, async (ended) => {
    const code = await runNightly(command, placeOf(stack, config), ended);
    await Promise.race([stack.handOver.finish(), ended]);
    return code;
  });
}

async function runNightly({ json }: NightlyCommand, place: NightlyPlace, ended: Promise<never>): Promise<ExitCode> {
  const notify = notifier(json);
  const { handle, joined } = await Promise.race([startNightlyRun(place), ended]);
  const { workflowId } = handle;
  notify(`Night ${workflowId} ${joined ? 'runs already: waiting for it' : 'started'} …`);
  const result = await awaitRun(handle, { workflowId, ended, notify });
  print(json, { night: result }, resultLines(result));
  return result.problems + result.waiting === 0 ? EXIT.ok : EXIT.someNotIssued;
}

function resultLines({ night, files, problems, waiting, reports }: NightlyResult): readonly string[] {
  return [
    `Night ${night}: ${files} files, ${problems} of them need somebody, ${waiting} still waiting`,
    `Summary      ${reports.html}`,
  ];
}

async function withNightlyRuns<T>(
  command: NightlyCommand,
  use: (place: NightlyPlace, reached: ReachedTemporal, config: Config) => Promise<T>,
): Promise<T> {
  const { config, embedded } = chosenApplication(command.env, command.application ?? null);
  return reachTemporal({ config: embedded.config, notify: notifier(command.json), env: command.env }, (reached) => {
    const there = { ...config, taskQueue: reached.taskQueue };
    return use(placeOf(reached, there), reached, there);
  });
}

function placeOf({ client }: Pick<ReachedTemporal, 'client'>, config: Config): NightlyPlace {
  const { taskQueue, application, isOneOfSeveral } = config;
  return { client, taskQueue, application, isOneOfSeveral };
}

function notifier(json: boolean): (line: string) => void {
  return (line) => void (json || process.stderr.write(`${line}\n`));
}

function print(json: boolean, document: unknown, lines: readonly string[]): void {
  process.stdout.write(json ? `${JSON.stringify(document)}\n` : `${lines.join('\n')}\n`);
}

function durationOf(text: string): number {
  const value = /^\d+(\.\d+)?\s*[a-z]+$/iu.test(text) ? ms(text as ms.StringValue) : Number.NaN;
  // Temporal raises a shorter window to ten seconds by itself, and would not say so.
  if (Number.isFinite(value) && value >= 10_000) return value;
  throw new LoteError(
    'usage',
    `Switching nights on: --catch-up must be a duration with a unit of at least 10s, such as 12h, found ${JSON.stringify(text)}.`,
  );
}
