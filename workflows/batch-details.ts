import type { BatchProgress } from './messages.ts';

const PHASES: Readonly<Record<BatchProgress['phase'], string>> = {
  reading: 'reading the file',
  attached: 'another run has this file: waiting for it',
  merchants: 'making sure the merchants exist',
  sending: 'sending invoices',
  waiting: 'all sent: waiting for final answers',
  reporting: 'writing the report',
  done: 'done',
};

/** The table of the Temporal UI's "Current Details". The last line is cut off by the UI, so an empty one ends it. */
export function batchDetails(progress: BatchProgress): string {
  const rows: readonly (readonly [string, string])[] = [
    ['Now', progress.paused ? 'paused by an operator' : PHASES[progress.phase]],
    ['Invoices', String(progress.invoices)],
    ['Pages sent', `${progress.pagesSent} of ${progress.pages}`],
    ['Pages done', `${progress.pagesDone} of ${progress.pages}`],
    ...(progress.pagesFailed > 0 ? [['Pages failed', String(progress.pagesFailed)] as const] : []),
    ...(progress.cancelled ? [['Cancelled', 'nothing more is sent'] as const] : []),
    ['Waits for', progress.waitingFor ?? 'nothing'],
  ];
  const table = rows.map(([name, value]) => `| ${name} | ${value} |`).join('\n');
  return `**Batch** ${progress.batchId ?? '(not read yet)'}\n\n| | |\n|---|---|\n${table}\n\n&nbsp;`;
}
