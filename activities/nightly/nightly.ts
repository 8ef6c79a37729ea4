import { LoteError } from '../../src/domain/errors.ts';
import type { Finding } from '../../src/domain/invoice.ts';
import { countsByOutcome, issuedCount } from '../../src/domain/outcome-counts.ts';
import type { ActivityDeps } from '../deps.ts';
import type { OwnedWork } from '../assert-ownership.ts';
import { recordStopOf } from '../settling/close-orphans.ts';
import { batchIdOf } from '../../src/domain/messages/batch-id.ts';
import type { Counts } from '../../src/domain/messages/messages.ts';
import { batchIdOfEnd, nightlyNote, type FileEnd, type NightlyFigures } from './nightly-note.ts';
import type {
  ChangedFile,
  ClaimedFile,
  NightlyRun,
  WaitingFile,
  WaitingReason,
} from '../../src/domain/records/dropped-file.ts';
import type { BatchRecord, BatchStop } from '../../src/domain/records/batch-record.ts';
import type { NightlyRunEntry, NightMessageNote } from '../../src/domain/records/night.ts';
import { unusualTotalOf } from '../batch/total-check.ts';

/** An unfinished upload needs no person, because the next night takes its file. */
const STILL_ARRIVING: ReadonlySet<WaitingReason> = new Set(['growing', 'empty']);

/** Gives the night its name and its date, in the zone or else in the worker's own. @throws LoteError `transition-refused` when nights were switched off before a worker began this one */
export async function openNightlyRun(
  deps: ActivityDeps,
  {
    workflowId,
    runId,
    startedAt,
    timezone,
  }: Omit<NightlyRun, 'nightId' | 'date'> & OwnedWork & { timezone: string | null },
): Promise<OpenedNightlyRun> {
  if (await deps.runs.isSwitchedOff(workflowId, runId))
    throw new LoteError(
      'transition-refused',
      'Opening a night: the schedule that started it must be there, but it was deleted (lote nightly off) before a worker began this run. It takes nothing.',
    );
  const date = dateIn(startedAt, timezone);
  // Uses the end of the run's id, because its beginning is a time, which two runs of one minute share.
  const night = { nightId: `${date}-${runId.slice(-8)}`, date, workflowId, runId, startedAt };
  return { ledgerId: deps.ledger.id, night, patienceMs: deps.settings.dropPatienceMs };
}

/** The nightly run of a step, and its ledger. */
export interface NightlyScope {
  readonly ledgerId: string;
  readonly night: NightlyRun;
}

/** A nightly run that has its folder and may claim files. */
export interface OpenedNightlyRun extends NightlyScope {
  /** How long the night waits for files that are still being written. */
  readonly patienceMs: number;
}

/** A claimed file with the hash of its bytes and the id of their batch; both are null if the file cannot be read. */
export interface DroppedFile extends ClaimedFile {
  readonly sha256: string | null;
  readonly batchId: string | null;
}

/** Claims the complete files of the drop folder, and the files that an interrupted night left. */
export async function claimDrops(deps: ActivityDeps, { night }: NightlyScope) {
  const { claimed, waiting } = await deps.drops.claim(night, (workflowId, runId) =>
    deps.runs.isOpen(workflowId, runId, night.runId),
  );
  const files: DroppedFile[] = [];
  for (const file of claimed) files.push({ ...file, ...(await batchOf(deps, file)) });
  return { files, waiting: bounded(waiting) };
}

/** Temporal takes no result of more than 2 MB. */
const MOST_NAMED = 200;

/** Names the first files of each reason; the last of them has the number of the rest. */
function bounded(waiting: readonly WaitingFile[]): readonly WaitingFile[] {
  return [...new Set(waiting.map(({ reason }) => reason))].flatMap((reason) => {
    const files = waiting.filter((file) => file.reason === reason);
    const more = files.length - MOST_NAMED;
    return files.slice(0, MOST_NAMED).map((file, at) => (more > 0 && at === MOST_NAMED - 1 ? { ...file, more } : file));
  });
}

