import type { WaitingFile } from '../../domain/ports/drop-folder.ts';

/** Number of files that a nightly run left, named or not. */
export function waitingCount(waiting: readonly Pick<WaitingFile, 'more'>[]): number {
  return waiting.reduce((sum, { more = 0 }) => sum + 1 + more, 0);
}

/** Name of a file that waits, with the number of those that are not named: `x.csv + 29,800`. */
export function waitingName(
  { name, more = 0 }: Pick<WaitingFile, 'name' | 'more'>,
  { count }: { count(value: number): string },
): string {
  return more === 0 ? name : `${name} + ${count(more)}`;
}
