import { OUTCOMES } from '../../src/domain/invoice-state.ts';
import { ENGLISH } from '../../src/texts/languages.ts';
import { documentFormat } from '../../src/texts/speech-format.ts';
import type { BatchSnapshot, OperatorLinks, BatchProgress } from '../../src/domain/messages/messages.ts';
import { defineSearchAttributeKey, SearchAttributeType, type SearchAttributePair } from '@temporalio/common';
import { upsertSearchAttributes } from '@temporalio/workflow';

/** English, like the Temporal UI around it and the answers of the updates. */
const { count, money, plural, time } = documentFormat(ENGLISH);

/**
 * Returns the text of "Current Details" in the Temporal UI. Links come first and an empty line ends it: the UI sizes
 * the frame before it lays out the text, and may cut off the lowest line.
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
  const report = page === null || end === null ? [] : [`[Report](${page}/files/report.html)`];
  const shown = page === null ? [] : [[...report, `[Console: this batch](${page})`].join(' · '), ''];
  const name = end === null ? 'Report, when it is written' : 'Report';
  return [...shown, `${name}: \`${links.reportsDir}/${batchId}/report.html\``, ''];
}

type Row = readonly (string | number)[];

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

function situation(view: BatchView): readonly Row[] {
  const { progress, snapshot } = view;
  // Pages may still wait for their turn, for example for the first invoices.
  const isSending = progress.phase === 'waiting' && progress.pagesSent < progress.pages;
  const phase = PHASES[isSending ? 'sending' : progress.phase];
  const { pagesSent, pagesDone, pages } = progress;
  return [
    ['Now', progress.paused ? `paused by an operator (${phase})` : phase],
    ['Waits for', progress.waitingFor ?? 'nothing'],
    ['What to do', nextStep(view)],
    ...(progress.unusual === undefined ? [] : [['Unusual total', progress.unusual.difference]]),
    ...(snapshot?.misfits ?? []).map((sentence): Row => ['Service profile', sentence]),
    ['Invoices', count(progress.invoices)],
    ['Pages', `${count(pagesSent)} sent, ${count(pagesDone)} done, of ${count(pages)}`],
    ...(progress.pagesFailed > 0 ? [['Pages failed', count(progress.pagesFailed)]] : []),
    ...(progress.cancelled ? [['Cancelled', 'nothing more is sent']] : []),
  ];
}

function balance({ at, counts, net }: BatchSnapshot): readonly string[] {
  const states = OUTCOMES.flatMap((state) => {
    const invoices = counts[state];
    return invoices === undefined ? [] : [[state, count(invoices)]];
  });
  const amounts = net.map(({ currency, all, out }) => [currency, money(all), money(out)]);
  return [
    `**Balance** as of ${time(at)}`,
    '',
    table(['State', 'Invoices'], states),
    '',
    ...(amounts.length === 0 ? [] : [table(['Net', 'of the file', 'gone out'], amounts), '']),
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
  /** From the report: settled invoices that are not confirmed as issued, or are in doubt. A refused file, or differing control totals, counts as one. */
  readonly problems: number;
  /** Number of these invoices that went out, and may exist twice or have failed. */
  readonly contradicted: number;
  /** Only the declared control totals are wrong. */
  readonly totalsDiffer: boolean;
}

/** Codes of a wait that only a corrected service profile ends. */
export const PROFILE_WAIT =
  /^(?:answers-unreadable|profile-contradiction|profile-unproved|service-ids-repeated|service-list-unreadable)/;

