/** What was used: CPU in ms of one core, events of Temporal's history, rows and bytes of the ledger. */
export interface Use {
  /** Worker, receiver and console of one process. */
  readonly loteCpuMs: number;
  readonly temporalCpuMs: number;
  readonly postgresCpuMs: number;
  readonly events: number;
  /** Rows that stay in the ledger. */
  readonly rows: number;
  /** Bytes of the write-ahead log. */
  readonly walBytes: number;
  /** Bytes of the tables that guard against a second document, with their indexes: `invoice` and `invoice_generation`. */
  readonly guardBytes: number;
  /** Bytes of all others: content, frozen bodies, deliveries, batches. */
  readonly otherBytes: number;
}

/** What a file costs, and each invoice of it. Events are those of a page: a page that is not full costs as much. */
export interface Cost {
  readonly start: number;
  readonly each: number;
}

export type Costs = Readonly<Record<Exclude<keyof Use, 'events'>, Cost>> & { readonly eventsOfAPage: number };

/** From files of 1,000 and 8,000 invoices on an idle machine, 23 November 2026: the table "Costs of scale" of docs/benchmarks.md. */
export const MEASURED_COSTS: Costs = {
  loteCpuMs: { start: 1_362, each: 0.407 },
  temporalCpuMs: { start: 250, each: 0.04 },
  postgresCpuMs: { start: 121, each: 0.159 },
  eventsOfAPage: 96,
  rows: { start: 2, each: 5 },
  walBytes: { start: 56_000, each: 4_224 },
  guardBytes: { start: 0, each: 978 },
  otherBytes: { start: 66_000, each: 1_687 },
};

/** Invoices a second of one ledger, an early measurement ("From file to report") that is kept as a reserve; more is not assumed. */
export const MOST_PER_LEDGER = 1_434;
/** Deliveries a second that one receiver was seen to take ("Settling"); more is not assumed. */
export const MOST_PER_RECEIVER = 760;
