import type { NightlyRun } from '../../../src/domain/ports/drop-folder.ts';

export function nightNamed(letter: string, date = '2026-11-21'): NightlyRun {
  const runId = letter.repeat(8);
  return { nightId: `${date}-${runId}`, date, workflowId: `night-${letter}`, runId, startedAt: 1_795_000_000_000 };
}
