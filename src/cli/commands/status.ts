import { readConfig } from '../../app/config/config.ts';
import { localTime, printResult, tableLines } from '../output/terminal-text.ts';
import { requireBatch, withSession } from '../session/open-session.ts';
import { EXIT, type ExitCode } from '../output/exit-codes.ts';
import { OUTCOMES, type Outcome } from '../../domain/invoice-state.ts';
import type { ProfileMisfit } from '../../domain/profile-misfit.ts';
import { RETRY_STATES } from '../../domain/retry-decision.ts';
import type { ReadBatch } from '../../console/operations.ts';
import { issuedCount, settledCount } from '../../domain/outcome-counts.ts';
import { plainText } from '../../texts/fill.ts';
import { awaitsConfirmation } from '../../domain/records/total-check.ts';

const BATCHES_SHOWN = 50;

/** `lote status [BATCH]`: prints the batches of the ledger, also while another process works on it. */
export async function statusCommand(
  env: NodeJS.ProcessEnv,
  { batch: batchId, json }: { readonly batch?: string | undefined; readonly json: boolean },
): Promise<ExitCode> {
  const { batches, misfits } = await withSession(readConfig(env), async ({ operations }) => {
    const found =
      batchId === undefined ? await operations.batches(BATCHES_SHOWN) : [await requireBatch(operations, batchId)];
    return { batches: found, misfits: await operations.misfits() };
  });
  const rows = batches.map(({ batchId: id, file, state, counts, rowsLost, totalsDiffer, contradicted }) => ({
    ...{ id, file, state, counts, rowsLost },
    totalsDiffer: totalsDiffer ?? undefined,
    contradicted: contradicted || undefined,
  }));
  const text = batchId === undefined ? statusTable(batches) : batches.map((batch) => statusOf(batch)).join('');
  const document = { batches: rows, ...(misfits.length > 0 && { misfits }) };
  printResult(json, document, () => text + misfitLines(misfits));
  return EXIT.ok;
}

const GOING_ON: ReadonlySet<string> = new Set(['staging', 'running', 'paused']);

const NUMBERS_FROM = 3;

/** Formats the output of `lote status` as a table, newest batch first. */
export function statusTable(batches: readonly ReadBatch[], timeZone?: string): string {
  if (batches.length === 0) return 'No batch yet. Start one with: lote run FILE\n';
  const rows = [
    ['BATCH', 'STATE', 'STARTED', 'INVOICES', 'WENT OUT', 'DID NOT', 'OPEN'],
    ...batches.map((batch) => {
      const { out, missing, open } = balanceOf(batch);
      const doubt = (batch.contradicted ?? 0) === 0 ? '' : ` (${batch.contradicted} in doubt)`;
      const numbers =
        batch.state === 'staging'
          ? ['-', '-', '-', '-']
          : [batch.invoices, `${out}${doubt}`, missing, open].map(String);
      const state = isHeld(batch) ? 'held' : batch.state;
      return [batch.batchId, state, localTime(batch.startedAt, timeZone), ...numbers];
    }),
  ];
  return `${tableLines(rows, NUMBERS_FROM).join('\n')}\n`;
}

/** Formats the output of `lote status BATCH`: the state of the batch, the reason, and the next command. */
export function statusOf(batch: ReadBatch, timeZone?: string): string {
  const { batchId, file, state, invoices, rows, counts, stopped } = batch;
  const { out, missing, open } = balanceOf(batch);
  const ended = batch.finishedAt === null ? '' : `, ended ${localTime(batch.finishedAt, timeZone)}`;
  const lines = [
    `Batch ${batchId}: ${state === 'staging' ? 'being read' : isHeld(batch) ? 'held' : state}`,
    `  file      ${file}, started ${localTime(batch.startedAt, timeZone)}${ended}`,
  ];
  if (state !== 'staging' && state !== 'refused') {
    const states = OUTCOMES.flatMap((outcome) => (counts[outcome] ? [`${outcome} ${counts[outcome]}`] : []));
    lines.push(
      `  invoices  ${invoices} from ${rows} rows: ${out} went out, ${missing} not confirmed as issued, ${open} open`,
      `  states    ${states.join(', ')}`,
      ...totalLines(batch),
      ...shortfallLines(batch),
    );
  }
  if (stopped !== null)
    lines.push(
      `  stopped   ${stopped.what} ${localTime(stopped.at, timeZone)} by ${stopped.who ?? 'an unnamed operator'}: ${stopped.why ?? 'no reason given'}. Only a person continues it`,
    );
  lines.push(`  next      ${nextOf(batch, missing)}`);
  return `${lines.map((line) => plainText(line)).join('\n')}\n`;
}

