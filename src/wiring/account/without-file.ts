import type { Client, ScheduleDescription } from '@temporalio/client';
import type { Ledger } from '../../domain/ports/ledger.ts';
import type { Config } from '../../runtime/config/config.ts';
import { nightlyScheduleId } from '../temporal/nightly-schedule.ts';
import { NO_FILE } from '../temporal/schedule-input.ts';
import { reconciliationId } from '../temporal/reconciliation-schedule.ts';

/** What schedules of Lote start. */
const STARTED: ReadonlySet<string> = new Set(['nightlyIssuance', 'reconciliation']);
/** A namespace of more schedules belongs to more than Lote. */
const MOST_LISTED = 10_000;

/** Of each application; nobody reads a longer line. */
const MOST_OPEN = 50;

/** A schedule that would start work for an application that nobody describes. */
export interface ScheduleWithoutFile {
  readonly scheduleId: string;
  /** null: it names none, and where there are several each must. */
  readonly application: string | null;
  readonly paused: boolean;
}

type Known = Pick<Config, 'application' | 'isOneOfSeveral' | 'taskQueue'>;

/**
 * The schedules of this task queue whose runs belong to no application that is described here: a file was removed or
 * renamed, or the folder of all files was. Their runs wait on a queue that nobody polls, or are refused.
 */
export async function schedulesWithoutFile(
  client: Client,
  applications: readonly Known[],
): Promise<readonly ScheduleWithoutFile[]> {
  const own = new Set(applications.flatMap((one) => [nightlyScheduleId(one.application), reconciliationId(one)]));
  const found: ScheduleWithoutFile[] = [];
  let listed = 0;
  for await (const { scheduleId, action } of client.schedule.list()) {
    listed += 1;
    if (listed > MOST_LISTED) break;
    if (own.has(scheduleId) || !STARTED.has(action?.workflowType ?? '')) continue;
    const described = await client.schedule.getHandle(scheduleId).describe();
    const application = nameOf(described);
    const { paused } = described.state;
    if (isForeign(described, applications) || isKnown(application, applications)) continue;
    found.push({ scheduleId, application, paused });
  }
  return found;
}

/** Pauses those that are not paused; what each would have started is in its note. Returns all of them. */
export async function pauseSchedulesWithoutFile(
  client: Client,
  applications: readonly Known[],
): Promise<readonly ScheduleWithoutFile[]> {
  const found = await schedulesWithoutFile(client, applications);
  for (const { scheduleId, application, paused } of found)
    if (!paused)
      // oxlint-disable-next-line no-await-in-loop -- two hundred at once would be a burst
      await client.schedule
        .getHandle(scheduleId)
        .pause(`${NO_FILE}${application === null ? '' : ` (${application})`}.`);
  return found;
}

/** What is looked through at a start. */
export interface WithoutFileParts {
  readonly client: Client;
  readonly ledger: Pick<Ledger, 'newestOpenBatches'>;
  readonly applications: readonly Config[];
  readonly log: { warn(message: string, fields?: Record<string, unknown>): void };
}

/**
 * Pauses the schedules of applications that nobody describes any more, and says so, together with their batches that
 * have not ended: what they would start waits without an end on a queue that nobody polls. What cannot be looked at is
 * logged, and keeps nobody from working.
 */
export async function stopWithoutFile({ client, ledger, applications, log }: WithoutFileParts): Promise<void> {
  try {
    const schedules = await pauseSchedulesWithoutFile(client, applications);
    if (schedules.length > 0)
      log.warn('schedules are paused: no file describes the application that they are for (docs/applications.md)', {
        schedules: schedules.map(({ scheduleId }) => scheduleId),
      });
    // Of an only application, the others of the ledger may belong to a Lote with a task queue of its own.
    if (!applications.some(({ isOneOfSeveral }) => isOneOfSeveral)) return;
    const names = new Set(applications.map(({ application }) => application));
    const batches = (await ledger.newestOpenBatches(MOST_OPEN)).filter(({ application }) => !names.has(application));
    if (batches.length > 0)
      log.warn('batches wait: no file describes the application that they are for (docs/applications.md)', {
        batches: batches.map(({ batchId }) => batchId),
      });
  } catch (err) {
    log.warn('whether anything belongs to an application without a file could not be looked at', { err });
  }
}

/** It starts its runs for workers of another installation. */
function isForeign({ action }: ScheduleDescription, [first]: readonly Known[]): boolean {
  return action.taskQueue !== first?.taskQueue;
}

/** An only application's runs have no name; of several, each run has one. */
function isKnown(application: string | null, applications: readonly Known[]): boolean {
  return applications.some(({ isOneOfSeveral, application: name }) =>
    isOneOfSeveral ? name === application : application === null,
  );
}

function nameOf({ action }: ScheduleDescription): string | null {
  const input: unknown = action.args?.[0];
  const { application } = (typeof input === 'object' && input !== null ? input : {}) as {
    readonly application?: unknown;
  };
  return typeof application === 'string' ? application : null;
}
