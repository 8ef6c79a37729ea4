import type { NightlyRunState } from '../../domain/ports/run-log.ts';

/** Whether the last of some runs, oldest first, has no end: a file that it still works on stands nowhere yet. */
export function isUnended(runs: readonly Pick<NightlyRunState, 'finishedAt'>[]): boolean {
  return runs.at(-1)?.finishedAt === null;
}
