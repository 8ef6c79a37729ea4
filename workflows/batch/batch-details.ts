import { OUTCOMES } from '../../src/domain/invoice-state.ts';
import type { BatchView } from './batch-view.ts';
import { nextStep } from './next-step.ts';
import type { BatchProgress, BatchSnapshot } from '../../src/contract/messages.ts';

const PHASES: Readonly<Record<BatchProgress['phase'], string>> = {
  reading: 'reading the file',
  attached: 'another run has this file: waiting for it',
  confirming: 'held before anything is sent: its total is unusual',
  merchants: 'making sure the merchants exist',
  sending: 'sending invoices',
  waiting: 'all sent: waiting for final answers',
  reporting: 'writing the report',
  done: 'done',
};

/**
 * What the Temporal UI shows as "Current Details". Links come first and an empty line ends it: the UI sizes the frame
 * of it before the text is laid out, and the lowest line may be cut off.
 */
export function batchDetails(view: BatchView): string {
  const { progress, snapshot } = view;
  const lines = [
    ...linkLines(progress.batchId, view),
    `**Batch** ${progress.batchId ?? '(not read yet)'}`,
    '',
    table(['', ''], situation(view)),
    '',
    ...(snapshot === null ? [] : balance(snapshot)),
    LAST_LINE,
  ];
  return lines.join('\n');
}

/** Not `&nbsp;`: the UI shows those six letters as they are. */
const LAST_LINE = '\n\u00A0\n\n\u00A0';

function linkLines(batchId: string | null, { links, end }: Pick<BatchView, 'links' | 'end'>): readonly string[] {
  if (batchId === null || links === null) return [];
  const page = links.console === null ? null : `${links.console}/batches/${encodeURIComponent(batchId)}`;
  const shown = [
    ...(page === null || end === null ? [] : [`[Report](${page}/files/report.html)`]),
    ...(page === null ? [] : [`[Console: this batch](${page})`]),
  ];
  const file = `${links.reportsDir}/${batchId}/report.html`;
  return [
    ...(shown.length === 0 ? [] : [shown.join(' · '), '']),
    end === null ? `Report, when it is written: \`${file}\`` : `Report: \`${file}\``,
    '',
  ];
}

type Row = readonly (string | number)[];

function situation(view: BatchView): readonly Row[] {
  const { progress, snapshot } = view;
  const now = progress.paused ? `paused by an operator (${PHASES[progress.phase]})` : PHASES[progress.phase];
  return [
    ['Now', now],
    ['Waits for', progress.waitingFor ?? 'nothing'],
    ['What to do', nextStep(view)],
    ...(progress.unusual === undefined ? [] : [['Unusual total', progress.unusual.difference]]),
    ...(snapshot?.misfits ?? []).map((sentence): Row => ['Service profile', sentence]),
    ['Invoices', progress.invoices],
    ['Pages', `${progress.pagesSent} sent, ${progress.pagesDone} done, of ${progress.pages}`],
    ...(progress.pagesFailed > 0 ? [['Pages failed', progress.pagesFailed]] : []),
    ...(progress.cancelled ? [['Cancelled', 'nothing more is sent']] : []),
  ];
}

function balance({ at, counts, net }: BatchSnapshot): readonly string[] {
  const when = new Date(at).toISOString().slice(0, 19).replace('T', ' ');
  const states = OUTCOMES.flatMap((state) => (counts[state] === undefined ? [] : [[state, counts[state]]]));
  return [
    `**Balance** as of ${when} UTC`,
    '',
    table(['State', 'Invoices'], states),
    '',
    ...(net.length === 0
      ? []
      : [
          table(
            ['Net', 'of the file', 'gone out'],
            net.map(({ currency, all, out }) => [currency, amount(all), amount(out)]),
          ),
          '',
        ]),
  ];
}

/** Exact, with two decimals at least. */
function amount(net: string): string {
  const [whole = '0', fraction = ''] = net.split('.');
  return `${whole}.${fraction.padEnd(2, '0')}`;
}

function table(head: readonly string[], rows: readonly Row[]): string {
  const line = (cells: Row): string => `| ${cells.map((cell) => String(cell).replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map((row) => line(row))].join('\n');
}