/** Returns nulls if the file cannot be read; the run of its batch will say why. */
async function batchOf(
  deps: ActivityDeps,
  { file, name }: ClaimedFile,
): Promise<Pick<DroppedFile, 'sha256' | 'batchId'>> {
  try {
    const sha256 = await deps.files.hash(await deps.files.resolve(file));
    return { sha256, batchId: batchIdOf(deps.application, name, sha256) };
  } catch {
    deps.log.warn('a dropped file cannot be read', { file });
    return { sha256: null, batchId: null };
  }
}

/** Archives a file whose batch has ended, with a note beside it, and records it in the summary of the nightly run. */
export async function archiveDrop(
  deps: ActivityDeps,
  { night, file, end }: NightlyScope & { readonly file: DroppedFile; readonly end: FileEnd },
): Promise<NightlyRunEntry> {
  const batchId = batchIdOfEnd(end);
  const batch = batchId === null ? null : await deps.ledger.findBatch(batchId);
  const figures = await figuresOf(deps, end, await issuedEarlier(deps, { file, batch, startedAt: night.startedAt }));
  const { destination, text, ...note } = nightlyNote({
    ...{ file, end, figures, batch, night, speech: deps.speech },
    stopped: await stopOf(deps, batchId ?? file.batchId),
    contradictedRefs: await contradictedRefsOf(deps, end),
    refusal: await refusalOf(deps, end),
    unknownEvents: batch === null ? 0 : await unknownEventsOf(deps, batch, end),
  });
  const { slot, name, resumed, size, changedAt } = file;
  const read = { batchId, size, changedAt };
  const shelvedAs = await deps.drops.archive({ night, slot, name, ...read, destination, note: text });
  const entry: NightlyRunEntry = {
    ...{ slot, name, shelvedAs, resumed, batchId },
    ...note,
    ...(end.kind === 'held' && { waitsFor: 'total-unusual' as const }),
    ...(end.kind === 'paused' && { waitsFor: 'resume' as const }),
    ...figures,
    report: end.kind === 'batch' ? end.result.reports.html : null,
    corrections: end.kind === 'batch' ? end.result.reports.corrections : null,
  };
  await deps.nights.record(night, entry);
  return entry;
}

/** Returns why the batch was stopped; first records the stop of a run that ended a moment ago. */
async function stopOf(deps: ActivityDeps, batchId: string | null): Promise<BatchStop | null> {
  const found = batchId === null ? null : await deps.ledger.findBatch(batchId);
  if (found === null) return null;
  if (found.finishedAt === null) await recordStopOf(deps, found);
  return (await deps.ledger.findBatch(found.batchId))?.stopped ?? null;
}

/** Returns why the file was refused, or null if it was not refused. */
async function refusalOf({ ledger }: ActivityDeps, end: FileEnd): Promise<string | null> {
  if (end.kind !== 'batch' || end.result.state !== 'refused') return null;
  const findings = await ledger.fileFindings(end.result.batchId);
  return findings.find(({ severity }) => severity === 'error')?.message ?? null;
}

/** Returns the number of events about unknown invoices; 0 if every invoice of this batch has an answer and none was refused. */
async function unknownEventsOf({ ledger }: ActivityDeps, batch: BatchRecord, end: FileEnd): Promise<number> {
  if (end.kind !== 'batch') return 0;
  const { unknown = 0, rejected = 0 } = end.result.counts;
  return unknown + rejected === 0 ? 0 : (await ledger.deliveryTrouble(batch.startedAt)).unknownIds;
}

/** Returns the references that the report of the batch counts as in doubt. */
async function contradictedRefsOf({ ledger }: ActivityDeps, end: FileEnd): Promise<readonly string[]> {
  if (end.kind !== 'batch' || (end.result.counts.contradicted ?? 0) === 0) return [];
  const { batchId } = end.result;
  return (await ledger.contradictedInvoices([batchId])).get(batchId)?.refs ?? [];
}

