import { setTimeout as sleep } from 'node:timers/promises';
import { WorkflowNotFoundError } from '@temporalio/client';
import { endUntouchedRun } from '../temporal/own-run.ts';
import { describeNightlyRuns, pauseNightlyRuns, unscheduleNightlyRuns, type NightlyPlace } from './nightly-schedule.ts';

/** A pause is seen as soon as the schedule has done what was due before it; a busy server gets longer. */
const LOOKS = 120;
const POLL_INTERVAL_MS = 250;

/** What became of the nights: ids of their runs. */
export interface EndedNights {
  /** False: nights were off already. */
  readonly was: boolean;
  /** No worker had taken these up: they have done nothing, and never will. */
  readonly ended: readonly string[];
  /** A worker took these up while they were ended: the next night goes on with what they had claimed. */
  readonly interrupted: readonly string[];
  /** These go on to their end. */
  readonly running: readonly string[];
}

/**
 * Deletes the schedule, and ends the runs of it that no worker has taken up: a server that is started for this command alone first starts the night that was
 * missed while it was away, which would issue what is dropped with the next start of Lote.
 * @throws LoteError `ledger-foreign`
 */
export async function endNightlyRuns(place: NightlyPlace): Promise<EndedNights> {
  const started = await startedBeforePause(place);
  const was = await unscheduleNightlyRuns(place);
  const ended: string[] = [];
  const interrupted: string[] = [];
  const running: string[] = [];
  for (const workflowId of started) {
    // oxlint-disable-next-line no-await-in-loop -- a schedule names ten at most
    const end = await endOf(place, workflowId);
    if (end === 'ended') ended.push(workflowId);
    if (end === 'interrupted') interrupted.push(workflowId);
    if (end === 'running') running.push(workflowId);
  }
  return { was, ended, interrupted, running };
}

/** The schedule starts what was due before it sees a pause. Once the pause is seen, its lists name all that it has started and will ever start. */
async function startedBeforePause(place: NightlyPlace): Promise<readonly string[]> {
  await pauseNightlyRuns(place, 'Nights are switched off.');
  for (let look = 1; ; look += 1) {
    // oxlint-disable-next-line no-await-in-loop
    const state = await describeNightlyRuns(place);
    if (state === null) return [];
    if (state.paused || look === LOOKS)
      return [...new Set([...state.recent.map(({ workflowId }) => workflowId), ...state.running])];
    // oxlint-disable-next-line no-await-in-loop
    await sleep(POLL_INTERVAL_MS);
  }
}

async function endOf(
  { client }: NightlyPlace,
  workflowId: string,
): Promise<'ended' | 'interrupted' | 'running' | 'over'> {
  try {
    const end = await endUntouchedRun(client, workflowId, 'nights were switched off before a worker took it up');
    if (end !== 'left') return end;
    const { status } = await client.workflow.getHandle(workflowId).describe();
    return status.name === 'RUNNING' ? 'running' : 'over';
  } catch (error) {
    // The server has forgotten it, or it has ended meanwhile.
    if (error instanceof WorkflowNotFoundError) return 'over';
    throw error;
  }
}
