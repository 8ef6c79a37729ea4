import { parseArgs } from 'node:util';
import ms, { type StringValue } from 'ms';

export type LedgerKind = 'postgres' | 'pglite';

/** Of every kind of measurement. */
interface NodeOption {
  /** The Node that Lote and the bare script run on. */
  readonly node: string;
}

export interface IssueOptions extends NodeOption {
  readonly kind: 'issue';
  readonly invoices: number;
  /** When the sandbox's engine speaks, after the creation. */
  readonly settleMs: number;
  readonly ledgers: readonly LedgerKind[];
  /** Where V8 profiles of the processes go; null: none. */
  readonly profileDir: string | null;
  /** Lote serves its metrics, which are scraped while it works. */
  readonly metrics: boolean;
  /** What each statement took on the server is printed, too. */
  readonly statements: boolean;
  /** Where the time of Lote's batch went is printed, too. */
  readonly timeline: boolean;
}

export interface RateOptions extends NodeOption {
  readonly kind: 'rate';
  readonly invoices: number;
  /** `limits.requestsPerSecond` of the service profile. */
  readonly requestsPerSecond: number;
  readonly ledger: LedgerKind;
  readonly profileDir: string | null;
  /** As in `IssueOptions`, with the limit. */
  readonly statements: boolean;
}

export interface LinearOptions extends NodeOption {
  readonly kind: 'linear';
  /** Invoices of each batch, the smallest first. */
  readonly batches: readonly number[];
  /** Settled invoices that the ledger holds before the batch; each batch is also issued on an empty one. 0: only that. */
  readonly held: number;
  /** As in `IssueOptions`, of each batch. */
  readonly statements: boolean;
}

export interface IngestOptions extends NodeOption {
  readonly kind: 'ingest';
  readonly rows: number;
}

export interface LedgerOptions extends NodeOption {
  readonly kind: 'ledger';
  readonly invoices: number;
  /** Answers, and deliveries, in one statement. */
  readonly group: number;
}

export interface FootprintOptions extends NodeOption {
  readonly kind: 'footprint';
  /** Invoices of the batches whose memory is measured, the smallest first. */
  readonly batches: readonly number[];
}

export interface PeersOptions extends NodeOption {
  readonly kind: 'peers';
  readonly invoices: number;
  readonly rounds: number;
  /** Names of contenders; null: all. */
  readonly engines: readonly string[] | null;
}

export interface PagesOptions {
  /** Of the large batch. */
  readonly invoices: number;
  readonly rounds: number;
}

export type BenchOptions =
  | IssueOptions
  | RateOptions
  | LinearOptions
  | IngestOptions
  | FootprintOptions
  | LedgerOptions
  | PeersOptions
  | ({ readonly kind: 'pages' } & PagesOptions);

const USAGE = `npm run bench -- [options]
  --invoices N        invoices in the file (20000)
  --settle DURATION   the engine's time per invoice, e.g. 60s (300ms)
  --only LEDGER       pglite or postgres (both)
  --node PATH         the Node that Lote and the bare script run on (that of the bench)
  --metrics           with METRICS_PORT, scraped every 5 s
  --statements        what each statement takes on PostgreSQL, too (its extension pg_stat_statements)
  --timeline          each activity, signal and span of Lote's batch, in the order of time, too
  --profile DIR       write V8 CPU profiles of each process there
  --rate N            what Lote costs at N requests a second, without a limit, and at rest (2000 invoices)
  --ingest            reading and staging a file instead of issuing it
  --rows N            rows of that file (200000)
  --ledger            what each step of an invoice's life costs in the ledger, on PostgreSQL
  --group N           answers, and deliveries, in one statement there (32)
  --linear            batches of several sizes on PostgreSQL: rate, CPU, events, memory, size of the ledger
  --batches N,N       invoices of those batches, and of those of --footprint (20000,200000)
  --ledger-holds N    also on a ledger that holds N settled invoices (0)
  --peers             Lote beside job queues that do the same work (npm install --prefix bench/peers)
  --pages             size of each page of the console and time until it can be used, one batch of --invoices among others
  --rounds N          rounds of peers, or of each page (3)
  --engines A,B       some of them: lote-postgres, lote-postgres-newer-node, graphile-worker, plain-script, bullmq, pg-boss, lote-pglite
                      (all); plain-script keeps what Lote's ledger keeps of an invoice, and has no rule for what goes wrong
  --footprint         times of short commands and of a first start, memory at rest and in batches`;

