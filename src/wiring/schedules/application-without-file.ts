import { ScheduleNotFoundError, type Client, type ScheduleDescription, type ScheduleSummary } from '@temporalio/client';
import type { BatchRecord } from '../../domain/ports/ledger/batch-record.ts';
import type { Ledger } from '../../domain/ports/ledger/ledger.ts';
import type { Config } from '../../runtime/config/config.ts';
import { nightlyScheduleId } from './nightly-schedule.ts';
import { isApplicationPolled } from '../temporal/queue-pollers.ts';
import { isIdOfAnyApplication } from './schedule-id.ts';
import { isNoteOfLote, NO_FILE, OTHER_APPLICATION } from './schedule-note.ts';
import { isReconciliationElsewhere, reconciliationId } from './reconciliation-schedule.ts';

/** What schedules of Lote start. */
const STARTED: ReadonlySet<string> = new Set(['nightlyIssuance', 'reconciliation']);
/** A namespace of more schedules belongs to more than Lote. */
const MOST_LISTED = 10_000;

/** After as many that cannot be described it is the server that does not answer. */
const MOST_UNSEEN = 3;

/** Of each application; nobody reads a longer line. */
const MOST_OPEN = 50;

/** A schedule that starts work for an application that no file here describes. */
export interface ScheduleWithoutFile {
  readonly scheduleId: string;
  /** null: it names none, and where there are several each must. */
  readonly application: string | null;
  readonly paused: boolean;
  /**
   * `no-file`: no file here describes its application. `other-name`: it was made for the only application while that had another name (`LOTE_APPLICATION`); its
   * runs name none, and would issue for the application of today.
   */
  readonly why: 'no-file' | 'other-name';
  /** A worker elsewhere polls for the application: its file is there, and missing here alone. */
  readonly isPolled: boolean;
}

/** What was found, and what could not be looked at. */
export interface SchedulesWithoutFile {
  readonly found: readonly ScheduleWithoutFile[];
  /** Ids of schedules that the server did not describe; nothing is known of them. */
  readonly unseen: readonly string[];
}

type Known = Pick<Config, 'application' | 'isOneOfSeveral' | 'taskQueue'>;

/**
 * The schedules of this task queue whose runs belong to no application that is described here: a file was removed or
 * renamed, or the folder of all files was, or the only application has another name. Unless a worker elsewhere polls for it, their runs wait on a queue that
 * nobody polls, or are refused. One that the server does not describe hides none of the others; the third such is an
 * error.
 */
export async function schedulesWithoutFile(
  client: Client,
  applications: readonly Known[],
): Promise<SchedulesWithoutFile> {
  const own = new Set(applications.flatMap((one) => [nightlyScheduleId(one.application), reconciliationId(one)]));
  const isPolled = pollsOf(client, applications);
  const found: ScheduleWithoutFile[] = [];
  const unseen: string[] = [];
  let listed = 0;
  for await (const summary of client.schedule.list()) {
    const { scheduleId, action } = summary;
    listed += 1;
    if (listed > MOST_LISTED) break;
    if (own.has(scheduleId) || !STARTED.has(action?.workflowType ?? '')) continue;
    if (isKnownElsewhere(summary, applications)) continue;
    const described = await describeListed(client, scheduleId, unseen);
    if (described === null) continue;
    const application = nameOf(described);
    const { paused } = described.state;
    if (isForeign(described, applications)) continue;
    const why = isKnown(application, applications) ? 'other-name' : 'no-file';
    // What a person made, under an id of its own, starts what it was made for.
    if (why === 'other-name' && !isMadeByLote(scheduleId, applications)) continue;
    found.push({ scheduleId, application, why, paused, isPolled: await isPolled(application) });
  }
  return { found, unseen };
}

/**
 * Null: it has gone since the list was made, which the server makes some seconds late; or it cannot be described now,
 * and is one more that is unseen.
 */
async function describeListed(
  client: Client,
  scheduleId: string,
  unseen: string[],
): Promise<ScheduleDescription | null> {
  try {
    return await client.schedule.getHandle(scheduleId).describe();
  } catch (error) {
    if (error instanceof ScheduleNotFoundError) return null;
    if (unseen.push(scheduleId) >= MOST_UNSEEN) throw error;
    return null;
  }
}

/** What of a batch tells whose it is. */
type Owned = Pick<BatchRecord, 'batchId' | 'application'>;

/**
 * Those of the open batches that belong to no application that is described here. Of an only application there are
 * none: the others of its ledger may belong to a Lote with a task queue of its own.
 */
export async function batchesWithoutFile(
  client: Client,
  applications: readonly Known[],
  open: () => Promise<readonly Owned[]>,
): Promise<readonly (Owned & Pick<ScheduleWithoutFile, 'isPolled'>)[]> {
  if (!applications.some(({ isOneOfSeveral }) => isOneOfSeveral)) return [];
  const isPolled = pollsOf(client, applications);
  const unknown = (await open()).filter(({ application }) => !isKnown(application, applications));
  return Promise.all(unknown.map(async (batch) => ({ ...batch, isPolled: await isPolled(batch.application) })));
}

