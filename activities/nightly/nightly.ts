import { Context } from '@temporalio/activity';
import { LoteError } from '../../src/domain/errors.ts';
import { countsByOutcome, issuedCount } from '../../src/domain/outcome-counts.ts';
import type { ClaimedFile, NightlyRun, WaitingFile, WaitingReason } from '../../src/domain/ports/drop-folder.ts';
import type { BatchRecord } from '../../src/domain/ports/ledger/batch-record.ts';
import type { MessageChannel, NightlyRunEntry, NightlySummaryPaths } from '../../src/domain/ports/run-log.ts';
import type { ActivityDeps } from '../deps.ts';
import { batchIdOf } from '../../src/contract/batch-id.ts';
import type { BatchResult } from '../../src/contract/messages.ts';
import { batchIdOfEnd, nightlyNote, type CountedEnd, type FileEnd } from './nightly-note.ts';

const HEARTBEAT_EVERY_MS = 5_000;
/** An upload that is under way needs nobody: the next night takes its file. */
const STILL_ARRIVING: ReadonlySet<WaitingReason> = new Set(['growing', 'empty']);

export interface OpenNightlyRunInput {
  readonly workflowId: string;
  readonly runId: string;
  readonly startedAt: number;
  /** Decides which date the night has; null: the worker's own zone. */
  readonly timezone: string | null;
}

/** A nightly run that has its folder and may claim files. */
export interface OpenedNightlyRun {
  readonly ledgerId: string;
  readonly night: NightlyRun;
  /** How long the night waits for files that are still being written. */
  readonly patienceMs: number;
  /** Of what the Temporal UI shows, as `LOTE_LANGUAGE`; left out by an earlier version of Lote. */
  readonly language?: string;
}

/** Gives the night its name and its date. */
export async function openNightlyRun(
  deps: ActivityDeps,
  { workflowId, runId, startedAt, timezone }: OpenNightlyRunInput & { readonly ledgerId?: string },
): Promise<OpenedNightlyRun> {
  const date = dateIn(startedAt, timezone);
  // The end of the run's id: its beginning is a time, and two runs of one minute share it.
  const night = { nightId: `${date}-${runId.slice(-8)}`, date, workflowId, runId, startedAt };
  return { ledgerId: deps.ledger.id, night, patienceMs: deps.settings.dropPatienceMs, language: deps.speech.locale };
}

/** The nightly run that a step belongs to, and its ledger. */
export interface NightlyScope {
  readonly ledgerId: string;
  readonly night: NightlyRun;
}

/** A claimed file with the id of the batch that it becomes. */
export interface DroppedFile extends ClaimedFile {
  /** Id of the batch that its bytes make; null when it cannot be read. */
  readonly batchId: string | null;
}

export interface ClaimedDrops {
  readonly files: readonly DroppedFile[];
  readonly waiting: readonly WaitingFile[];
}

/** Claims what is complete in the drop folder, and what an interrupted night left. */
export async function claimDrops(deps: ActivityDeps, { night }: NightlyScope): Promise<ClaimedDrops> {
  const context = Context.current();
  const heartbeat = setInterval(() => context.heartbeat(), HEARTBEAT_EVERY_MS);
  try {
    const { claimed, waiting } = await deps.drops.claim(night, (workflowId, runId) =>
      deps.runs.isOpen(workflowId, runId, night.runId),
    );
    const files: DroppedFile[] = [];
    for (const file of claimed) files.push({ ...file, batchId: await batchOf(deps, file) });
    return { files, waiting };
  } finally {
    clearInterval(heartbeat);
  }
}

/** Null: the file cannot be read; its batch will say why. */
async function batchOf(deps: ActivityDeps, { file, name }: ClaimedFile): Promise<string | null> {
  try {
    return batchIdOf(deps.application, name, await deps.files.hash(await deps.files.resolve(file)));
  } catch {
    deps.log.warn('a dropped file cannot be read', { file });
    return null;
  }
}

