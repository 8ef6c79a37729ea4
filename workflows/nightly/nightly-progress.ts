import { defineQuery, setCurrentDetails, setHandler } from '@temporalio/workflow';
import type { NightlyVerdict } from '../../src/domain/ports/run-log.ts';

export interface NightlyProgress {
  readonly night: string | null;
  readonly phase: 'looking' | 'running' | 'done';
  readonly running: readonly string[];
  readonly ended: readonly {
    readonly name: string;
    readonly verdict: NightlyVerdict;
    readonly batchId: string | null;
  }[];
  readonly waiting: readonly { readonly name: string; readonly reason: string }[];
  readonly summary: string | null;
}

const nightlyQuery = defineQuery<NightlyProgress>('night');

export interface NightlyRunBoard {
  show(change: Partial<NightlyProgress>): void;
  begun(name: string): void;
  ended(name: string, verdict: NightlyVerdict, batchId: string | null): void;
}

/** What a night knows about itself, for the Temporal UI. */
export function followNightlyRun(): NightlyRunBoard {
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
    begun: (name) => show({ running: [...progress.running, name] }),
    ended(name, verdict, batchId) {
      const at = progress.running.indexOf(name);
      show({
        running: progress.running.filter((_, index) => index !== at),
        ended: [...progress.ended, { name, verdict, batchId }],
      });
    },
  };
}

/** Enough to see how a night goes; all of it stands in the summary. */
const ROWS_SHOWN = 30;

/** The UI cuts the last line off, so an empty one ends it. */
function nightlyDetails({ night, phase, running, ended, waiting, summary }: NightlyProgress): string {
  const rows = [
    ...running.map((name) => [name, 'its batch runs']),
    ...waiting.map(({ name, reason }) => [name, `waiting: ${reason}`]),
    ...ended
      .toReversed()
      .map(({ name, verdict, batchId }) => [name, `${verdict}${batchId === null ? '' : `, ${batchId}`}`]),
  ];
  const table = rows.slice(0, ROWS_SHOWN).map(([name, what]) => `| ${cell(name ?? '')} | ${what} |`);
  if (rows.length > ROWS_SHOWN) table.push(`| … | ${rows.length - ROWS_SHOWN} more in the summary |`);
  return [
    ...(summary === null ? [] : [`**Summary** ${summary}`, '']),
    `**Night** ${night ?? '(not opened yet)'}: ${phase}, ${ended.length} of ${ended.length + running.length} files done`,
    '',
    ...(table.length === 0 ? [] : ['| File | Outcome |', '|---|---|', ...table, '']),
    '&nbsp;',
  ].join('\n');
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}
