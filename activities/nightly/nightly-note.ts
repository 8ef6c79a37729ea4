import { commandLine, type CommandReader } from '../../src/domain/text/command-line.ts';
import type { ClaimedFile, Destination } from '../../src/domain/ports/drop-folder.ts';
import type { NightlyVerdict } from '../../src/domain/ports/run-log.ts';
import type { BatchRecord } from '../../src/domain/ports/ledger.ts';
import type { BatchResult } from '../../src/contract/messages.ts';

/** How the batch of a dropped file ended. */
export type FileEnd =
  | { readonly kind: 'batch'; readonly result: BatchResult }
  /** It waits until an operator has confirmed its total, and nothing of it was sent. */
  | { readonly kind: 'held'; readonly batchId: string; readonly invoices: number; readonly difference: string }
  | { readonly kind: 'failed'; readonly code: string; readonly message: string };

export interface NightlyNote {
  readonly verdict: NightlyVerdict;
  readonly destination: Destination;
  /** The same bytes were a batch before this night. */
  readonly known: boolean;
  readonly sentences: readonly string[];
  /** The whole text of the note beside the file. */
  readonly text: string;
}

export interface NoteRequest {
  readonly file: Pick<ClaimedFile, 'name' | 'resumed'>;
  readonly end: FileEnd;
  /** The batch as the ledger knows it; null when there is none. */
  readonly batch: BatchRecord | null;
  readonly night: { readonly nightId: string; readonly startedAt: number };
  /** Who reads it works for this application. */
  readonly reader: CommandReader;
}

/** Says in words what became of a file and what to do next. */
export function nightlyNote({ file, end, batch, night, reader }: NoteRequest): NightlyNote {
  const known = batch !== null && !file.resumed && batch.startedAt < night.startedAt;
  const verdict = verdictOf(end);
  const sentences = [
    ...(file.resumed ? ['An earlier night had claimed it and was interrupted; this night went on with it.'] : []),
    ...(known ? [knownSentence(batch)] : []),
    ...outcomeSentences(end, verdict, reader),
  ];
  const paths = end.kind === 'batch' ? end.result.reports : null;
  const lines = [
    `File         ${file.name}`,
    `Night        ${night.nightId}`,
    `Batch        ${batchIdOfEnd(end) ?? 'none'}`,
    '',
    ...sentences,
    '',
    ...(paths === null ? [] : [`Report       ${paths.html}`]),
    ...(paths === null || paths.corrections === null ? [] : [`Corrections  ${paths.corrections}`]),
  ];
  return {
    verdict,
    destination: verdict === 'issued' || verdict === 'attention' ? 'archive' : 'refused',
    known,
    sentences,
    text: lines.join('\n'),
  };
}

/** Number of invoices of a result for which a document exists: `issued` and `already-issued`. */
export function issuedOf({ counts }: Pick<BatchResult, 'counts'>): number {
  return (counts.issued ?? 0) + (counts['already-issued'] ?? 0);
}

/** Null: its run ended without a batch. */
export function batchIdOfEnd(end: FileEnd): string | null {
  if (end.kind === 'batch') return end.result.batchId;
  return end.kind === 'held' ? end.batchId : null;
}

function verdictOf(end: FileEnd): NightlyVerdict {
  if (end.kind === 'failed') return 'failed';
  if (end.kind === 'held') return 'attention';
  const { state, counts } = end.result;
  if (state === 'refused') return 'refused';
  const everything = issuedOf(end.result) === (counts.invoices ?? 0) && (counts.rowsWithoutInvoice ?? 0) === 0;
  return everything && state === 'finished' ? 'issued' : 'attention';
}

function knownSentence(batch: BatchRecord): string {
  const first = new Date(batch.startedAt).toISOString().slice(0, 16).replace('T', ' ');
  return `The same bytes were dropped before, on ${first} UTC as ${batch.file}: it is the same batch, and nothing that was sent is sent again.`;
}

function outcomeSentences(end: FileEnd, verdict: NightlyVerdict, reader: CommandReader): readonly string[] {
  if (end.kind === 'failed') {
    return [
      `Its run ended without a result (${end.code}): ${end.message}`,
      'What it had sent is in the ledger. Drop the file again: it goes on where it stopped, and nothing is sent twice.',
    ];
  }
  if (end.kind === 'held') {
    const confirm = commandLine(reader, `confirm-total ${end.batchId} --invoices ${end.invoices} --reason WHY`);
    return [
      `Held: nothing of it was sent. ${end.difference}`,
      `If the total is right, confirm it: on the page of the batch in the console, or with ${confirm}. The batch is then sent at once. If it is wrong, cancel the batch.`,
    ];
  }
  const { counts, reports, state } = end.result;
  if (verdict === 'refused')
    return ['Refused: nothing of it was sent. The report says why. Correct the file and drop it again.'];
  if (verdict === 'issued') return [`Everything went out: ${counts.invoices ?? 0} invoices.`];
  const missing = (counts.invoices ?? 0) - issuedOf(end.result);
  const withoutInvoice = counts.rowsWithoutInvoice ?? 0;
  return [
    `${state === 'cancelled' ? 'Cancelled by an operator. ' : ''}${missing} of ${counts.invoices ?? 0} invoices did not go out.`,
    ...(withoutInvoice === 0 ? [] : [`${withoutInvoice} rows belong to no invoice.`]),
    reports.corrections === null
      ? 'The report says of each what to do next.'
      : 'Correct the rows in the corrections file and drop that file; the report says why each of them did not go out.',
  ];
}
