import type { BatchResult } from '../../src/domain/messages/messages.ts';
import { isWholeFileIssued } from '../../src/domain/outcome-counts.ts';
import { ENGLISH, type Speech } from '../../src/texts/languages.ts';
import { documentFormat } from '../../src/texts/speech-format.ts';
import { NIGHT_TEXTS, remarkText } from '../../src/texts/nights/night-verdict.ts';
import { plainText } from '../../src/texts/fill.ts';
import type { ClaimedFile, Destination } from '../../src/domain/records/dropped-file.ts';
import type { NightlyRemark, NightlyRunEntry, NightlyVerdict } from '../../src/domain/records/night.ts';
import type { BatchRecord, BatchStop } from '../../src/domain/records/batch-record.ts';

/** How the batch of a dropped file ended. */
export type FileEnd =
  | { readonly kind: 'batch'; readonly result: BatchResult }
  /** The batch waits until an operator has confirmed its total; nothing of it was sent. */
  | { readonly kind: 'held'; readonly batchId: string; readonly invoices: number; readonly difference: string }
  /** An operator has paused the batch: it continues, and gets its report, when it is resumed. */
  | { readonly kind: 'paused'; readonly batchId: string }
  | { readonly kind: 'failed'; readonly code: string; readonly message: string };

/** Numbers of the invoices of a file. */
export type NightlyFigures = Pick<NightlyRunEntry, 'invoices' | 'issued' | 'alreadyIssued'>;

export interface NoteRequest {
  readonly file: Pick<ClaimedFile, 'name' | 'resumed'>;
  readonly end: FileEnd;
  readonly figures: NightlyFigures;
  /** The batch as the ledger knows it, or null if there is none. */
  readonly batch: BatchRecord | null;
  /** Why the batch of the file is stopped, or null if it is not. */
  readonly stopped: BatchStop | null;
  /** References of its doubtful invoices that went out; none by default. Only the note has them, because Temporal's history keeps the remarks. */
  readonly contradictedRefs?: readonly string[];
  /** Why the file was refused; null by default. Only the note has it, because it quotes the file. */
  readonly refusal?: string | null;
  /** Number of signed events since the batch began that concern documents of no invoice. */
  readonly unknownEvents?: number;
  readonly night: { readonly nightId: string; readonly startedAt: number };
  readonly speech: Speech;
}

/**
 * Says in words what became of a file and what to do next. `sentences` are the remarks in English, for programs; `text` is the
 * note beside the file, in the language of the installation. `known`: the same bytes were a batch before this night.
 */
export function nightlyNote(request: NoteRequest) {
  const { file, end, batch, night } = request;
  const known = batch !== null && !file.resumed && batch.startedAt < night.startedAt;
  const verdict = verdictOf(end);
  const remarks: readonly NightlyRemark[] = [
    ...(file.resumed ? [{ kind: 'resumed' } as const] : []),
    ...(known ? [{ kind: 'dropped-before', at: batch.startedAt, file: batch.file } as const] : []),
    ...outcomeRemarks(request, verdict),
  ];
  const destination: Destination = verdict === 'issued' || verdict === 'attention' ? 'archive' : 'refused';
  const english = documentFormat(ENGLISH);
  return {
    verdict,
    destination,
    known,
    remarks,
    sentences: remarks.map((remark) => remarkText(english, remark)),
    text: noteText(request, remarks),
  };
}

/** Wide enough for the longest name of a line, in each language. */
const NAME_WIDTH = 13;

function noteText(
  { file, end, night, speech, contradictedRefs = [], refusal = null }: NoteRequest,
  remarks: readonly NightlyRemark[],
): string {
  const format = documentFormat(speech);
  const { heads, nights, nightFile, verdicts } = NIGHT_TEXTS[speech.language];
  const paths = end.kind === 'batch' ? end.result.reports : null;
  const line = (name: string, value: string): string => name.padEnd(NAME_WIDTH) + value;
  return [
    line(heads.file, plainText(file.name)),
    line(nights.night, night.nightId),
    line(heads.batch, batchIdOfEnd(end) ?? nightFile.noBatch),
    '',
    ...remarks.map((remark) => remarkText(format, remark)),
    ...(refusal === null ? [] : [plainText(refusal)]),
    '',
    ...(contradictedRefs.length === 0
      ? []
      : [line(verdicts.inDoubt, contradictedRefs.map((ref) => plainText(ref)).join('; '))]),
    ...(paths === null ? [] : [line(nightFile.report, paths.html)]),
    ...(paths === null || paths.corrections === null ? [] : [line(nightFile.corrections, paths.corrections)]),
  ].join('\n');
}

/** Returns null if the run ended without a batch. */
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

function outcomeRemarks(
  { end, figures, stopped, file, unknownEvents = 0 }: NoteRequest,
  verdict: NightlyVerdict,
): readonly NightlyRemark[] {
  const stop = stopped === null || verdict === 'issued' ? [] : [{ kind: 'stopped', ...stopped } as const];
  const retry = end.kind === 'batch' && verdict === 'attention' ? `, lote retry ${end.result.batchId}` : '';
  const command = `lote run ${plainText(file.name)}${retry}`;
  const missing = { n: figures.invoices - figures.issued, of: figures.invoices };
  const byPerson = stop.length === 0 ? [] : [...stop, { kind: 'person-continues', command } as const];
  if (end.kind === 'failed') {
    const failed = { kind: 'run-failed', code: end.code, message: end.message } as const;
    return [failed, ...(stop.length === 0 ? [{ kind: 'drop-again' } as const] : byPerson)];
  }
  if (end.kind === 'held') {
    const confirm = `lote confirm-total ${end.batchId} --invoices ${end.invoices} --reason WHY`;
    return [
      { kind: 'held', difference: end.difference },
      { kind: 'confirm-total', command: confirm },
    ];
  }
  if (end.kind === 'paused') {
    return [...stop, { kind: 'paused' }, ...(missing.n === 0 ? [] : [{ kind: 'missing', ...missing } as const])];
  }
  const { counts, reports } = end.result;
  const { contradicted = 0, rowsLost: lost = 0 } = counts;
  if (verdict === 'refused') return stop.length === 0 ? [{ kind: 'refused' }] : byPerson;
  if (verdict === 'issued') return [{ kind: 'all-out', n: figures.invoices }];
  return [
    ...byPerson,
    ...(contradicted === 0 ? [] : [{ kind: 'contradicted', n: contradicted } as const]),
    // No invoice is missing if only rows are lost, the control totals differ, or invoices are in doubt.
    ...(missing.n === 0 ? [] : [{ kind: 'missing', ...missing } as const]),
    ...(lost === 0 ? [] : [{ kind: 'rows-without-invoice', n: lost } as const]),
    ...(unknownEvents === 0 ? [] : [{ kind: 'events-of-unknown-invoices', n: unknownEvents } as const]),
    { kind: reports.corrections === null ? 'read-report' : 'use-corrections' },
  ];
}
