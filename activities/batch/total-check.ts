import { differsByFactor, medianDecimal } from '../../src/domain/money.ts';
import { netByCurrency } from '../../src/domain/outcome-counts.ts';
import type { Reason } from '../../src/domain/invoice.ts';
import { isCorrectionsFile } from '../../src/domain/read-as.ts';
import type { BatchInput, UnusualTotal } from '../../src/domain/messages/messages.ts';
import type { ActivityDeps } from '../deps.ts';
import type { BatchRecord, OutcomeCount } from '../../src/domain/records/batch-record.ts';
import {
  awaitsConfirmation,
  type FileTotal,
  type SavedTotalCheck,
  type TotalCheck,
} from '../../src/domain/records/total-check.ts';

/** Number of newest batches of a pattern to compare: two working weeks of a nightly file. */
const COMPARED = 10;
/** Fewer earlier batches than this (a week of a nightly file) do not show a usual total. */
const NEEDED = 5;

type Deps = Pick<ActivityDeps, 'application' | 'ledger' | 'now'> & {
  readonly settings: Pick<ActivityDeps['settings'], 'totalFactor'>;
};

/** Input of the check of a batch's total. */
export interface CheckedBatch {
  readonly batch: Pick<BatchRecord, 'batchId' | 'fencingToken' | 'file' | 'proof'>;
  readonly input: Pick<BatchInput, 'expectInvoices' | 'expectNet'>;
  /** The batch is held for another reason. */
  readonly isHeld: boolean;
}

/** Checks and records the total of a file that has just been staged. Returns null if the batch may be sent. */
export async function checkTotal(deps: Deps, checked: CheckedBatch): Promise<UnusualTotal | null> {
  const { batch } = checked;
  const total = totalOf(await deps.ledger.countOutcomes(batch.batchId));
  const pattern = filePatternOf(batch.file);
  const check = await compare(deps, checked, { pattern, total });
  await deps.ledger.saveTotalCheck(batch, { pattern, total, check, now: deps.now() });
  return unusualTotalOf({ pattern, total, check, confirmedAt: null });
}

/**
 * Checks a batch that an earlier run had staged. If an operator has not answered yet, the question stays open, unless
 * the person who starts the batch again declares the total. An answered question stays answered.
 */
export async function checkTotalAgain(deps: Deps, checked: CheckedBatch): Promise<UnusualTotal | null> {
  const saved = await deps.ledger.totalCheck(checked.batch.batchId);
  // If some of it was sent before the first check, the rest is not held back for its total.
  if (saved === null || saved.check.kind === 'off')
    return (await deps.ledger.hasSent(checked.batch.batchId)) ? null : checkTotal(deps, checked);
  return awaitsConfirmation(saved) && isDeclared(checked) ? checkTotal(deps, checked) : unusualTotalOf(saved);
}

/** Returns the total that an operator must confirm before sending, or null. */
export function unusualTotalOf(saved: SavedTotalCheck | null): UnusualTotal | null {
  if (saved === null || saved.check.kind !== 'unusual' || !awaitsConfirmation(saved)) return null;
  return { invoices: saved.total.invoices, difference: saved.check.difference };
}

/** Returns the reason of invoices held for their total. */
export function unusualTotalReason(batchId: string, { invoices, difference }: UnusualTotal): Reason {
  const command = `lote confirm-total ${batchId} --invoices ${invoices} --reason WHY`;
  return {
    code: 'total-unusual',
    message: `${difference} No invoice that is held for that was sent. If the total is right, confirm it on the page of the batch in the console, or with: ${command}. Where the run has ended, drop the file again first. If it is wrong, cancel the batch.`,
  };
}

/**
 * Returns the base name in small letters, without accents, with `#` for each number or date: `Faturas_2026-11-23
 * (1).csv` and `faturas_20261124.csv` are both `faturas_#.csv`.
 */
export function filePatternOf(file: string): string {
  return file
    .normalize('NFKD')
    .replaceAll(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/ ?\(\d+\)(?=\.[^.]*$|$)/, '')
    .replaceAll(/\d+(?:[-_.:t]\d+)*/g, '#');
}

async function compare(
  { ledger, application, settings: { totalFactor: factor } }: Deps,
  checked: CheckedBatch,
  { pattern, total }: { readonly pattern: string; readonly total: FileTotal },
): Promise<TotalCheck> {
  if (factor === null || checked.isHeld) return { kind: 'off' };
  if (isDeclared(checked)) return { kind: 'declared' };
  // A corrections file has only some rows of another file: it has no usual total and counts for none. Report and page say so.
  if (isCorrectionsFile(checked.batch.proof)) return { kind: 'corrections' };
  const { batchId } = checked.batch;
  const earlier = await ledger.earlierTotals({ application, pattern, batchId, limit: COMPARED });
  const batches = earlier.length;
  if (batches < NEEDED) return { kind: 'too-few', batches, needed: NEEDED };
  const usual = usualTotal(earlier, total);
  const differences = differencesOf(total, usual, factor);
  if (differences.length === 0) return { kind: 'usual', batches, factor, usual };
  const difference = `The total differs by more than ${factor} times from the last ${batches} files named ${pattern}: ${differences.join('; ')}.`;
  return { kind: 'unusual', batches, factor, usual, difference };
}

/** A batch that differs from its declared totals is held before this check. */
function isDeclared({ input, isHeld }: CheckedBatch): boolean {
  return !isHeld && input.expectInvoices !== undefined && input.expectNet !== undefined;
}

function totalOf(outcomes: readonly OutcomeCount[]): FileTotal {
  return {
    invoices: outcomes.reduce((sum, { invoices }) => sum + invoices, 0),
    net: Object.fromEntries(netByCurrency(outcomes)),
  };
}

/**
 * Returns the median number of invoices, and for each currency the median of the files that had it, so that a currency of every third file is usual
 * whether it is present or missing. The usual amount of a currency that no file had is 0. A missing currency counts only if all earlier files had it.
 */
function usualTotal(earlier: readonly FileTotal[], total: FileTotal): FileTotal {
  const net: Record<string, string> = {};
  for (const currency of new Set([total, ...earlier].flatMap((one) => Object.keys(one.net)))) {
    const amounts = earlier.map((one) => one.net[currency] ?? '0').filter((amount) => amount !== '0');
    const isThere = (total.net[currency] ?? '0') !== '0';
    if (isThere || amounts.length === earlier.length) net[currency] = medianDecimal(amounts) ?? '0';
  }
  return { invoices: Number(medianDecimal(earlier.map(({ invoices }) => String(invoices))) ?? 0), net };
}

function differencesOf(total: FileTotal, usual: FileTotal, factor: number): readonly string[] {
  const counts = [String(total.invoices), String(usual.invoices)] as const;
  return [
    ...(differsByFactor(...counts, factor) ? [`${counts[0]} invoices, usually ${counts[1]}`] : []),
    ...Object.entries(usual.net).flatMap(([currency, amount]) => {
      const found = total.net[currency] ?? '0';
      return differsByFactor(found, amount, factor) ? [`net ${currency} ${found}, usually ${amount}`] : [];
    }),
  ];
}