function isHeld({ state, total }: ReadBatch): boolean {
  return GOING_ON.has(state) && awaitsConfirmation(total ?? null);
}

function totalLines({ total }: ReadBatch): readonly string[] {
  if (total?.check.kind !== 'unusual') return [];
  return [`  total     ${total.confirmedAt === null ? '' : 'confirmed by an operator. '}${total.check.difference}`];
}

/** Lists what may be wrong with the file although each of its invoices went out. */
function shortfallLines({ rowsLost, totalsDiffer, contradicted, contradictedRefs: refs }: ReadBatch): string[] {
  const lines: string[] = [];
  if (contradicted > 0)
    lines.push(
      `  in doubt  ${contradicted} went out, and may exist twice or have failed; look them up at the service: ${refs.join('; ')}${contradicted > refs.length ? ', …' : ''}`,
    );
  if (rowsLost > 0) lines.push(`  lost      ${rowsLost} rows without a usable reference or tax number, in no invoice`);
  if (totalsDiffer !== null) lines.push(`  totals    ${totalsDiffer}`);
  return lines;
}

function misfitLines(misfits: readonly ProfileMisfit[]): string {
  return misfits.map(({ message }) => `The service profile does not fit the service: ${message}\n`).join('');
}

function nextOf(batch: ReadBatch, missing: number): string {
  const { batchId, file, state, stopped } = batch;
  if (isHeld(batch))
    return `lote confirm-total ${batchId} --invoices ${batch.total?.total.invoices ?? 'N'} --reason WHY, if the total is right; else cancel it in the console or the Temporal UI`;
  if (state === 'paused') return 'resume it in the console or the Temporal UI';
  if (GOING_ON.has(state)) return `lote report ${batchId} --follow`;
  if (stopped !== null && missing > 0)
    return `lote run ${file}, or lote retry ${batchId}; lote report ${batchId} says what was sent`;
  if (state === 'refused') return `lote report ${batchId} says why; correct the file and drop it again`;
  if (missing > 0 && awaitsConfirmation(batch.total))
    return `run its file again, which asks about the total once more; then lote confirm-total ${batchId}`;
  return `lote report ${batchId}${remediesOf(batch)}`;
}

/** Names the remedies for the batch's states, but no correction for an unanswered invoice: its corrected copy would be a second invoice. */
function remediesOf({ batchId, counts }: ReadBatch): string {
  const any = (states: readonly Outcome[]): boolean => states.some((state) => (counts[state] ?? 0) > 0);
  const remedies = [
    ...(any(CORRECTABLE) ? ['correct the rows'] : []),
    ...(any(RETRY_STATES) ? [`lote retry ${batchId}`] : []),
  ];
  const then = remedies.length === 0 ? '' : `, then ${remedies.join(' or ')}`;
  return any(UNANSWERED) ? `${then}; lote reconcile asks now for what is unknown or unsettled` : then;
}

const CORRECTABLE: readonly Outcome[] = ['invalid', 'rejected', 'failed', 'conflict'];
const UNANSWERED: readonly Outcome[] = ['unknown', 'unsettled'];

function balanceOf({ counts, invoices }: ReadBatch) {
  const out = issuedCount(counts);
  const resting = settledCount(counts);
  return { out, missing: resting - out, open: Math.max(invoices - resting, 0) };
}