/** Returns how many invoices of the batch were issued before the night; Infinity if the batch had ended before, and the night sent nothing of it. */
async function issuedEarlier(
  { ledger }: ActivityDeps,
  { file, batch, startedAt }: { file: DroppedFile; batch: BatchRecord | null; startedAt: number },
): Promise<number> {
  if (batch === null || batch.startedAt >= startedAt) return 0;
  if (!file.resumed && batch.finishedAt !== null && batch.finishedAt < startedAt) return Infinity;
  return ledger.issuedBefore(batch.batchId, startedAt);
}

/** Counts the invoices of the file: all, those that have a document, and of these the ones that an earlier file issued. */
async function figuresOf({ ledger }: ActivityDeps, end: FileEnd, earlier: number): Promise<NightlyFigures> {
  if (end.kind === 'failed') return { invoices: 0, issued: 0 };
  if (end.kind === 'held') return { invoices: end.invoices, issued: 0 };
  const counted = end.kind === 'paused' ? await ledger.countOutcomes(end.batchId) : [];
  const counts: Counts =
    end.kind === 'paused'
      ? { ...countsByOutcome(counted), invoices: counted.reduce((sum, { invoices }) => sum + invoices, 0) }
      : end.result.counts;
  const issued = issuedCount(counts);
  const alreadyIssued = Math.min(issued, Math.max(counts['already-issued'] ?? 0, earlier));
  return { invoices: counts.invoices ?? 0, issued, ...(alreadyIssued > 0 && { alreadyIssued }) };
}

/**
 * Ends a nightly run: removes its folder and completes its summary. Returns the paths of the summary, the number of
 * files, the number of those with invoices that are not confirmed as issued (`problems`), and whether a message is to be
 * sent. `waiting` has the waiting files, and archived ones that changed after they were read.
 */
