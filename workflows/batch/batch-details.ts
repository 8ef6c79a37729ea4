import { OUTCOMES } from '../../src/domain/invoice-state.ts';
import { fill } from '../../src/texts/fill.ts';
import type { DetailsFormat } from '../texts/details-format.ts';
import type { BatchSnapshot, OperatorLinks, BatchProgress } from '../../src/domain/messages/messages.ts';
import type { DetailsTexts } from '../texts/en.ts';
import { defineSearchAttributeKey, SearchAttributeType, type SearchAttributePair } from '@temporalio/common';
import { upsertSearchAttributes } from '@temporalio/workflow';

/**
 * Returns the text of "Current Details" in the Temporal UI. Links come first and an empty line ends it: the UI sizes
 * the frame before it lays out the text, and may cut off the lowest line.
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
  // Pages may still wait for their turn, for example for the first invoices.
  const isSending = progress.phase === 'waiting' && progress.pagesSent < progress.pages;
  const phase = texts.phases[isSending ? 'sending' : progress.phase];
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

/** All data for the current details of a batch. */
export interface BatchView {
  readonly progress: BatchProgress;
  readonly snapshot: BatchSnapshot | null;
  readonly links: OperatorLinks | null;
  readonly attachedTo: string | null;
  readonly end: BatchEnd | null;
  /** The run has failed without a report, and reconciliation writes it. Optional: the default is false. */
  readonly isUnreported?: boolean;
}

/** End of a batch, for the details that the Temporal UI shows. */
export interface BatchEnd {
  readonly batchId: string;
  readonly links: OperatorLinks;
  readonly state: 'refused' | 'cancelled' | 'finished';
  /** Settled invoices that are not confirmed as issued, also those in doubt, from the report. A refused file counts as one, and so do differing control totals. */
  readonly problems: number;
  /** Of these, those that went out and may exist twice, or have failed. Optional: the default is 0. */
  readonly contradicted?: number;
  /** Only the declared control totals are wrong. Optional: the default is false. */
  readonly totalsDiffer?: boolean;
}

/** Codes of a wait that only a corrected service profile ends. */
export const PROFILE_WAIT =
  /^(?:answers-unreadable|profile-contradiction|profile-unproved|service-ids-repeated|service-list-unreadable)/;

/** Maps the code that a page waits with to the next step for the reader. */
const WAITING: readonly (readonly [
  code: RegExp,
  step: Exclude<keyof DetailsTexts['next'], 'contradicted' | 'notOut'>,
])[] = [
  [/^folder-unusable/, 'folder'],
  [/^ledger-unavailable/, 'ledger'],
  [/^(http-401|service-unauthorized|key-refused)/, 'key'],
  [PROFILE_WAIT, 'profile'],
  [/^http-403/, 'forbidden'],
  [/^first-invoices/, 'firstInvoices'],
  [/^(retry-after|http-429)/, 'leftAlone'],
  [/./, 'away'],
];

/** Returns the one step that helps now, for a person who has just opened the page. */
function nextStep({ progress, snapshot, attachedTo, end, isUnreported }: BatchView, format: DetailsFormat): string {
  const { next } = format.texts;
  if (end !== null) return afterwards(end, format);
  if (isUnreported) return next.unreported;
  if (attachedTo !== null) return fill(next.lookAt, { workflow: attachedTo });
  if (progress.unusual !== undefined) {
    const input = asCode({ invoices: progress.unusual.invoices, reason: next.why });
    return fill(next.confirm, { input });
  }
  if (progress.paused) return next.resume;
  const { waitingFor } = progress;
  if (waitingFor !== null) return next[WAITING.find(([code]) => code.test(waitingFor))?.[1] ?? 'away'];
  if (progress.phase === 'waiting') return next.settleNow;
  return (snapshot?.problems ?? 0) > 0 ? next.problems : next.nothing;
}

function afterwards(
  { state, problems, batchId, contradicted = 0, totalsDiffer }: BatchEnd,
  { texts: { next }, plural }: DetailsFormat,
): string {
  if (state === 'refused') return next.refused;
  const steps = contradicted === 0 ? [] : [plural(next.contradicted, contradicted)];
  const notOut = problems - contradicted;
  if (totalsDiffer === true) steps.push(next.totalsDiffer);
  else if (notOut > 0) steps.push(fill(plural(next.notOut, notOut), { input: asCode({ batch: batchId }) }));
  return steps.length === 0 ? next.allOut : steps.join('. ');
}

/** Formats the input as code, because the UI makes curly quotes in sentences, which break a copied input. */
function asCode(input: Readonly<Record<string, string | number>>): string {
  const members = Object.entries(input).map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`);
  return `\`{${members.join(', ')}}\``;
}

const LOTE_BATCH = defineSearchAttributeKey('LoteBatch', SearchAttributeType.KEYWORD);
const LOTE_STATE = defineSearchAttributeKey('LoteState', SearchAttributeType.KEYWORD);
const LOTE_PROBLEMS = defineSearchAttributeKey('LoteProblems', SearchAttributeType.INT);

/** The words of the report, for lists such as `LoteState = "paused"` or `LoteProblems > 0` in the Temporal UI. */
export interface BatchAttributes {
  readonly batchId: string;
  readonly state: 'running' | 'held' | 'paused' | 'refused' | 'cancelled' | 'finished';
  /** Settled invoices that are not confirmed as issued; a refused file counts as one. */
  readonly problems: number;
}

/** Costs one event of the history, when a batch begins or ends, and when an operator pauses or resumes it. */
export function upsertBatchAttributes({ batchId, state, problems }: BatchAttributes): void {
  upsertSearchAttributes([
    ...pageAttributes(batchId),
    { key: LOTE_STATE, value: state },
    { key: LOTE_PROBLEMS, value: problems },
  ]);
}

/** Lets the UI find pages by their batch. A page gets these attributes when it starts, which costs no event. */
export function pageAttributes(batchId: string): SearchAttributePair[] {
  return [{ key: LOTE_BATCH, value: batchId }];
}
