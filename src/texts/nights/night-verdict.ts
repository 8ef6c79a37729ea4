import type { NightlyRunState } from '../../domain/ports/run-log.ts';
import type { SpeechFormat } from '../speech-format.ts';
import type { NightTexts } from './night-texts.ts';

/** What the verdict of a night is made of; `runs`: oldest first. */
export interface NightOutcome {
  readonly totals: Readonly<Record<'files' | 'issued' | 'attention' | 'refused' | 'failed' | 'waiting', number>>;
  readonly runs: readonly Pick<NightlyRunState, 'finishedAt'>[];
}

/** The colour of a night: `good` only when everything went out and its last run has an end. */
export function nightTone({ totals, runs }: NightOutcome): 'good' | 'open' | 'bad' {
  if (totals.failed + totals.refused > 0) return 'bad';
  return totals.attention + totals.waiting > 0 || isUnended(runs) ? 'open' : 'good';
}

/** A night in one sentence. */
export function nightVerdict(
  { nights }: Pick<NightTexts, 'nights'>,
  plural: SpeechFormat['plural'],
  { totals, runs }: NightOutcome,
): string {
  const files = totals.files + totals.waiting;
  const open = files - totals.issued;
  if (open === 0 && isUnended(runs)) return plural(nights.unended, files);
  if (files === 0) return nights.empty;
  return open === 0 ? plural(nights.allOut, files) : plural(nights.open, open, files);
}

/** A file that the last run still works on stands nowhere yet. */
function isUnended(runs: NightOutcome['runs']): boolean {
  return runs.at(-1)?.finishedAt === null;
}