export async function finishNightlyRun(
  deps: ActivityDeps,
  { night, waiting: left }: NightlyScope & { readonly waiting: readonly WaitingFile[] },
) {
  await deps.drops.close(night);
  const changed = (await noteChangedFiles(deps)).map(({ name }) => ({ name, reason: 'changed' as const }));
  const waiting = [...left, ...bounded(changed)];
  const { json, html, entries } = await deps.nights.finish(night, { waiting, finishedAt: deps.now() });
  const problems = entries.filter(({ verdict }) => verdict !== 'issued').length;
  const needsPerson = waiting.some(({ reason }) => !STILL_ARRIVING.has(reason));
  const state = problems === 0 && !needsPerson ? 'issued' : 'attention';
  if (entries.length > 0 || needsPerson) await deps.announce({ kind: 'night', id: night.nightId, state, html, json });
  return { reports: { json, html }, files: entries.length, problems, waiting, sendsMail: deps.messages !== null };
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

/** A file whose batch waits for a person, by its slot. */
export interface WaitingDrop {
  readonly slot: string;
  readonly end: Extract<FileEnd, { kind: 'held' | 'paused' }>;
}

/** Returns the files whose batch continues only when a person resumes it or confirms its total. */
export async function waitingDrops(
  deps: ActivityDeps,
  { files }: NightlyScope & { readonly files: readonly Pick<DroppedFile, 'slot' | 'sha256'>[] },
): Promise<readonly WaitingDrop[]> {
  const waiting: WaitingDrop[] = [];
  for (const { slot, sha256 } of files) {
    const batch = sha256 === null ? null : await deps.ledger.batchOfFile(deps.application, sha256);
    const end = batch === null ? null : await personWaitOf(deps, batch);
    if (end !== null) waiting.push({ slot, end });
  }
  return waiting;
}

/** Returns null if the batch continues by itself, or its run has ended and the night closes it. */
async function personWaitOf(deps: ActivityDeps, batch: BatchRecord): Promise<WaitingDrop['end'] | null> {
  const { batchId, state, workflowId, runId } = batch;
  const isPaused = state === 'paused' && !(await isAnswered(deps, batchId));
  const unusual = state === 'running' ? unusualTotalOf(await deps.ledger.totalCheck(batchId)) : null;
  if ((!isPaused && unusual === null) || !(await deps.runs.isOpen(workflowId, runId))) return null;
  return unusual === null ? { kind: 'paused', batchId } : { kind: 'held', batchId, ...unusual };
}

/** A paused batch ends by itself if nothing is left to send: its sent invoices have their final word, or will get it. */
async function isAnswered({ ledger }: ActivityDeps, batchId: string): Promise<boolean> {
  const outcomes = (await ledger.countOutcomes(batchId)).map(({ outcome }) => outcome);
  return outcomes.some((one) => SENT.has(one)) && !outcomes.includes('staged') && !outcomes.includes('sending');
}

const SENT: ReadonlySet<string> = new Set(['accepted', 'issued', 'failed', 'rejected']);

function fileChanged(name: string): Finding {
  const message = `The archived file ${name} was written to after it was read: what is new in it was not read, and is in no report. Drop it again: nothing is sent twice.`;
  return { row: null, column: null, code: 'archived-file-changed', message, severity: 'error' };
}

/**
 * Notes each archived file that changed after it was read as a finding of its batch, whose report then becomes
 * outdated.
 */
export async function noteChangedFiles(deps: ActivityDeps): Promise<readonly ChangedFile[]> {
  const changed = await findChangedFiles(deps);
  for (const { name, batchId } of changed)
    if (batchId !== null) await deps.ledger.noteFinding(batchId, fileChanged(name));
  return changed;
}

async function findChangedFiles(deps: ActivityDeps): Promise<readonly ChangedFile[]> {
  const { application, drops, files, ledger, log, now } = deps;
  try {
    return await drops.changed(now(), async (path) => {
      const sha256 = await files.hash(path).catch(() => null);
      return sha256 === null || (await ledger.batchOfFile(application, sha256)) !== null;
    });
  } catch (error) {
    const isAway = error instanceof LoteError && ['folder-unusable', 'input-unusable'].includes(error.code);
    if (!isAway) throw error;
    // Reconciliation goes on with its other work; the next one looks again.
    log.warn('the archived files cannot be compared with what was read', { err: error });
    return [];
  }
}

/** The detail of a try that was cut off: its message may have arrived. */
const UNANSWERED = 'The last try ended without an answer: it may have been sent.';

/** Sends the message of a night, unless the run log has it as sent. After a crash before that is noted, Lote sends it again with the same id. */
export async function sendNightMessage(deps: ActivityDeps, { night }: NightlyScope): Promise<void> {
  const run = await deps.nights.run(night);
  if (run === null || deps.messages === null || run.message?.state === 'sent') return;
  const note = (state: NightMessageNote['state'], detail: string | null) =>
    deps.nights.noteMessage(night, { state, at: deps.now(), detail });
  let wrong: string | null;
  try {
    wrong = await deps.messages.send({ date: night.date, run });
  } catch (error) {
    if (error instanceof LoteError && error.code === 'message-unsent') await note('unsent', error.message);
    if (error instanceof LoteError && error.code === 'message-refused') await note('refused', error.message);
    throw error;
  }
  await note('sent', wrong).catch((err: unknown) =>
    // An error here would send the message again for as long as the folder cannot be written.
    deps.log.warn('a message was sent, and the page of its night does not say so', { night: night.nightId, err }),
  );
}

/**
 * Notes that Lote stops sending the message of a night, and the reason. If the last try gave no answer (`isUnanswered`),
 * the note adds that the message may have been sent. A sent message stays sent.
 */
export async function closeNightMessage(
  deps: ActivityDeps,
  { night, isUnanswered }: NightlyScope & { readonly isUnanswered: boolean },
): Promise<void> {
  const run = await deps.nights.run(night);
  const last = run?.message;
  if (run === null || last?.state === 'sent' || last?.state === 'refused') return;
  const noted = last?.detail ?? null;
  const detail = [noted, isUnanswered || noted === null ? UNANSWERED : null].filter((part) => part !== null).join(' ');
  await deps.nights.noteMessage(night, { state: 'refused', at: deps.now(), detail });
}