/**
 * Pauses those that are not paused and that no worker elsewhere polls for; what each would have started is in its note.
 * Returns all of them.
 */
export async function pauseSchedulesWithoutFile(
  client: Client,
  applications: readonly Known[],
): Promise<SchedulesWithoutFile> {
  const { found, unseen } = await schedulesWithoutFile(client, applications);
  for (const one of found)
    if (!one.paused && !one.isPolled)
      // oxlint-disable-next-line no-await-in-loop -- two hundred at once would be a burst
      await client.schedule.getHandle(one.scheduleId).pause(noteFor(one, applications));
  return { found, unseen };
}

function noteFor({ application, why }: ScheduleWithoutFile, [first]: readonly Known[]): string {
  if (why === 'other-name') return `${OTHER_APPLICATION} (${first?.application ?? ''}, LOTE_APPLICATION).`;
  return `${NO_FILE}${application === null ? '' : ` (${application})`}.`;
}

const PAUSED: Readonly<Record<ScheduleWithoutFile['why'], string>> = {
  'no-file': 'schedules are paused: no file describes the application that they are for (docs/applications.md)',
  'other-name':
    'schedules are paused: they are of another LOTE_APPLICATION, and would issue for the one of today (docs/distributed.md)',
};

/** What is looked through at a start. */
export interface WithoutFileParts {
  readonly client: Client;
  readonly ledger: Pick<Ledger, 'newestOpenBatches'>;
  readonly applications: readonly Config[];
  readonly log: { warn(message: string, fields?: Record<string, unknown>): void };
}

/**
 * Pauses the schedules of applications that nobody describes any more, and says so, together with their batches that
 * have not ended: what they would start waits without an end on a queue that nobody polls. Where somebody polls it, the
 * file is missing here alone, and the application goes on. What cannot be looked at is logged, and keeps nobody from
 * working.
 */
export async function stopWithoutFile({ client, ledger, applications, log }: WithoutFileParts): Promise<void> {
  try {
    const { found: schedules, unseen } = await pauseSchedulesWithoutFile(client, applications);
    if (unseen.length > 0)
      log.warn('schedules could not be looked at; they may start runs of an application without a file', {
        schedules: unseen,
      });
    const batches = await batchesWithoutFile(client, applications, () => ledger.newestOpenBatches(MOST_OPEN));
    const elsewhere = applicationsElsewhere([...schedules, ...batches]);
    if (elsewhere.length > 0)
      log.warn('applications go on without a file here: a worker elsewhere has it (docs/applications.md)', {
        applications: elsewhere,
      });
    for (const [why, text] of Object.entries(PAUSED)) {
      const paused = schedules.filter((one) => one.why === why && !one.isPolled);
      if (paused.length > 0) log.warn(text, { schedules: paused.map(({ scheduleId }) => scheduleId) });
    }
    const waiting = batches.filter(({ isPolled }) => !isPolled);
    if (waiting.length > 0)
      log.warn('batches wait: no file describes the application that they are for (docs/applications.md)', {
        batches: waiting.map(({ batchId }) => batchId),
      });
  } catch (err) {
    log.warn('whether anything belongs to an application without a file could not be looked at', { err });
  }
}

/** The names of those that a worker elsewhere polls for. */
export function applicationsElsewhere(
  found: readonly Pick<ScheduleWithoutFile, 'application' | 'isPolled'>[],
): readonly string[] {
  return [...new Set(found.flatMap(({ application, isPolled }) => (isPolled ? (application ?? []) : [])))];
}

/** Asks once for each application. Nobody polls for one without a name where each must have one. */
function pollsOf(client: Client, [first]: readonly Known[]): (application: string | null) => Promise<boolean> {
  const asked = new Map<string, Promise<boolean>>();
  return async (application) => {
    if (application === null || first === undefined) return false;
    const answer = asked.get(application) ?? isApplicationPolled(client, first.taskQueue, application);
    asked.set(application, answer);
    return answer;
  };
}

/**
 * Its id and its note say that Lote made it for another task queue. A list costs the server little and a description much: without this, each start of each
 * of a hundred installations in one namespace would ask for those of all others.
 */
function isKnownElsewhere({ scheduleId, state }: ScheduleSummary, [first]: readonly Known[]): boolean {
  return isNoteOfLote(state.note) && isReconciliationElsewhere(scheduleId, first?.taskQueue ?? '');
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

/** Whether it has the form of the ids that Lote gives to the schedules of any application on this task queue. */
function isMadeByLote(scheduleId: string, [first]: readonly Known[]): boolean {
  const nights = nightlyScheduleId('default');
  const reconciliation = reconciliationId({ application: 'default', taskQueue: first?.taskQueue ?? '' });
  return [nights, reconciliation].some((base) => isIdOfAnyApplication(scheduleId, base));
}

function nameOf({ action }: ScheduleDescription): string | null {
  const input: unknown = action.args?.[0];
  const { application } = (typeof input === 'object' && input !== null ? input : {}) as {
    readonly application?: unknown;
  };
  return typeof application === 'string' ? application : null;
}