const OPTIONS = {
  invoices: { type: 'string' },
  settle: { type: 'string', default: '300ms' },
  only: { type: 'string' },
  node: { type: 'string', default: process.execPath },
  profile: { type: 'string' },
  metrics: { type: 'boolean', default: false },
  statements: { type: 'boolean', default: false },
  timeline: { type: 'boolean', default: false },
  rate: { type: 'string' },
  ingest: { type: 'boolean', default: false },
  rows: { type: 'string', default: '200000' },
  ledger: { type: 'boolean', default: false },
  group: { type: 'string', default: '32' },
  linear: { type: 'boolean', default: false },
  'ledger-holds': { type: 'string', default: '0' },
  peers: { type: 'boolean', default: false },
  pages: { type: 'boolean', default: false },
  rounds: { type: 'string', default: '3' },
  engines: { type: 'string' },
  footprint: { type: 'boolean', default: false },
  batches: { type: 'string', default: '20000,200000' },
  help: { type: 'boolean', default: false },
} as const;

const INVOICES = '20000';
/** At 20 a second: 100 s. */
const INVOICES_OF_A_RATE = '2000';

/** Reads the command line; what is wrong with it is said with the usage, and nothing runs. */
export function readOptions(argv: readonly string[]): BenchOptions {
  const { values } = parseArgs({ args: [...argv], options: OPTIONS });
  if (values.help) {
    process.stdout.write(`${USAGE}\n`);
    process.exit(0);
  }
  const { node } = values;
  const profileDir = values.profile ?? null;
  if (values.ingest) return { kind: 'ingest', node, rows: count(values.rows, '--rows') };
  if (values.footprint) return { kind: 'footprint', node, batches: counts(values.batches, '--batches') };
  if (values.linear) {
    const held = values['ledger-holds'] === '0' ? 0 : count(values['ledger-holds'], '--ledger-holds');
    return { kind: 'linear', node, batches: counts(values.batches, '--batches'), held, statements: values.statements };
  }
  if (values.rate !== undefined) {
    const invoices = count(values.invoices ?? INVOICES_OF_A_RATE, '--invoices');
    const [ledger = 'postgres'] = ledgers(values.only);
    const requestsPerSecond = count(values.rate, '--rate');
    return { kind: 'rate', node, invoices, requestsPerSecond, ledger, profileDir, statements: values.statements };
  }
  const invoices = count(values.invoices ?? INVOICES, '--invoices');
  const rounds = count(values.rounds, '--rounds');
  if (values.ledger) return { kind: 'ledger', node, invoices, group: count(values.group, '--group') };
  if (values.pages) return { kind: 'pages', invoices, rounds };
  if (values.peers) return { kind: 'peers', node, invoices, rounds, engines: values.engines?.split(',') ?? null };
  return {
    ...{ kind: 'issue', node, invoices, profileDir },
    settleMs: duration(values.settle),
    ledgers: ledgers(values.only),
    metrics: values.metrics,
    statements: values.statements,
    timeline: values.timeline,
  };
}

function count(text: string, option: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new RangeError(`${option} must be a whole number above 0, found "${text}".\n${USAGE}`);
}

function counts(text: string, option: string): readonly number[] {
  return text
    .split(',')
    .filter((one) => one !== '')
    .map((one) => count(one, option))
    .toSorted((a, b) => a - b);
}

function duration(text: string): number {
  const value: number | undefined = ms(text as StringValue);
  if (value !== undefined && Number.isFinite(value) && value >= 0) return value;
  throw new RangeError(`--settle must be a duration such as 300ms or 60s, found "${text}".\n${USAGE}`);
}

function ledgers(only: string | undefined): readonly LedgerKind[] {
  if (only === undefined) return ['postgres', 'pglite'];
  if (only === 'postgres' || only === 'pglite') return [only];
  throw new RangeError(`--only must be pglite or postgres, found "${only}".\n${USAGE}`);
}
