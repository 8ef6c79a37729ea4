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

/** From files of 1,000 and 8,000 invoices: the table "Costs of scale" of docs/benchmarks.md has what was measured. */
export const MEASURED_COSTS: Costs = {
  loteCpuMs: { start: 1_472, each: 0.713 },
  temporalCpuMs: { start: 205, each: 0.105 },
  postgresCpuMs: { start: 624, each: 0.426 },
  eventsOfAPage: 96,
  rows: { start: 2, each: 5 },
  walBytes: { start: 161_000, each: 5_064 },
  guardBytes: { start: 0, each: 978 },
  otherBytes: { start: 103_000, each: 1_798 },
};

/** Invoices a second of one ledger, the best that was measured ("From file to report"); more is not assumed. */
export const MOST_PER_LEDGER = 1_434;
/** Deliveries a second that one receiver was seen to take ("Settling"); more is not assumed. */
export const MOST_PER_RECEIVER = 760;
