import { MOST_PER_LEDGER, MOST_PER_RECEIVER, type Cost, type Costs, type Use } from './costs.ts';

/** Invoices of a file, and of a page; a batch has at most 500 pages. */
const FILE_INVOICES = 200_000;
const PAGE_INVOICES = 2_000;
/** A machine that is busier than this waits more than it works. */
const MOST_BUSY = 0.6;
/** Deliveries of one invoice: its own, and as many again when the service repeats them. */
const DELIVERIES = 2;
const NIGHTS_A_YEAR = 365;
const MS_A_SECOND = 1_000;
const BYTES_A_GB = 1e9;

/** What issuing one file is expected to use. `speed`: CPU that this machine takes for the CPU that was measured. */
export function useOf(costs: Costs, invoices: number, speed = 1): Use {
  const of = ({ start, each }: Cost): number => start + each * invoices;
  return {
    loteCpuMs: of(costs.loteCpuMs) * speed,
    temporalCpuMs: of(costs.temporalCpuMs) * speed,
    postgresCpuMs: of(costs.postgresCpuMs) * speed,
    events: costs.eventsOfAPage * Math.ceil(invoices / PAGE_INVOICES),
    rows: of(costs.rows),
    walBytes: of(costs.walBytes),
    guardBytes: of(costs.guardBytes),
    otherBytes: of(costs.otherBytes),
  };
}

/** A night of many files. */
export interface Night {
  readonly invoices: number;
  /** Time in which everything is to be sent. */
  readonly hours: number;
}

/** What such a night takes. */
export interface NightNeeds {
  readonly perSecond: number;
  /** Each with its applications, its PostgreSQL and its workers. */
  readonly ledgers: number;
  readonly files: number;
  /** Of all ledgers together, so many that they are 60 % busy. */
  readonly cores: { readonly lote: number; readonly temporal: number; readonly postgres: number };
  readonly receivers: number;
  readonly eventsPerSecond: number;
  readonly eventsOfAPage: number;
  readonly walGb: number;
  readonly tableGb: number;
  /** After a year of such nights. */
  readonly guardGbAYear: number;
}

/** Never more a second of one ledger, or of one receiver, than was measured; of that no more than 60 %. */
export function needsOf(costs: Costs, { invoices, hours }: Night): NightNeeds {
  const seconds = hours * 3_600;
  const perSecond = invoices / seconds;
  const files = Math.ceil(invoices / FILE_INVOICES);
  const one = useOf(costs, FILE_INVOICES);
  const all = (what: keyof Use): number => one[what] * (invoices / FILE_INVOICES);
  const cores = (what: keyof Use): number => Math.ceil(all(what) / MS_A_SECOND / seconds / MOST_BUSY);
  return {
    perSecond,
    ledgers: Math.ceil(perSecond / (MOST_PER_LEDGER * MOST_BUSY)),
    files,
    cores: { lote: cores('loteCpuMs'), temporal: cores('temporalCpuMs'), postgres: cores('postgresCpuMs') },
    // One more, so that one may be away.
    receivers: Math.ceil((perSecond * DELIVERIES) / (MOST_PER_RECEIVER * MOST_BUSY)) + 1,
    eventsPerSecond: all('events') / seconds,
    eventsOfAPage: costs.eventsOfAPage,
    walGb: all('walBytes') / BYTES_A_GB,
    tableGb: (all('guardBytes') + all('otherBytes')) / BYTES_A_GB,
    guardGbAYear: (all('guardBytes') / BYTES_A_GB) * NIGHTS_A_YEAR,
  };
}