export interface ArchiveDropInput extends NightlyScope {
  readonly file: DroppedFile;
  readonly end: FileEnd;
}

/** Archives a file whose batch has ended, with a note beside it, and records it in the summary of the nightly run. */
export async function archiveDrop(
  deps: ActivityDeps,
  { night, file, end: ended }: ArchiveDropInput,
): Promise<NightlyRunEntry> {
  const end = await countedEnd(deps, ended);
  const batchId = batchIdOfEnd(end);
  const batch = batchId === null ? null : await deps.ledger.findBatch(batchId);
  const changed = batch !== null && (await isChanged(deps, { night, file, sha256: batch.sha256 }));
  const contradictedRefs = await contradictedRefsOf(deps, end);
  const note = nightlyNote({ file, end, batch, contradictedRefs, changed, night, speech: deps.speech, reader: deps });
  const { slot, name, resumed } = file;
  const shelvedAs = await deps.drops.archive({ night, slot, name, destination: note.destination, note: note.text });
  const entry: NightlyRunEntry = {
    slot,
    name,
    shelvedAs,
    verdict: note.verdict,
    sentences: note.sentences,
    remarks: note.remarks,
    known: note.known,
    resumed,
    batchId,
    ...waitOf(end),
    ...(await figuresOf(deps, end, note.known ? { batch, night } : null)),
    report: end.kind === 'batch' ? end.result.reports.html : null,
    corrections: end.kind === 'batch' ? end.result.reports.corrections : null,
  };
  await deps.nights.record(night, entry);
  return entry;
}

/** References of what the report of the batch counts as in doubt. */
async function contradictedRefsOf({ ledger }: ActivityDeps, end: FileEnd): Promise<readonly string[]> {
  if (end.kind !== 'batch' || (end.result.counts.contradicted ?? 0) === 0) return [];
  const { batchId } = end.result;
  return (await ledger.contradictedInvoices([batchId])).get(batchId)?.refs ?? [];
}

interface ReadBytes {
  readonly night: NightlyRun;
  readonly file: DroppedFile;
  /** Of what the batch has read. */
  readonly sha256: string;
}

/**
 * Looks into the archive where the claim folder has the file no more: an earlier try may have archived it before it was
 * recorded. False also of a file that is in neither, or that cannot be read.
 */
async function isChanged(deps: ActivityDeps, { night, file, sha256 }: ReadBytes): Promise<boolean> {
  const claimed = await hashOf(deps, file.file);
  if (claimed !== null) return claimed !== sha256;
  const archived = await deps.drops.archivedAs({ night, slot: file.slot });
  const hash = archived === null ? null : await hashOf(deps, archived);
  return hash !== null && hash !== sha256;
}

/** Null: it is not there, or it cannot be read. */
async function hashOf({ files }: ActivityDeps, file: string): Promise<string | null> {
  try {
    return await files.hash(await files.resolve(file));
  } catch {
    return null;
  }
}

function waitOf({ kind }: FileEnd): Pick<NightlyRunEntry, 'waitsFor'> {
  if (kind === 'held') return { waitsFor: 'total-unusual' };
  return kind === 'paused' ? { waitsFor: 'resume' } : {};
}

/** Of a batch that goes on, the ledger knows what has gone out. */
async function countedEnd({ ledger }: ActivityDeps, end: FileEnd): Promise<CountedEnd> {
  if (end.kind !== 'paused') return end;
  const counts = await ledger.countOutcomes(end.batchId);
  const invoices = counts.reduce((sum, count) => sum + count.invoices, 0);
  const byOutcome = countsByOutcome(counts);
  return { ...end, invoices, issued: issuedCount(byOutcome), alreadyIssued: byOutcome['already-issued'] ?? 0 };
}

/** What a file was before this night that had been dropped before. */
interface DroppedBefore {
  readonly batch: BatchRecord | null;
  readonly night: NightlyRun;
}

