import { setTimeout as sleep } from 'node:timers/promises';
import type { Outcome } from '../../domain/invoice-state.ts';
import type { BatchState } from '../../domain/records/batch-record.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { MeasuredState } from '../../ledger/operations/measuring.ts';

/** The shortest pause between two reads of the figures, in milliseconds. */
const FRESH_MS = 5_000;
/** The pause is also this many times as long as a read, so that reads cost at most a fiftieth of the ledger's time. */
const REST_SHARE = 50;
/** The longest wait of a scrape, in milliseconds; the scrape then gets the previous figures. */
const PATIENCE_MS = 2_000;
const LOOK_BACK_MS = 24 * 60 * 60 * 1_000;
/** Held and doubtful invoices count for two weeks, over a weekend and holidays: then an operator knows of them. */
const LEFT_LOOK_BACK_MS = 14 * LOOK_BACK_MS;
const MOST_BATCHES = 100;

/** Figures of the ledger at one time. */
export interface LedgerSnapshot {
  readonly at: number;
  readonly batches: Readonly<Partial<Record<BatchState, number>>>;
  readonly invoices: ReadonlyMap<Outcome, number>;
  /** Issued invoices that may exist twice, or that the service later reported as failed. */
  readonly inDoubt: number;
  /** Epoch milliseconds of the oldest POST without a final word; null if no invoice waits for one. */
  readonly oldestAt: number | null;
  /** Null if this process knows no service. */
  readonly breakerOpen: boolean | null;
}

/** The ledger and the service of the figures. */
export interface LedgerSource {
  readonly ledger: Pick<Ledger, 'countBatches' | 'measuredBatches' | 'measureInvoices' | 'measureDoubt' | 'breaker'>;
  readonly application: string;
  /** The base address of the service; null while it is not known. */
  readonly baseUrl: () => string | null;
}

/** `now` is epoch milliseconds. */
export interface LedgerSnapshotOptions {
  /** Null while the ledger is not open. */
  readonly source: () => LedgerSource | null;
  readonly now: () => number;
}

/** Makes a function that reads the ledger's figures at a bounded cost. It resolves to null until a read succeeds. */
export function createLedgerSnapshot({ source, now }: LedgerSnapshotOptions): () => Promise<LedgerSnapshot | null> {
  let taken: LedgerSnapshot | null = null;
  let restUntil = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | null = null;

  async function read(): Promise<void> {
    const began = performance.now();
    const from = source();
    const found = from === null ? null : await readFigures(from, now()).catch(() => null);
    // If the ledger is unreachable, the age of the last figures shows it.
    if (found !== null) taken = found;
    const took = performance.now() - began;
    restUntil = began + took + Math.max(FRESH_MS, REST_SHARE * took);
    reading = null;
  }

  return async () => {
    if (performance.now() >= restUntil) reading ??= read();
    if (reading !== null) await Promise.race([reading, sleep(PATIENCE_MS, undefined, { ref: false })]);
    return taken;
  };
}

async function readFigures({ ledger, application, baseUrl }: LedgerSource, at: number): Promise<LedgerSnapshot> {
  const service = baseUrl();
  const breakerOpen = service === null ? null : (await ledger.breaker(service)) !== null;
  const batches = await ledger.countBatches(application);
  const chosen = await ledger.measuredBatches(application, {
    closedSince: at - LOOK_BACK_MS,
    heldSince: at - LEFT_LOOK_BACK_MS,
    limit: MOST_BATCHES,
  });
  const inDoubt = await ledger.measureDoubt(application, { since: at - LEFT_LOOK_BACK_MS });
  const states: MeasuredState[] = [];
  // Lote reads one batch after the other: the embedded ledger has one connection, for which other queries wait.
  // oxlint-disable-next-line no-await-in-loop
  for (const { batchId } of chosen) states.push(...(await ledger.measureInvoices(batchId)));
  const invoices = new Map<Outcome, number>();
  for (const one of states) invoices.set(one.state, (invoices.get(one.state) ?? 0) + one.invoices);
  const oldest = states.map(({ oldestAt }) => oldestAt).filter((time) => time !== null);
  const oldestAt = oldest.length === 0 ? null : Math.min(...oldest);
  return { at, batches, invoices, inDoubt, oldestAt, breakerOpen };
}