/** Maps the code of a page's wait to the next step for the reader. */
const WAITING: readonly (readonly [code: RegExp, step: string])[] = [
  [
    /^folder-unusable/,
    'Make the folder that it names writable, or make room in it. Nothing is lost meanwhile: it is tried again by itself',
  ],
  [
    /^ledger-unavailable/,
    'See to the database of the ledger. Nothing is lost meanwhile, and all of it goes on by itself when the database takes writes again',
  ],
  [
    /^(http-401|service-unauthorized|key-refused)/,
    'The service refuses the API key: set the right one and start Lote again. Nothing is lost meanwhile',
  ],
  [
    PROFILE_WAIT,
    'The service profile does not fit the service: correct the file that SERVICE_PROFILE names and start Lote again. Nothing is lost meanwhile',
  ],
  [/^http-403/, 'The service refuses this application: ask its support. It is tried again by itself'],
  [
    /^first-invoices/,
    'Nothing: the first invoices were accepted, and the rest goes when one of them is issued. Only with a new service profile can this take longer than half a minute',
  ],
  [/^(retry-after|http-429)/, 'Nothing: the service asked to be left alone for a while'],
  [
    /./,
    "Nothing: it goes on by itself when the service answers again, for as long as LOTE_OUTAGE_PATIENCE says. The console's health page shows what is wrong",
  ],
];

/** Returns the one step that helps now, for a person who has just opened the page. */
function nextStep({ progress, snapshot, attachedTo, end, isUnreported }: BatchView): string {
  if (end !== null) return afterwards(end);
  if (isUnreported)
    return 'Nothing: the report could not be written, and the next reconciliation writes it. The failure of this run says why';
  if (attachedTo !== null) return `Look at the workflow ${attachedTo}`;
  if (progress.unusual !== undefined) {
    const input = asCode({ invoices: progress.unusual.invoices, reason: 'why it is right' });
    return `Compare the total with its source. If it is right, send the update confirmTotal with ${input}; if not, cancelRemaining`;
  }
  if (progress.paused) return 'Send the update resume to go on, or cancelRemaining';
  const { waitingFor } = progress;
  if (waitingFor !== null) return WAITING.find(([code]) => code.test(waitingFor))?.[1] ?? 'Nothing';
  if (progress.phase === 'waiting') return 'Nothing. The update settleNow asks the service at once instead of waiting';
  if ((snapshot?.problems ?? 0) > 0) return 'Nothing now. The report will list what is not confirmed as issued';
  return 'Nothing';
}

function afterwards({ state, problems, batchId, contradicted, totalsDiffer }: BatchEnd): string {
  if (state === 'refused') return 'Read in the report why the file was refused, correct it, and drop it again';
  const steps: string[] = [];
  if (contradicted > 0) steps.push(plural(CONTRADICTED, contradicted));
  const notOut = problems - contradicted;
  if (totalsDiffer) steps.push(TOTALS_DIFFER);
  else if (notOut > 0) steps.push(`${plural(NOT_OUT, notOut)} with ${asCode({ batch: batchId })}`);
  return steps.length === 0 ? 'Nothing: every invoice went out' : steps.join('. ');
}

const CONTRADICTED =
  '{n} [invoice|invoices] went out and may exist twice, or have failed: look [it|them] up at the service, and do not send [it|them] again';
const TOTALS_DIFFER =
  'Every invoice of the file went out, but it does not have the control totals that were declared: compare it with its source';
const NOT_OUT =
  '{n} [invoice is|invoices are] not confirmed as issued. Correct the rows of the corrections file and drop that one; or send the same again: start the workflow retryInvoices';

/** Formats the input as code, because the UI makes curly quotes in sentences, which break a copied input. */
function asCode(input: Readonly<Record<string, string | number>>): string {
  const members = Object.entries(input).map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`);
  return `\`{${members.join(', ')}}\``;
}

const LOTE_BATCH = defineSearchAttributeKey('LoteBatch', SearchAttributeType.KEYWORD);
const LOTE_STATE = defineSearchAttributeKey('LoteState', SearchAttributeType.KEYWORD);
const LOTE_PROBLEMS = defineSearchAttributeKey('LoteProblems', SearchAttributeType.INT);

/** The words of the report as search attributes, for lists such as `LoteState = "paused"` or `LoteProblems > 0` in the Temporal UI. */
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
