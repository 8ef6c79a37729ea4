import { OUTCOMES } from '../../src/domain/invoice-state.ts';
import { fill } from '../../src/texts/fill.ts';
import type { DetailsFormat } from '../texts/details-format.ts';
import type { BatchView } from './batch-view.ts';
import { nextStep } from './next-step.ts';
import type { BatchSnapshot } from '../../src/contract/messages.ts';

/**
 * What the Temporal UI shows as "Current Details". Links come first and an empty line ends it: the UI sizes the frame
 * of it before the text is laid out, and the lowest line may be cut off.
 */
export function batchDetails(view: BatchView, format: DetailsFormat): string {
  const { progress, snapshot } = view;
  const { texts } = format;
  const lines = [
    ...linkLines(progress.batchId, view, format),
    `**${texts.batch}** ${progress.batchId ?? texts.notRead}`,
    '',
    table(['', ''], situation(view, format)),
    '',
    ...(snapshot === null ? [] : balance(snapshot, format)),
    LAST_LINE,
  ];
  return lines.join('\n');
}

/** Not `&nbsp;`: the UI shows those six letters as they are. */
const LAST_LINE = '\n\u00A0\n\n\u00A0';

function linkLines(
  batchId: string | null,
  { links, end }: Pick<BatchView, 'links' | 'end'>,
  { texts }: DetailsFormat,
): readonly string[] {
  if (batchId === null || links === null) return [];
  const page = links.console === null ? null : `${links.console}/batches/${encodeURIComponent(batchId)}`;
  const shown = [
    ...(page === null || end === null ? [] : [`[${texts.report}](${page}/files/report.html)`]),
    ...(page === null ? [] : [`[${texts.console}](${page})`]),
  ];
  const file = `${links.reportsDir}/${batchId}/report.html`;
  return [
    ...(shown.length === 0 ? [] : [shown.join(' · '), '']),
    `${end === null ? texts.reportLater : texts.report}: \`${file}\``,
    '',
  ];
}

type Row = readonly (string | number)[];

function situation(view: BatchView, format: DetailsFormat): readonly Row[] {
  const { progress, snapshot } = view;
  const { texts, count } = format;
  const phase = texts.phases[progress.phase];
  const pages = {
    sent: count(progress.pagesSent),
    done: count(progress.pagesDone),
    pages: count(progress.pages),
  };
  return [
    [texts.now, progress.paused ? fill(texts.paused, { phase }) : phase],
    [texts.waitsFor, progress.waitingFor ?? texts.nothing],
    [texts.whatToDo, nextStep(view, format)],
    ...(progress.unusual === undefined ? [] : [[texts.unusualTotal, progress.unusual.difference]]),
    ...(snapshot?.misfits ?? []).map((sentence): Row => [texts.serviceProfile, sentence]),
    [texts.invoices, count(progress.invoices)],
    [texts.pages, fill(texts.pagesOf, pages)],
    ...(progress.pagesFailed > 0 ? [[texts.pagesFailed, count(progress.pagesFailed)]] : []),
    ...(progress.cancelled ? [[texts.cancelled, texts.nothingMore]] : []),
  ];
}

function balance({ at, counts, net }: BatchSnapshot, { texts, count, money, time }: DetailsFormat): readonly string[] {
  const states = OUTCOMES.flatMap((state) => {
    const invoices = counts[state];
    return invoices === undefined ? [] : [[state, count(invoices)]];
  });
  return [
    `**${texts.balance}** ${fill(texts.asOf, { time: time(at) })}`,
    '',
    table([texts.state, texts.invoices], states),
    '',
    ...(net.length === 0
      ? []
      : [
          table(
            [texts.net, texts.ofFile, texts.goneOut],
            net.map(({ currency, all, out }) => [currency, money(all), money(out)]),
          ),
          '',
        ]),
  ];
}

function table(head: readonly string[], rows: readonly Row[]): string {
  const line = (cells: Row): string => `| ${cells.map((cell) => String(cell).replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map((row) => line(row))].join('\n');
}
