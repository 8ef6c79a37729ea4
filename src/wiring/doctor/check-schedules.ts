import type { Client } from '@temporalio/client';
import type { BatchRecord } from '../../domain/ports/ledger/batch-record.ts';
import { commandLine } from '../../domain/text/command-line.ts';
import type { Config } from '../../runtime/config/config.ts';
import {
  applicationsElsewhere,
  batchesWithoutFile,
  schedulesWithoutFile,
  type ScheduleWithoutFile,
} from '../schedules/application-without-file.ts';
import { clock, describeNightlyRuns, overdueNight } from '../schedules/nightly-schedule.ts';
import { isApplicationPolled, POLLED_WITHIN_MS, queuePollers } from '../temporal/queue-pollers.ts';
import { describeReconciliation, reconciliationId } from '../schedules/reconciliation-schedule.ts';
import { isPausedByLote, NO_FILE } from '../schedules/schedule-note.ts';
import { fine, trouble, unknown, type Check } from './check.ts';

/** Name of the check of what no file describes. */
export const WITHOUT_FILE = 'applications without a file';
/** As many as one line can name. */
const MOST_NAMED = 20;
/** Whoever paused it may have written anything. */
const LONGEST_NOTE = 300;

/** Whose schedules are looked at. */
export interface ScheduleParts {
  readonly applications: readonly [Config, ...Config[]];
  /** Open batches, whosever they are. */
  readonly open: Promise<
    readonly Pick<BatchRecord, 'batchId' | 'application' | 'workflowId' | 'runId' | 'startedAt'>[]
  >;
}

/** What starts by itself: reconciliation and nights of each application. */
export async function checkSchedules(
  client: Client,
  parts: Pick<ScheduleParts, 'applications'>,
): Promise<readonly Check[]> {
  const found: Check[] = [];
  for (const config of parts.applications) {
    // oxlint-disable-next-line no-await-in-loop -- two hundred at once would be a burst
    const checks = await Promise.all([reconciliationCheck(client, config), nightsCheck(client, config)]);
    const { application } = config;
    found.push(...checks.map((check) => (config.isOneOfSeveral ? { ...check, application } : check)));
  }
  return found;
}

/** Schedules and open batches of applications that nobody describes: what they start or wait for never comes. */
export async function checkWithoutFile(
  client: Client,
  { applications, open }: ScheduleParts,
): Promise<readonly Check[]> {
  const name = WITHOUT_FILE;
  const several = applications[0].isOneOfSeveral;
  const { found: schedules, unseen } = await schedulesWithoutFile(client, applications);
  const batches = await batchesWithoutFile(client, applications, () => open);
  const renamed = schedules.filter(({ why }) => why === 'other-name');
  if (renamed.length > 0) return [otherNameCheck(name, applications[0], renamed)];
  const found = [
    ...schedules
      .filter(({ isPolled }) => !isPolled)
      .map(({ scheduleId, paused }) => `schedule ${scheduleId}${paused ? ' (paused)' : ''}`),
    ...batches
      .filter(({ isPolled }) => !isPolled)
      .map(({ batchId, application }) => `batch ${batchId} of ${application}`),
  ];
  if (found.length > 0)
    return [
      trouble(
        name,
        `No file describes the application of: ${named(found)}.`,
        'Put its file back, and start Lote again. If it is gone for good, end what is open, and delete its schedules (docs/applications.md).',
      ),
    ];
  const elsewhere = applicationsElsewhere([...schedules, ...batches]);
  if (elsewhere.length > 0)
    return [
      unknown(
        name,
        `A worker that runs has a file that is not here, of: ${named(elsewhere)}.`,
        'Bring the applications folder of this process up to date. If the file was removed on purpose, start the workers again.',
      ),
    ];
  if (unseen.length > 0)
    return [
      unknown(
        name,
        `Temporal did not describe: ${named(unseen.map((id) => `schedule ${id}`))}.`,
        'Run lote doctor again. If it stays so, look at the schedule in the Temporal UI.',
      ),
    ];
  return several ? [fine(name, 'none has schedules or open batches')] : [];
}

