import { defineQuery, setCurrentDetails, setHandler } from '@temporalio/workflow';
import { NIGHT_TEXTS, waitingCount } from '../../src/texts/nights/night-verdict.ts';
import type { WaitingFile } from '../../src/domain/records/dropped-file.ts';
import type { NightlyVerdict } from '../../src/domain/records/night.ts';

export interface NightlyProgress {
  readonly night: string | null;
  readonly phase: 'looking' | 'running' | 'done';
  readonly running: readonly string[];
  readonly ended: readonly {
    readonly name: string;
    readonly verdict: NightlyVerdict;
    readonly batchId: string | null;
  }[];
  readonly waiting: readonly WaitingFile[];
  readonly summary: string | null;
}

const nightlyQuery = defineQuery<NightlyProgress>('night');

/** Keeps the progress of a night, for the Temporal UI. */
export function followNightlyRun() {
  let progress: NightlyProgress = { night: null, phase: 'looking', running: [], ended: [], waiting: [], summary: null };

  function show(change: Partial<NightlyProgress>): void {
    progress = { ...progress, ...change };
    setCurrentDetails(nightlyDetails(progress));
  }

  setHandler(nightlyQuery, () => progress, {
    description: '(no input) Files of this night: running, ended with their outcome, still waiting and why.',
  });
  return {
    show,
    begun: (name: string) => show({ running: [...progress.running, name] }),
    ended(name: string, verdict: NightlyVerdict, batchId: string | null): void {
      const at = progress.running.indexOf(name);
      show({
        running: progress.running.filter((_, index) => index !== at),
        ended: [...progress.ended, { name, verdict, batchId }],
      });
    },
  };
}

/** Enough rows to follow a night; the summary has all of them. */
const ROWS_SHOWN = 30;

/** The UI cuts the last line off, so an empty one ends the text. The UI would show `&nbsp;` as these six letters. */
function nightlyDetails({ night, phase, running, ended, waiting, summary }: NightlyProgress): string {
  const { nights } = NIGHT_TEXTS.en;
  const rows = [
    ...running.map((name) => [name, 'its batch runs']),
    ...waiting.map(({ name, reason }) => [name, nights.waiting[reason]]),
    ...ended
      .toReversed()
      .map(({ name, verdict, batchId }) => [name, nights.verdicts[verdict] + (batchId === null ? '' : `, ${batchId}`)]),
  ];
  const table = rows.slice(0, ROWS_SHOWN).map(([name, what]) => `| ${cell(name ?? '')} | ${what} |`);
  const more = rows.length - waiting.length + waitingCount(waiting) - ROWS_SHOWN;
  if (more > 0) table.push(`| … | ${more} more in the summary |`);
  const files = `${ended.length} of ${ended.length + running.length} files done`;
  return [
    ...(summary === null ? [] : [`**Summary** ${summary}`, '']),
    `**Night** ${night ?? '(not opened yet)'}: ${phase}, ${files}`,
    '',
    ...(table.length === 0 ? [] : ['| File | Outcome |', '|---|---|', ...table, '']),
    '\u00A0',
  ].join('\n');
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}
