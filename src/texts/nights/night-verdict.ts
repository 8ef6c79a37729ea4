import { fill, plainText } from '../fill.ts';
import type { NightlyRemark, NightlyRunState } from '../../domain/records/night.ts';
import type { WaitingFile } from '../../domain/records/dropped-file.ts';
import type { SpeechFormat } from '../speech-format.ts';
import { OUTCOME_TEXTS_EN, type OutcomeTexts } from '../outcomes/en.ts';
import { OUTCOME_TEXTS_ES } from '../outcomes/es.ts';
import { OUTCOME_TEXTS_PT } from '../outcomes/pt.ts';
import type { Language } from '../languages.ts';

/** Facts for the verdict of a night; `runs` has the oldest first. */
export interface NightOutcome {
  readonly totals: Readonly<Record<'files' | 'issued' | 'attention' | 'refused' | 'failed' | 'waiting', number>>;
  readonly runs: readonly Pick<NightlyRunState, 'finishedAt'>[];
}

/** Returns the colour of a night: `good` only if every file is issued and the last run has ended. */
export function nightTone({ totals, runs }: NightOutcome): 'good' | 'open' | 'bad' {
  if (totals.failed + totals.refused > 0) return 'bad';
  return totals.attention + totals.waiting > 0 || isUnended(runs) ? 'open' : 'good';
}

/** Returns a night in one sentence. */
export function nightVerdict(
  { nights }: Pick<OutcomeTexts, 'nights'>,
  plural: SpeechFormat['plural'],
  { totals, runs }: NightOutcome,
): string {
  const files = totals.files + totals.waiting;
  const open = files - totals.issued;
  if (open === 0 && isUnended(runs)) return plural(nights.unended, files);
  if (files === 0) return nights.empty;
  return open === 0 ? plural(nights.allOut, files) : plural(nights.open, open, files);
}

/** True while the last run goes on: its present file is in no list yet. */
function isUnended(runs: NightOutcome['runs']): boolean {
  return runs.at(-1)?.finishedAt === null;
}

/** Returns the number of files that a nightly run left, named or not. */
export function waitingCount(waiting: readonly Pick<WaitingFile, 'more'>[]): number {
  return waiting.reduce((sum, { more = 0 }) => sum + 1 + more, 0);
}

/** Returns the name of a waiting file with the number of unnamed files: `x.csv + 29,800`. */
export function waitingName(
  { name, more = 0 }: Pick<WaitingFile, 'name' | 'more'>,
  { count }: { count(value: number): string },
): string {
  return more === 0 ? name : `${name} + ${count(more)}`;
}

/** Returns a remark about a dropped file as a sentence. Messages of other parts of Lote stay in English. */
export function remarkText({ language, plural, time }: SpeechFormat, remark: NightlyRemark): string {
  const { contradictions, remarks, verdicts } = NIGHT_TEXTS[language];
  switch (remark.kind) {
    case 'dropped-before':
      return fill(remarks[remark.kind], { time: time(remark.at), file: plainText(remark.file) });
    case 'run-failed':
      return fill(remarks[remark.kind], { code: remark.code, message: remark.message });
    case 'held':
      return fill(remarks[remark.kind], { difference: remark.difference });
    case 'stopped': {
      const { stops, unnamed, noReason } = remarks;
      const [who, why] = [plainText(remark.who ?? unnamed), plainText(remark.why ?? noReason)];
      return fill(remarks[remark.kind], { time: time(remark.at), what: stops[remark.what], who, why });
    }
    case 'confirm-total':
    case 'person-continues':
      return fill(remarks[remark.kind], { command: remark.command });
    case 'missing':
      return plural(verdicts.notAll, remark.n, remark.of);
    case 'contradicted':
      return plural(contradictions.sentence, remark.n);
    case 'all-out':
      return plural(verdicts.allIssued, remark.n);
    case 'rows-without-invoice':
      return plural(verdicts.rowsLeft, remark.n);
    case 'events-of-unknown-invoices':
      return plural(remarks[remark.kind], remark.n);
    default:
      return remarks[remark.kind];
  }
}

/** Words about nights by language. */
export const NIGHT_TEXTS: Readonly<Record<Language, OutcomeTexts>> = {
  en: OUTCOME_TEXTS_EN,
  pt: OUTCOME_TEXTS_PT,
  es: OUTCOME_TEXTS_ES,
};