/** Each start pauses them; until then their runs issue for the application of today. */
function otherNameCheck(name: string, { application }: Config, found: readonly ScheduleWithoutFile[]): Check {
  const schedules = found.map(({ scheduleId, paused }) => `${scheduleId}${paused ? ' (paused)' : ''}`);
  return trouble(
    name,
    `This task queue works for application "${application}", and there are schedules of another one: ${named(schedules)}.`,
    'If the application has a new name for good, start Lote again, which pauses them, and delete them in the Temporal UI (docs/distributed.md). Otherwise set LOTE_APPLICATION to the name that it had.',
  );
}

function named(all: readonly string[]): string {
  const more = all.length > MOST_NAMED ? ` and ${all.length - MOST_NAMED} more` : '';
  return `${all.slice(0, MOST_NAMED).join(', ')}${more}`;
}

/** Without it nobody settles what a POST or a delivery left open. */
async function reconciliationCheck(client: Client, config: Config): Promise<Check> {
  const name = 'reconciliation';
  const byHand = `Until then do it by hand: ${commandLine(config, 'reconcile')}`;
  const state = await describeReconciliation(client, config);
  if (state === null)
    return (await isPolled(client, config))
      ? trouble(
          name,
          'A worker polls, and none is scheduled: unknown and pending invoices stay so.',
          `Start Lote again: each start schedules it, and its log says why it could not. ${byHand}`,
        )
      : unknown(name, 'None is scheduled yet: the first start of a worker does it.');
  if (!state.paused) return fine(name, 'scheduled');
  const note = (state.note ?? 'nobody said why').slice(0, LONGEST_NOTE);
  const { namespace } = client.options;
  return trouble(
    name,
    `It is paused, so unknown and pending invoices stay so, and a night waits for a batch whose run has ended: ${note}`,
    isPausedByLote(note)
      ? `${note.startsWith(NO_FILE) ? 'Its file' : 'Its application'} is here: start Lote again, and it goes on. ${byHand}`
      : `Let it go on: temporal schedule toggle --namespace ${namespace} --schedule-id ${reconciliationId(config)} --unpause. ${byHand}`,
  );
}

/** Whether a worker polled lately that does the work of this application. */
async function isPolled(client: Client, { taskQueue, application, isOneOfSeveral }: Config): Promise<boolean> {
  if (isOneOfSeveral) return isApplicationPolled(client, taskQueue, application);
  const since = Date.now() - POLLED_WITHIN_MS;
  return (await queuePollers(client, taskQueue)).some(({ lastPolledAt }) => lastPolledAt >= since);
}

async function nightsCheck(client: Client, config: Config): Promise<Check> {
  const name = 'nights';
  const { taskQueue, application, schedule } = config;
  const state = await describeNightlyRuns({ client, taskQueue, application });
  if (state === null)
    return schedule === null
      ? fine(name, 'off')
      : trouble(
          name,
          `Its file asks for nights at ${clock(schedule)} ${schedule.timezone}, and none are scheduled.`,
          'Start Lote again: each start schedules what the files ask for.',
        );
  if (state.taskQueue !== taskQueue)
    return trouble(
      name,
      `They start on task queue ${state.taskQueue}, and this Lote works on ${taskQueue}: nothing that is dropped here goes out at night.`,
      `Take them here: ${commandLine(config, 'nightly on')}. It refuses where another installation works on ${state.taskQueue}: give each a namespace, or an application name, of its own.`,
    );
  if (state.paused)
    return trouble(
      name,
      `They are paused: ${(state.note ?? 'nobody said why').slice(0, LONGEST_NOTE)}`,
      `Look at the last run, then let them go again: ${commandLine(config, 'nightly on')}`,
    );
  const overdue = overdueNight(state, Date.now());
  if (overdue !== null)
    return trouble(
      name,
      `A night that began at ${overdue.beganAt.toISOString()} has not ended, and no other one begins before: ${overdue.workflowId}.`,
      'It waits for a batch that has not ended: its workflow in the Temporal UI names the file, and the page of the batch says what it waits for. A night that an earlier version of Lote began waits for a paused batch, too: resume or cancel it.',
    );
  const when =
    state.hour === null || state.minute === null
      ? 'at times of their own'
      : `at ${clock({ hour: state.hour, minute: state.minute })}`;
  return fine(name, `${when} ${state.timezone ?? 'UTC'}`);
}
