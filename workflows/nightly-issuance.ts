import {
  ApplicationFailure,
  ChildWorkflowCancellationType,
  condition,
  isCancellation,
  log,
  ParentClosePolicy,
  proxyActivities,
  sleep,
  startChild,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { DroppedFile, OpenedNightlyRun } from '../activities/nightly/nightly.ts';
import type { MessageChannel, NightlySummaryPaths } from '../src/domain/ports/run-log.ts';
import { waitingCount } from '../src/texts/nights/waiting-files.ts';
import * as options from './activity-options.ts';
import { hasPatch } from './has-patch.ts';
import { isOptionalInput, problemOfFields, TEXT, type FieldRules } from './input-fields.ts';
import { nightMessage } from './nightly/night-message.ts';
import { followNightlyRun } from './nightly/nightly-progress.ts';
import { runBatch } from './nightly/run-batch.ts';
import { followWaitingBatches } from './nightly/waiting-batches.ts';

const { openNight: openNightlyRun } = proxyActivities<Activities>({
  ...options.BOOKKEEPING,
  summary: 'opening the night',
});
const { shelveDrop: archiveDrop } = proxyActivities<Activities>({
  ...options.BOOKKEEPING,
  summary: 'archiving a file',
});
// Its announcement may take a minute.
const { finishNight: finishNightlyRun } = proxyActivities<Activities>({
  ...options.BOOKKEEPING,
  startToCloseTimeout: '3m',
  summary: 'the summary of the night',
});
const { claimDrops } = proxyActivities<Activities>({ ...options.INGEST, summary: 'what was dropped, and is complete' });

/** Each batch sends four pages at a time; more batches at once only wait for each other. */
const FILES_AT_ONCE = 16;
/** Files that are still being written are checked again after this time at most. */
const POLL_INTERVAL_MS = 60_000;

/** Everything has a default: `{}` or no input at all is what a schedule and a person give. */
export interface NightlyInput {
  /** IANA name; decides the date under which files are archived. */
  readonly timezone?: string;
  /** Set by the starter where there are several applications: the one whose account and folders are meant. */
  readonly application?: string;
}

/** Result of a nightly run, as the Temporal UI shows it. `night` is its id, `<date>-<last 8 of the run's id>`. */
export interface NightlyResult {
  readonly night: string;
  readonly files: number;
  /** Files of which not everything is confirmed as issued. */
  readonly problems: number;
  readonly waiting: number;
  readonly reports: NightlySummaryPaths;
}

/**
 * A nightly run: claim the dropped files -> one batch each -> archive each with a note -> summary. If a run ends early,
 * the next one goes on with the files that it had claimed.
 */
export async function nightlyIssuance(input?: NightlyInput | null): Promise<NightlyResult> {
  const board = followNightlyRun();
  const waitingBatches = followWaitingBatches();
  const opened = await openNightlyRun({ ...requireInput(input), ...ownRun() });
  board.speak(opened.language);
  board.show({ night: opened.night.nightId });

  const troubles: { readonly name: string; readonly error: unknown }[] = [];
  const files: Promise<void>[] = [];
  const begun = new Set<string>();
  let running = 0;
  let through = 0;
  let allBegun = false;
  let waiting: NightlyWaiting = [];
  for (let waited = 0; ;) {
    const claims = await claimDrops(opened);
    waiting = claims.waiting;
    board.show({ waiting, phase: 'running' });
    for (const file of claims.files) {
      if (begun.has(file.slot)) continue;
      begun.add(file.slot);
      files.push(runFile(file));
    }
    const growing = waitingCount(waiting.filter(({ reason }) => reason === 'growing' || reason === 'empty'));
    if (growing === 0 || waited >= opened.patienceMs) break;
    const pause = Math.min(POLL_INTERVAL_MS, opened.patienceMs);
    waited += pause;
    await sleep(pause, { summary: `${growing} dropped files are not complete: looking again` });
  }
  allBegun = true;
  await Promise.all(files);
  const [trouble] = troubles;
  // Whoever cancelled the night knows. Histories from before the patch end here.
  if (trouble !== undefined && (isCancellation(trouble.error) || !hasPatch('finish-a-failed-night')))
    throw trouble.error;

  const unfinished = troubles.map(({ name }) => ({ name, reason: 'unfinished' as const }));
  const finished = await finishNightlyRun({ ...opened, waiting: [...waiting, ...unfinished] });
  board.show({ phase: 'done', summary: finished.reports.html });
  const { reports, problems } = finished;
  if (finished.channels !== undefined) await startMessage(opened, finished.channels);
  if (trouble !== undefined) throw trouble.error;
  return { night: opened.night.nightId, files: finished.files, problems, waiting: waitingCount(waiting), reports };

  /** Never rejects: the other files go on, and the night fails when they are through and its message is on its way. */
  async function runFile(file: DroppedFile): Promise<void> {
    await condition(() => running - waitingBatches.paused < FILES_AT_ONCE);
    running += 1;
    try {
      board.begun(file.name);
      const end = await runBatch(opened, file, { waitingBatches, isAllElseOver });
      const entry = await archiveDrop({ ...opened, file, end });
      board.ended(file.name, entry.verdict, entry.batchId);
    } catch (error) {
      log.error('a dropped file could not be brought to its end', { night: opened.night.nightId, slot: file.slot });
      troubles.push({ name: file.name, error });
    } finally {
      running -= 1;
      through += 1;
    }
  }

  function isAllElseOver(): boolean {
    return allBegun && files.length - through === waitingBatches.paused;
  }
}

type NightlyWaiting = Awaited<ReturnType<typeof claimDrops>>['waiting'];

function ownRun() {
  const { workflowId, runId, startTime } = workflowInfo();
  return { workflowId, runId, startedAt: startTime.getTime() };
}

const FIELDS: FieldRules<NightlyInput> = { timezone: TEXT, application: TEXT };

/** Runs that an earlier version started with another field go on as they began. */
function requireInput(input: NightlyInput | null | undefined): { timezone: string | null } {
  const { timezone } = typeof input === 'object' && input !== null ? input : {};
  const usable = isOptionalInput(input) && (timezone === undefined || typeof timezone === 'string');
  const problem = isOptionalInput(input) ? problemOfFields('nightlyIssuance', input ?? {}, FIELDS) : null;
  if (usable && (problem === null || !hasPatch('starts-name-their-fields'))) return { timezone: timezone ?? null };
  throw ApplicationFailure.nonRetryable(
    `${problem ?? 'nightlyIssuance needs no input.'} Start it again with {} or with a time zone: {"timezone": "Europe/Lisbon"}`,
    'input-invalid',
  );
}

/**
 * The message is sent by a workflow of its own: a mail server that is away keeps no night from ending, and fails none.
 * Its id is that of the night, so that a night has one.
 */
async function startMessage({ ledgerId, night }: OpenedNightlyRun, channels: readonly MessageChannel[]): Promise<void> {
  try {
    await startChild(nightMessage, {
      workflowId: `${workflowInfo().workflowId}-${night.nightId}-message`,
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      args: [{ ledgerId, night, channels }],
      parentClosePolicy: ParentClosePolicy.ABANDON,
      cancellationType: ChildWorkflowCancellationType.ABANDON,
      staticSummary: 'the message of the night',
    });
  } catch (error) {
    if (isCancellation(error)) throw error;
    log.warn('the message of the night was not started', { night: night.nightId });
  }
}