async function figuresOf(
  deps: ActivityDeps,
  end: CountedEnd,
  before: DroppedBefore | null,
): Promise<Pick<NightlyRunEntry, 'invoices' | 'issued' | 'alreadyIssued'>> {
  if (end.kind === 'failed') return { invoices: 0, issued: 0 };
  if (end.kind === 'held') return { invoices: end.invoices, issued: 0 };
  const [invoices, issued] =
    end.kind === 'paused'
      ? [end.invoices, end.issued]
      : [end.result.counts.invoices ?? 0, issuedCount(end.result.counts)];
  const earlier = end.kind === 'paused' ? end.alreadyIssued : await alreadyIssuedOf(deps, end.result);
  const alreadyIssued = Math.max(earlier, before === null ? 0 : await issuedBefore(deps, before, issued));
  return { invoices, issued, ...saidIfAny(Math.min(alreadyIssued, issued)) };
}

function saidIfAny(alreadyIssued: number): Pick<NightlyRunEntry, 'alreadyIssued'> {
  return alreadyIssued === 0 ? {} : { alreadyIssued };
}

/** Everything where the batch had ended before the night: nothing of it was sent again. */
async function issuedBefore(
  { ledger }: ActivityDeps,
  { batch, night }: DroppedBefore,
  issued: number,
): Promise<number> {
  if (batch === null) return 0;
  const { batchId, finishedAt } = batch;
  if (finishedAt !== null && finishedAt < night.startedAt) return issued;
  return ledger.issuedBefore(batchId, night.startedAt);
}

/** The figures of the report also have what was issued while this batch was attached to it. */
async function alreadyIssuedOf({ ledger }: ActivityDeps, result: BatchResult): Promise<number> {
  const states = (await ledger.reportFigures(result.batchId))?.states ?? {};
  // A newer report may have been written since the result.
  return Math.min(states['already-issued'] ?? result.counts['already-issued'] ?? 0, issuedCount(result.counts));
}

export interface FinishNightlyRunInput extends NightlyScope {
  readonly waiting: readonly WaitingFile[];
}

export interface FinishedNightlyRun {
  readonly reports: NightlySummaryPaths;
  readonly files: number;
  /** Files of which not everything is confirmed as issued. */
  readonly problems: number;
  /** Ways by which a message of the night goes out; left out: none, also by an earlier version of Lote. */
  readonly channels?: readonly MessageChannel[];
}

/** Ends a nightly run: removes its folder and completes its summary. */
export async function finishNightlyRun(
  deps: ActivityDeps,
  { night, waiting }: FinishNightlyRunInput,
): Promise<FinishedNightlyRun> {
  await deps.drops.close(night);
  const { json, html, entries } = await deps.nights.finish(night, { waiting, finishedAt: deps.now() });
  const problems = entries.filter(({ verdict }) => verdict !== 'issued').length;
  const left = waiting.some(({ reason }) => !STILL_ARRIVING.has(reason));
  const state = problems === 0 && !left ? 'issued' : 'attention';
  if (entries.length > 0 || left) await deps.announce({ kind: 'night', id: night.nightId, state, html, json });
  const { channels } = deps.messages;
  return { reports: { json, html }, files: entries.length, problems, ...(channels.length === 0 ? {} : { channels }) };
}

/** @throws LoteError `configuration-invalid` when the zone is not one that this machine knows. */
function dateIn(epochMs: number, timezone: string | null): string {
  try {
    // Swedish dates are written as in ISO 8601.
    return new Intl.DateTimeFormat('sv-SE', {
      dateStyle: 'short',
      ...(timezone === null ? {} : { timeZone: timezone }),
    }).format(epochMs);
  } catch (cause) {
    throw new LoteError(
      'configuration-invalid',
      `Dating a night: the time zone must be an IANA name such as Europe/Lisbon, found ${JSON.stringify(timezone)}.`,
      { cause },
    );
  }
}
