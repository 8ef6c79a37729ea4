import { ANY_APPLICATION, commandLine } from '../../domain/text/command-line.ts';
import { OUTCOMES, type Outcome } from '../../domain/invoice-state.ts';
import type { ProfileMisfit } from '../../domain/profile-misfit.ts';
import { RETRY_STATES } from '../../domain/retry-decision.ts';
import { awaitsConfirmation } from '../../domain/ports/ledger/total-ledger.ts';
import type { ReadBatch } from '../../wiring/reports/batch-reader.ts';
import { issuedCount, settledCount } from '../../domain/outcome-counts.ts';
import { plainText } from '../../texts/plain-text.ts';

const GOING_ON: ReadonlySet<string> = new Set(['staging', 'running', 'paused']);

/** `lote status`: a table, newest first. `several`: there are several applications. */
export function statusTable(batches: readonly ReadBatch[], several: boolean, timeZone?: string): string {
  if (batches.length === 0) {
    const run = commandLine({ application: ANY_APPLICATION, isOneOfSeveral: several }, 'run FILE');
    return `No batch yet. Start one with: ${run}\n`;
  }
  const rows = [
    ['BATCH', 'STATE', 'STARTED', 'INVOICES', 'WENT OUT', 'DID NOT', 'OPEN'],
    ...batches.map((batch) => {
      const { out, missing, open } = balanceOf(batch);
      const doubt = (batch.contradicted ?? 0) === 0 ? '' : ` (${batch.contradicted} in doubt)`;
      const numbers =
        batch.state === 'staging'
          ? ['-', '-', '-', '-']
          : [batch.invoices, `${out}${doubt}`, missing, open].map(String);
      const state = batch.stuck === undefined ? (isHeld(batch) ? 'held' : batch.state) : 'stuck';
      return [batch.batchId, state, timeOf(batch.startedAt, timeZone), ...numbers];
    }),
  ];
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  const lines = rows.map((row) =>
    row.map((cell, at) => (at < 3 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))),
  );
  return `${lines.map((cells) => cells.join('  ')).join('\n')}\n`;
}

/** `lote status BATCH`: where it stands, why, and what to type next. `several`: there are several applications. */
export function statusOf(batch: ReadBatch, several: boolean, timeZone?: string): string {
  const { batchId, file, state, invoices, rows, counts, stuck } = batch;
  const { out, missing, open } = balanceOf(batch);
  const ended = batch.finishedAt === null ? '' : `, ended ${timeOf(batch.finishedAt, timeZone)}`;
  const states = OUTCOMES.flatMap((outcome) => (counts[outcome] ? [`${outcome} ${counts[outcome]}`] : []));
  const lines = [
    `Batch ${batchId}: ${state === 'staging' ? 'being read' : isHeld(batch) ? 'held' : state}${stuck === undefined ? '' : ', and stuck'}`,
    `  file      ${file}, started ${timeOf(batch.startedAt, timeZone)}${ended}`,
    ...(state === 'staging' || state === 'refused'
      ? []
      : [
          `  invoices  ${invoices} from ${rows} rows: ${out} went out, ${missing} not confirmed as issued, ${open} open`,
          `  states    ${states.join(', ')}`,
          ...totalLines(batch),
          ...shortfallLines(batch),
        ]),
    ...(stuck === undefined
      ? []
      : [
          `  stuck     ${stuck.workflowId}: its workflow task fails again and again (${stuck.cause}, attempt ${stuck.attempts})${
            stuck.build === null ? '' : `; its last step was made by Lote ${stuck.build}`
          }`,
        ]),
    `  next      ${nextOf(batch, missing, several)}`,
  ];
  return `${lines.map((line) => plainText(line)).join('\n')}\n`;
}

/** It waits until an operator has confirmed its total. */
function isHeld({ state, total }: ReadBatch): boolean {
  return GOING_ON.has(state) && awaitsConfirmation(total ?? null);
}

