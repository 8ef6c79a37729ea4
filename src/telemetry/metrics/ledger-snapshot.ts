import type { Outcome } from '../../domain/invoice-state.ts';
import type { BatchState } from '../../domain/ports/ledger/batch-record.ts';
import type { Ledger } from '../../domain/ports/ledger/ledger.ts';
import type { MeasuredBatch, MeasuredState } from '../../domain/ports/measures.ts';
import type { Labels } from './label-bounds.ts';

/** Figures are read at most this often … */
const FRESH_MS = 5_000;
/** … and so much more seldom than it takes that the reading never costs more than a fiftieth of the ledger's time. */
const REST_SHARE = 50;
/** A scrape waits no longer; it then gets the figures before. */
const PATIENCE_MS = 2_000;
const LOOK_BACK_MS = 24 * 60 * 60 * 1_000;
/** Held invoices, and those in doubt, count for so long, over a weekend and holidays: then somebody knows of them. */
const LEFT_LOOK_BACK_MS = 14 * LOOK_BACK_MS;
const MOST_BATCHES = 100;

/** Figures of the ledger at one moment. */
export interface LedgerSnapshot {
  /** Of several applications, the name of its own. */
  readonly labels: Labels;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly batches: Readonly<Partial<Record<BatchState, number>>>;
  readonly invoices: ReadonlyMap<Outcome, number>;
  /** Issued invoices that may exist twice, or were called failed later. */
  readonly inDoubt: number;
  /** Epoch milliseconds; null: no invoice waits for a final word. */
  readonly oldestAt: number | null;
  /** null: this process knows no service. */
  readonly breakerOpen: boolean | null;
}

/** The ledger as one application sees it. */
export interface LedgerSource {
  readonly ledger: Pick<Ledger, 'countBatches' | 'measuredBatches' | 'measureInvoices' | 'measureDoubt' | 'breaker'>;
  readonly application: string;
  readonly labels: Labels;
  /** Of the service; null while it is not known. */
  readonly baseUrl: () => string | null;
}

/** Of which applications figures are read; more may come. `now` is epoch milliseconds. */
export interface LedgerSnapshotOptions {
  readonly sources: readonly LedgerSource[];
  readonly now: () => number;
}

interface Counted {
  readonly key: string;
  readonly states: readonly MeasuredState[];
}

const CLOSED: ReadonlySet<BatchState> = new Set<BatchState>(['refused', 'cancelled', 'finished']);

/** Figures of one application, and what need not be counted again. */
interface Taken {
  readonly snapshot: LedgerSnapshot;
  readonly counted: ReadonlyMap<string, Counted>;
}

/**
 * Reads figures of the ledger when they are asked for, at a cost that is bounded for all applications together; of one
 * that could not be read yet there are none.
 */
export function createLedgerSnapshots({
  sources,
  now,
}: LedgerSnapshotOptions): () => Promise<readonly LedgerSnapshot[]> {
  const taken = new Map<LedgerSource, Taken>();
  let restUntil = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | null = null;

  async function read(): Promise<void> {
    const began = performance.now();
    // One after the other: the embedded ledger has one connection, and others wait for it.
    for (const source of sources) {
      const before = taken.get(source)?.counted ?? new Map<string, Counted>();
      // oxlint-disable-next-line no-await-in-loop
      const found = await readFigures(source, { at: now(), before }).catch(() => null);
      // The ledger is away: the age of the last figures tells it.
      if (found !== null) taken.set(source, found);
    }
    const took = performance.now() - began;
    restUntil = began + took + Math.max(FRESH_MS, REST_SHARE * took);
    reading = null;
  }

  return async () => {
    if (performance.now() >= restUntil) reading ??= read();
    if (reading !== null) await Promise.race([reading, pause(PATIENCE_MS)]);
    return [...taken.values()].map(({ snapshot }) => snapshot);
  };
}

async function readFigures(
  { ledger, application, labels, baseUrl }: LedgerSource,
  { at, before }: { readonly at: number; readonly before: ReadonlyMap<string, Counted> },
): Promise<Taken> {
  const service = baseUrl();
  const breakerOpen = service === null ? null : (await ledger.breaker(service)) !== null;
  const batches = await ledger.countBatches(application);
  const chosen = await ledger.measuredBatches(application, {
    closedSince: at - LOOK_BACK_MS,
    heldSince: at - LEFT_LOOK_BACK_MS,
    limit: MOST_BATCHES,
  });
  const inDoubt = await ledger.measureDoubt(application, { since: at - LEFT_LOOK_BACK_MS });
  const counted = new Map<string, Counted>();
  for (const batch of chosen) {
    // One after the other: the embedded ledger has one connection, and others wait for it.
    // oxlint-disable-next-line no-await-in-loop
    counted.set(batch.batchId, await count(ledger, batch, before));
  }
  const states = [...counted.values()].flatMap((one) => one.states);
  const invoices = new Map<Outcome, number>();
  for (const one of states) invoices.set(one.state, (invoices.get(one.state) ?? 0) + one.invoices);
  const oldest = states.map(({ oldestAt }) => oldestAt).filter((time) => time !== null);
  const oldestAt = oldest.length === 0 ? null : Math.min(...oldest);
  return { snapshot: { at, labels, batches, invoices, inDoubt, oldestAt, breakerOpen }, counted };
}

/** The counts of a closed batch are those of its report: they are read once for each revision of it. */
async function count(
  ledger: LedgerSource['ledger'],
  { batchId, state, revision }: MeasuredBatch,
  before: ReadonlyMap<string, Counted>,
): Promise<Counted> {
  const key = `${state} ${revision}`;
  const known = before.get(batchId);
  if (known !== undefined && CLOSED.has(state) && known.key === key) return known;
  return { key, states: await ledger.measureInvoices(batchId) };
}

async function pause(ms: number): Promise<void> {
  await new Promise<void>((resolve) => setTimeout(resolve, ms).unref());
}
