import { expect } from 'vitest';
import {
  expectAgreement,
  readReportOf,
  withStack,
  type ReportDocument,
  type TestStack,
} from '../support/lote/stack.ts';
import { FAILING_TAX_CODE, type TestInvoice } from '../support/files/batch-file.ts';
import type { NightlyRun } from './nights.ts';

/** The file is dropped again while something of it is held, with a reconciliation after each night; what is left then waits for the service's support. */
const DROPS = 3;
/** Reconciliations at the end; a repeat that is lost again is repeated again. */
const LOOKS = 400;

const TIMES = {
  LOTE_SETTLE_TIMEOUT: '6s',
  LOTE_SEND_TIMEOUT: '20s',
  LOTE_OUTAGE_PATIENCE: '30s',
  LOTE_PAGE_SIZE: '100',
  LOTE_LOG_LEVEL: 'error',
};
const FAST_DELIVERIES = { firstDelayMs: 50, longestDelayMs: 500, maxAttempts: 8 };
const MERCHANTS = ['501964843', '502757191', '511882408', '502773154', '500100144', '503504564'];
/** One in so many is failed by the engine. */
const FAILING_EVERY = 20;

export interface NightlyRunEnd {
  readonly night: NightlyRun;
  readonly drops: number;
  readonly posts: number;
  readonly counts: Readonly<Record<string, number>>;
}

/** One night under its faults, with the service's own books as the judge. */
export async function liveThrough(night: NightlyRun, invoices: number): Promise<NightlyRunEnd> {
  const sandbox = { faults: night.faults, seed: night.seed, settleMs: 50, webhooks: FAST_DELIVERIES };
  return withStack({ sandbox, env: TIMES }, async (stack) => {
    const result = await stack.run('night.csv', fileOf(night, invoices));
    let drops = 1;
    for (; drops < DROPS; drops += 1) {
      await stack.reconcile();
      const states = (await readReportOf(result)).counts;
      if ((states['held'] ?? 0) === 0) break;
      await (await stack.start({ file: 'night.csv' })).handle.result();
    }
    // A 429 or a lost answer may meet the asking too; the schedule comes again, and so does this. What it finds has a settle time of its own.
    for (let looks = 0; looks < LOOKS; looks += 1) {
      await stack.reconcile();
      if (undecided({ stack, night }, (await readReportOf(result)).invoices).length === 0) break;
    }

    await expectAgreement(stack, result.batchId);
    expect(result, 'the end of the batch').toMatchObject({ state: 'finished', pagesFailed: 0 });
    const report = await readReportOf(result);
    expect(
      undecided({ stack, night }, report.invoices),
      'invoices that the books decide, and the ledger does not',
    ).toEqual([]);
    const { invoices: all } = report.counts;
    const states = statesOf(report.counts);
    expect(all).toBe(invoices);
    expect(report.invoices).toHaveLength(invoices);
    expect(
      Object.values(states).reduce((sum, count) => sum + count, 0),
      'the balance of the report',
    ).toBe(invoices);
    const open = report.invoices.filter(({ state }) => ['staged', 'sending', 'accepted'].includes(state));
    expect(open, 'invoices without a state that ends waiting').toEqual([]);
    expect(
      Object.keys(states).filter((state) => states[state] !== 0 && !allowed(night).has(state)),
      'states that these faults do not explain',
    ).toEqual([]);
    return { night, drops, posts: stack.posts().length, counts: report.counts };
  });
}

type ReportedInvoice = ReportDocument['invoices'][number];

interface Judged {
  readonly stack: TestStack;
  readonly night: NightlyRun;
}

/**
 * What asking and repeating can still decide. A document in the books is found by its key, whatever was lost before; an error that the service
 * keeps under a key has none behind it, and where nothing else goes wrong it is recognized as such.
 */
function undecided({ stack, night }: Judged, invoices: readonly ReportedInvoice[]): readonly ReportedInvoice[] {
  const books = new Map(stack.sandbox.books().invoices.map((one) => [one.idempotencyKey, one.status]));
  const keepsErrors = (night.faults.stored500 ?? 0) > 0;
  return invoices.filter(({ state, idempotencyKey, reason }) => {
    const booked = books.get(idempotencyKey ?? '');
    if (state === 'accepted') return true;
    if (state === 'unsettled') return booked !== 'processing';
    if (state !== 'unknown') return false;
    if (booked !== undefined || !keepsErrors) return true;
    return night.name === 'stored500' && reason?.code !== 'stored-error';
  });
}

/** A signed event that says issued of an invoice that failed would be believed: no client can know better. */
function fileOf({ faults }: NightlyRun, invoices: number): readonly TestInvoice[] {
  const failing = (faults.contradictoryEvents ?? 0) === 0;
  return Array.from({ length: invoices }, (_, at) => ({
    ref: `F-${at + 1}`,
    nif: MERCHANTS[at % MERCHANTS.length] ?? '',
    ...(failing && at % FAILING_EVERY === 0 ? { taxCode: FAILING_TAX_CODE } : {}),
  }));
}

/** What may be left at the end, by the faults that were on; everything else must be issued or failed. */
function allowed({ faults }: NightlyRun): ReadonlySet<string> {
  const states = new Set(['issued', 'failed']);
  const on = (fault: keyof NightlyRun['faults']): boolean => Boolean(faults[fault]);
  if (on('merchantRefusal') || on('stored500')) states.add('held');
  // The one thing that no repeat can decide.
  if (on('stored500')) states.add('unknown');
  if (on('neverSettle')) states.add('unsettled');
  return states;
}

/** Counts that are no states: of rows, of all invoices, and of issued ones in doubt, which contradictory events may bring. */
const NO_STATES: ReadonlySet<string> = new Set(['rows', 'rowsWithoutInvoice', 'rowsLost', 'invoices', 'contradicted']);

function statesOf(counts: Readonly<Record<string, number>>): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(counts).filter(([name]) => !NO_STATES.has(name)));
}

/** The ends of the nights as a table, for whoever reads the log. */
export function summaryOf(ends: readonly NightlyRunEnd[]): string {
  const lines = ends.map(({ night, drops, posts, counts }) => {
    const states = Object.entries(statesOf(counts)).filter(([, count]) => count > 0);
    const shown = states.map(([name, count]) => `${name} ${count}`).join(', ');
    return `${night.name.padEnd(20)} ${night.seed.padEnd(24)} ${String(posts).padStart(6)} POSTs ${drops} drops  ${shown}`;
  });
  return ['fault                seed                      requests', ...lines].join('\n');
}