function totalLines({ total }: ReadBatch): readonly string[] {
  if (total === undefined || total === null) return [];
  const { check, pattern, confirmedAt } = total;
  switch (check.kind) {
    case 'unusual':
      return [`  total     ${confirmedAt === null ? '' : 'confirmed by an operator. '}${check.difference}`];
    case 'usual':
      return [`  total     as usual: compared with the last ${check.batches} files named ${pattern}`];
    case 'too-few':
      return [`  total     not compared: ${check.batches} of ${check.needed} earlier files named ${pattern}`];
    case 'declared':
      return ['  total     declared when the batch was started'];
    case 'corrections':
      return ['  total     not compared: it is a corrections file'];
    case 'off':
      return [];
  }
}

/** What may be wrong with the file although each of its invoices went out. */
function shortfallLines({
  rowsLost = 0,
  totalsDiffer = null,
  contradicted = 0,
  contradictedRefs = [],
}: ReadBatch): readonly string[] {
  const more = contradicted > contradictedRefs.length ? ', …' : '';
  return [
    ...(contradicted === 0
      ? []
      : [
          `  in doubt  ${contradicted} went out, and may exist twice or have failed; look them up at the service: ${contradictedRefs.join('; ')}${more}`,
        ]),
    ...(rowsLost === 0 ? [] : [`  lost      ${rowsLost} rows without a usable reference or tax number, in no invoice`]),
    ...(totalsDiffer === null ? [] : [`  totals    ${totalsDiffer}`]),
  ];
}

/** What does not fit the service profile; nothing where there is nothing to tell. */
export function misfitLines(misfits: readonly ProfileMisfit[]): string {
  return misfits.map(({ message }) => `The service profile does not fit the service: ${message}\n`).join('');
}

function nextOf(batch: ReadBatch, missing: number, several: boolean): string {
  const { batchId, state, stuck, application = ANY_APPLICATION } = batch;
  const command = (words: string): string => commandLine({ application, isOneOfSeveral: several }, words);
  if (stuck !== undefined)
    return 'run a worker with the version of Lote that made its last step; nothing is lost meanwhile';
  if (isHeld(batch))
    return `${command(`confirm-total ${batchId} --invoices ${batch.total?.total.invoices ?? 'N'} --reason WHY`)}, if the total is right; else cancel it in the console or the Temporal UI`;
  if (state === 'paused') return 'resume it in the console or the Temporal UI';
  if (GOING_ON.has(state)) return `lote report ${batchId} --follow`;
  if (state === 'refused') return `lote report ${batchId} says why; correct the file and drop it again`;
  if (missing > 0 && awaitsConfirmation(batch.total ?? null))
    return `run its file again, which asks about the total once more; then ${command(`confirm-total ${batchId}`)}`;
  return `lote report ${batchId}${remediesOf(batch, command)}`;
}

/** What each of them holds for; a corrected copy of an invoice that is only not answered yet would be a second one. */
function remediesOf({ batchId, counts }: ReadBatch, command: (words: string) => string): string {
  const any = (states: readonly Outcome[]): boolean => states.some((state) => (counts[state] ?? 0) > 0);
  const remedies = [
    ...(any(CORRECTABLE) ? ['correct the rows'] : []),
    ...(any(RETRY_STATES) ? [command(`retry ${batchId}`)] : []),
  ];
  const then = remedies.length === 0 ? '' : `, then ${remedies.join(' or ')}`;
  return any(UNANSWERED) ? `${then}; ${command('reconcile')} asks now for what is unknown or unsettled` : then;
}

const CORRECTABLE: readonly Outcome[] = ['invalid', 'rejected', 'failed', 'conflict'];
const UNANSWERED: readonly Outcome[] = ['unknown', 'unsettled'];

function balanceOf({ counts, invoices }: ReadBatch) {
  const out = issuedCount(counts);
  const resting = settledCount(counts);
  return { out, missing: resting - out, open: Math.max(invoices - resting, 0) };
}

/** In the time zone of the machine by default: a person reads it. */
function timeOf(time: number, timeZone: string | undefined): string {
  return new Intl.DateTimeFormat('sv-SE', {
    dateStyle: 'short',
    timeStyle: 'short',
    ...(timeZone === undefined ? {} : { timeZone }),
  }).format(time);
}
