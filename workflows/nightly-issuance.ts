import {
  ApplicationFailure,
  ChildWorkflowCancellationType,
  isCancellation,
  log,
  ParentClosePolicy,
  sleep,
  startChild,
  workflowInfo,
  ChildWorkflowFailure,
} from '@temporalio/workflow';
import type { DroppedFile, OpenedNightlyRun } from '../activities/nightly/nightly.ts';
import { waitingCount } from '../src/texts/nights/night-verdict.ts';
import { activities } from './activities.ts';
import { optionalInput, TEXT } from './typed-by-hand.ts';
import { nightMessage } from './nightly/night-message.ts';
import { followNightlyRun } from './nightly/nightly-progress.ts';
import { pinToBuild } from './pin-build.ts';
import { createDropWatch } from './nightly/drop-watch.ts';
import type { NightlySummaryPaths } from '../src/domain/records/night.ts';
import type { FileEnd } from '../activities/nightly/nightly-note.ts';
import { invoiceBatch } from './invoice-batch.ts';

const { openNightlyRun, archiveDrop, finishNightlyRun, claimDrops } = activities;

/** Files that are still being written are checked again after this time at most. */
const POLL_INTERVAL_MS = 60_000;

/** Everything has a default: a schedule or a person may start a night with `{}` or without input. */
export interface NightlyInput {
  /** IANA name; decides the date under which files are archived. */
  readonly timezone?: string;
}

/** Result of a nightly run, as the Temporal UI shows it. `night` is its id, `<date>-<last 8 of the run's id>`. */
export interface NightlyResult {
  readonly night: string;
  readonly files: number;
  /** Files with invoices that are not confirmed as issued. */
  readonly problems: number;
  readonly waiting: number;
  readonly reports: NightlySummaryPaths;
}

/**
 * A nightly run: claim the dropped files -> one batch each -> archive each with a note -> summary. If a run ends early,
 * the next one continues with its claimed files.
 */
export async function nightlyIssuance(input?: NightlyInput | null): Promise<NightlyResult> {
  const board = followNightlyRun();
  const example = 'with a time zone: {"timezone": "Europe/Lisbon"}';
  const { timezone } = optionalInput('nightlyIssuance', input, { timezone: TEXT }, example);
  await pinToBuild(() => [input]);
  const { workflowId, runId, startTime } = workflowInfo();
  const run = { workflowId, runId, startedAt: startTime.getTime() };
  const opened = await openNightlyRun({ timezone: timezone ?? null, ...run });
  board.show({ night: opened.night.nightId });

  const troubles: { readonly name: string; readonly error: unknown }[] = [];
  const files: Promise<void>[] = [];
  const begun = new Set<string>();
  const watch = createDropWatch(opened);
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
  await Promise.all(files);
  await watch.end();
  const [trouble] = troubles;
  // A person has cancelled the night, so it needs no summary.
  if (trouble !== undefined && isCancellation(trouble.error)) throw trouble.error;

  const unfinished = troubles.map(({ name }) => ({ name, reason: 'unfinished' as const }));
  const finished = await finishNightlyRun({ ...opened, waiting: [...waiting, ...unfinished] });
  const { reports, problems, waiting: left } = finished;
  board.show({ phase: 'done', summary: reports.html, waiting: left });
  if (finished.sendsMail) await startMessage(opened);
  if (trouble !== undefined) throw trouble.error;
  return { night: opened.night.nightId, files: finished.files, problems, waiting: waitingCount(left), reports };

  /** Never rejects, so that the other files go on; the night fails when they are done and its message is on its way. */
  async function runFile(file: DroppedFile): Promise<void> {
    try {
      await watch.begin(file);
      board.begun(file.name);
      const end = await runBatch(opened, file, () => watch.left(file));
      const entry = await archiveDrop({ ...opened, file, end });
      board.ended(file.name, entry.verdict, entry.batchId);
    } catch (error) {
      log.error('a dropped file could not be brought to its end', { night: opened.night.nightId, slot: file.slot });
      troubles.push({ name: file.name, error });
    } finally {
      watch.over(file);
    }
  }
}

type NightlyWaiting = Awaited<ReturnType<typeof claimDrops>>['waiting'];

/**
 * Starts a separate workflow for the message, so that an unreachable mail server neither delays nor fails the night.
 * Its id comes from the night, so that a night has one message.
 */
async function startMessage({ ledgerId, night }: OpenedNightlyRun): Promise<void> {
  try {
    await startChild(nightMessage, {
      workflowId: `${workflowInfo().workflowId}-${night.nightId}-message`,
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      args: [{ ledgerId, night }],
      parentClosePolicy: ParentClosePolicy.ABANDON,
      cancellationType: ChildWorkflowCancellationType.ABANDON,
      staticSummary: 'the message of the night',
    });
  } catch (error) {
    if (isCancellation(error)) throw error;
    log.warn('the message of the night was not started', { night: night.nightId });
  }
}

/**
 * Runs the batch of a dropped file, and returns the end that the night notes for the file; an error of the batch is also an end.
 * The batch outlives the night: if the night is cancelled or terminated, the file stays in progress, and the next night joins its
 * batch. The joining run sends nothing again: if the batch has ended meanwhile, a person decides about the rest. `left` resolves
 * when the night goes on without the batch, because the batch waits for a person.
 */
async function runBatch(
  { ledgerId, night }: OpenedNightlyRun,
  { file, slot, batchId, name, resumed }: DroppedFile,
  left: () => Promise<FileEnd>,
): Promise<FileEnd> {
  const start = (workflowId: string) =>
    startChild(invoiceBatch, {
      workflowId,
      args: [{ file, ledgerId, ...(resumed && { resumed }) }],
      parentClosePolicy: ParentClosePolicy.ABANDON,
      cancellationType: ChildWorkflowCancellationType.ABANDON,
      staticSummary: `dropped file ${name}`,
    });
  const own = `${batchId ?? 'batch-unreadable'}-${night.nightId}-${slot}`;
  try {
    // A second run of a running batch attaches to it in the ledger. A resumed file gets a workflow id of its own,
    // because reconciliation closes a stopped batch only if no later run of the same id is open.
    const child = await start(resumed ? own : (batchId ?? own)).catch((error: unknown) => {
      // Not exported by the workflow package; the name is the SDK's contract.
      if (error instanceof Error && error.name === 'WorkflowExecutionAlreadyStartedError') return start(own);
      throw error;
    });
    return await Promise.race([child.result().then((result): FileEnd => ({ kind: 'batch', result })), left()]);
  } catch (error) {
    if (isCancellation(error) && !(error instanceof ChildWorkflowFailure)) throw error;
    return failedEnd(error);
  }
}

function failedEnd(error: unknown): FileEnd {
  const cause = error instanceof ChildWorkflowFailure ? innermost(error) : error;
  if (cause instanceof ApplicationFailure)
    return { kind: 'failed', code: cause.type ?? 'internal', message: cause.message };
  const name = cause instanceof Error ? cause.name : 'unknown';
  return { kind: 'failed', code: name, message: 'The run was stopped from outside.' };
}

function innermost(error: Error): Error {
  let cause: Error = error;
  while (cause.cause instanceof Error) cause = cause.cause;
  return cause;
}
