import { commandLine, type CommandReader } from '../../src/domain/text/command-line.ts';
import type { ClaimedFile, Destination } from '../../src/domain/ports/drop-folder.ts';
import type { NightlyRemark, NightlyVerdict } from '../../src/domain/ports/run-log.ts';
import { issuedCount } from '../../src/domain/outcome-counts.ts';
import type { BatchRecord } from '../../src/domain/ports/ledger/batch-record.ts';
import { lostRowsOf } from '../../src/contract/lost-rows.ts';
import type { BatchResult } from '../../src/contract/messages.ts';
import { isWholeFileIssued } from '../../src/contract/whole-file.ts';
import { ENGLISH, type Speech } from '../../src/texts/choose-language.ts';
import { documentFormat } from '../../src/texts/document-format.ts';
import { NIGHT_TEXTS } from '../../src/texts/nights/night-catalogue.ts';
import { plainText } from '../../src/texts/plain-text.ts';
import { remarkText } from '../../src/texts/nights/remark-text.ts';

/** How the batch of a dropped file ended. */
export type FileEnd =
  | { readonly kind: 'batch'; readonly result: BatchResult }
  /** It waits until an operator has confirmed its total, and nothing of it was sent. */
  | { readonly kind: 'held'; readonly batchId: string; readonly invoices: number; readonly difference: string }
  /** An operator has paused it: it goes on, and has its report, when it is resumed. */
  | { readonly kind: 'paused'; readonly batchId: string }
  | { readonly kind: 'failed'; readonly code: string; readonly message: string };

export interface NightlyNote {
  readonly verdict: NightlyVerdict;
  readonly destination: Destination;
  /** The same bytes were a batch before this night. */
  readonly known: boolean;
  readonly remarks: readonly NightlyRemark[];
  /** The remarks in English, for programs. */
  readonly sentences: readonly string[];
  /** The whole text of the note beside the file, in the language of the installation. */
  readonly text: string;
}

/** The same; of a batch that goes on, with its numbers of invoices now: all, those for which a document exists, and of these what an earlier file had issued. */
export type CountedEnd =
  | Exclude<FileEnd, { kind: 'paused' }>
  | (Extract<FileEnd, { kind: 'paused' }> & {
      readonly invoices: number;
      readonly issued: number;
      readonly alreadyIssued: number;
    });

export interface NoteRequest {
  readonly file: Pick<ClaimedFile, 'name' | 'resumed'>;
  readonly end: CountedEnd;
  /** The batch as the ledger knows it; null when there is none. */
  readonly batch: BatchRecord | null;
  /** References of its invoices that went out and are in doubt; they stand in the note alone, for Temporal's history keeps the remarks. Left out: none. */
  readonly contradictedRefs?: readonly string[];
  /** The file has other bytes now than the batch has read: whoever wrote it went on after a pause. */
  readonly changed: boolean;
  readonly night: { readonly nightId: string; readonly startedAt: number };
  readonly speech: Speech;
  /** Who reads it works for this application. */
  readonly reader: CommandReader;
}

/** Says in words what became of a file and what to do next. */
export function nightlyNote(request: NoteRequest): NightlyNote {
  const { file, end, batch, changed, night, reader } = request;
  const known = batch !== null && !file.resumed && batch.startedAt < night.startedAt;
  const outcome = verdictOf(end);
  const verdict = changed && outcome === 'issued' ? 'attention' : outcome;
  const remarks: readonly NightlyRemark[] = [
    ...(file.resumed ? [{ kind: 'resumed' } as const] : []),
    ...(known ? [{ kind: 'dropped-before', at: batch.startedAt, file: batch.file } as const] : []),
    ...(changed ? [{ kind: 'changed' } as const] : []),
    ...outcomeRemarks(end, outcome, reader),
  ];
  const english = documentFormat(ENGLISH);
  return {
    verdict,
    destination: verdict === 'issued' || verdict === 'attention' ? 'archive' : 'refused',
    known,
    remarks,
    sentences: remarks.map((remark) => remarkText(english, remark)),
    text: noteText(request, remarks),
  };
}

/** Wide enough for the longest name of a line, in each language. */
const NAME_WIDTH = 13;

function noteText(
  { file, end, night, speech, contradictedRefs = [] }: NoteRequest,
  remarks: readonly NightlyRemark[],
): string {
  const format = documentFormat(speech);
  const { nights, nightFile } = NIGHT_TEXTS[speech.language];
  const paths = end.kind === 'batch' ? end.result.reports : null;
  const line = (name: string, value: string): string => name.padEnd(NAME_WIDTH) + value;
  return [
    line(nightFile.file, plainText(file.name)),
    line(nights.night, night.nightId),
    line(nightFile.batch, batchIdOfEnd(end) ?? nightFile.noBatch),
    '',
    ...remarks.map((remark) => remarkText(format, remark)),
    '',
    ...(contradictedRefs.length === 0
      ? []
      : [line(nightFile.inDoubt, contradictedRefs.map((ref) => plainText(ref)).join('; '))]),
    ...(paths === null ? [] : [line(nightFile.report, paths.html)]),
    ...(paths === null || paths.corrections === null ? [] : [line(nightFile.corrections, paths.corrections)]),
  ].join('\n');
}

/** Null: its run ended without a batch. */
export function batchIdOfEnd(end: FileEnd): string | null {
  if (end.kind === 'batch') return end.result.batchId;
  return end.kind === 'failed' ? null : end.batchId;
}

function verdictOf(end: FileEnd): NightlyVerdict {
  if (end.kind === 'failed') return 'failed';
  if (end.kind === 'held' || end.kind === 'paused') return 'attention';
  const { state } = end.result;
  if (state === 'refused') return 'refused';
  return isWholeFileIssued(end.result) && state === 'finished' ? 'issued' : 'attention';
}

function outcomeRemarks(end: CountedEnd, verdict: NightlyVerdict, reader: CommandReader): readonly NightlyRemark[] {
  if (end.kind === 'failed')
    return [{ kind: 'run-failed', code: end.code, message: end.message }, { kind: 'drop-again' }];
  if (end.kind === 'held') {
    const command = commandLine(reader, `confirm-total ${end.batchId} --invoices ${end.invoices} --reason WHY`);
    return [
      { kind: 'held', difference: end.difference },
      { kind: 'confirm-total', command },
    ];
  }
  if (end.kind === 'paused') {
    const n = end.invoices - end.issued;
    return [
      { kind: 'paused' },
      ...(n === 0 ? [] : [{ kind: 'missing', n, of: end.invoices, cancelled: false } as const]),
    ];
  }
  const { counts, reports, state } = end.result;
  const { invoices = 0, contradicted = 0 } = counts;
  const lost = lostRowsOf(counts);
  if (verdict === 'refused') return [{ kind: 'refused' }];
  if (verdict === 'issued') return [{ kind: 'all-out', n: invoices }];
  const missing = { n: invoices - issuedCount(counts), of: invoices, cancelled: state === 'cancelled' };
  return [
    ...(contradicted === 0 ? [] : [{ kind: 'contradicted', n: contradicted } as const]),
    // Only rows are lost, the control totals are others, or invoices are in doubt: of the invoices none is missing.
    ...(missing.n === 0 && !missing.cancelled ? [] : [{ kind: 'missing', ...missing } as const]),
    ...(lost === 0 ? [] : [{ kind: 'rows-without-invoice', n: lost } as const]),
    { kind: reports.corrections === null ? 'read-report' : 'use-corrections' },
  ];
}
