import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runChild } from './child.ts';
import { cpuText, type LoteMeasure } from './issue-table.ts';
import { nodeVersion } from './measures/node-version.ts';
import type { RateOptions } from './options.ts';
import type { Table } from './print-table.ts';
import type { BareInput, BareRun } from './processes/bare-process.ts';
import type { SpanCpu } from './processes/lote-process.ts';
import { runLoteOn } from './run-lote.ts';
import { startSandbox } from './sandbox.ts';

/** How long Lote rests after its batch. */
const REST_MS = 30_000;
/** The bare script shows what POSTs and webhooks cost alone; a part of the invoices tells it. */
const BARE_SECONDS = 30;
const CONNECTIONS = 64;
/** Of one core: what Lote may cost at 20 requests a second. */
const BAR_PERCENT = 3;

interface RateMeasures {
  readonly options: RateOptions;
  readonly unlimited: LoteMeasure;
  readonly limited: LoteMeasure;
  /** A script that keeps nothing, at the same rate. */
  readonly bare: BareRun;
  readonly nodeVersion: string;
}

/** What Lote costs on a service that takes few requests a second: the same file without a limit, with one, and rest after it. */
export async function runRateBench(options: RateOptions): Promise<Table> {
  const version = nodeVersion(options.node);
  const directory = await mkdtemp(join(tmpdir(), 'lote-bench-'));
  const sandbox = await startSandbox();
  try {
    const place = { directory, sandboxUrl: sandbox.first.url };
    const unlimited = await measure('unlimited', null, { ...place, options });
    const limited = await measure('limited', options.requestsPerSecond, { ...place, options });
    const bare = await runBare(sandbox.first.url, options);
    return rateTable({ options, unlimited, limited, bare, nodeVersion: version });
  } finally {
    await sandbox.end();
    await rm(directory, { recursive: true, force: true });
  }
}

function runBare(sandboxUrl: string, { requestsPerSecond, node }: RateOptions): Promise<BareRun> {
  const input: BareInput = {
    ...{ sandboxUrl, apiKey: 'sk_test_bare', connections: CONNECTIONS, requestsPerSecond },
    invoices: requestsPerSecond * BARE_SECONDS,
  };
  return runChild<BareRun>({ file: 'bare-process.ts', input, node });
}

async function measure(
  name: string,
  requestsPerSecond: number | null,
  { directory, sandboxUrl, options }: { directory: string; sandboxUrl: string; options: RateOptions },
): Promise<LoteMeasure> {
  const { ledger, invoices, node } = options;
  const isLimited = requestsPerSecond !== null;
  const own = join(directory, name);
  const serviceProfile = join(own, 'service-profile.json');
  await mkdir(own);
  await writeFile(serviceProfile, JSON.stringify({ limits: { requestsPerSecond } }));
  const measured = await runLoteOn(ledger, options.statements && isLimited, {
    ...{ invoices, node, sandboxUrl, metrics: false, directory: own },
    // An application of its own of the sandbox: the other run's invoices are not this one's.
    env: { SERVICE_PROFILE: serviceProfile, INVOICING_API_KEY: `sk_test_${name}` },
    profileDir: isLimited ? options.profileDir : null,
    restMs: isLimited ? REST_MS : 0,
  });
  if (measured !== null) return measured;
  throw new Error('Measuring a rate: no PostgreSQL on this machine (initdb and postgres). Add --only pglite.');
}

/** Shares of one core, of each process; events and CPU of an invoice with a limit beside those without. */
function rateTable({ options, unlimited, limited, bare, nodeVersion: version }: RateMeasures): Table {
  const { invoices, requestsPerSecond, ledger } = options;
  const row = (name: string, run: LoteMeasure): readonly string[] => [
    name,
    ...[(run.wallMs / 1000).toFixed(1), (run.historyEvents / invoices).toFixed(3), cpuText(run, invoices)],
    ...shares(run, run.wallMs),
  ];
  const { rest } = limited;
  return {
    title: `${invoices.toLocaleString('en')} invoices at ${requestsPerSecond} requests a second, ${ledger}, Node ${version}`,
    columns: ['run', 'wall s', 'events/invoice', 'CPU ms/invoice', 'Lote', 'Temporal', 'database'],
    rows: [
      row('without a limit', unlimited),
      row(`${requestsPerSecond} a second`, limited),
      [
        'a bare script that keeps nothing, at the same rate',
        (bare.wallMs / 1000).toFixed(1),
        '',
        '',
        share(bare),
        '',
        '',
      ],
      ...(rest === null
        ? []
        : [['at rest after it', (rest.wallMs / 1000).toFixed(1), '', '', ...shares(rest, rest.wallMs)]]),
    ],
    notes: [
      'Lote, Temporal, database: CPU time in percent of one core. On PGlite the database is part of Lote.',
      `The bar: Lote below ${BAR_PERCENT} % while it sends 20,000 invoices at 20 a second. Of fewer, the start is a larger part.`,
    ],
  };
}

function share({ cpuMs, wallMs }: BareRun): string {
  return `${((cpuMs / wallMs) * 100).toFixed(1)} %`;
}

function shares({ cpuMs, temporalCpuMs, databaseCpuMs }: SpanCpu, wallMs: number): readonly string[] {
  return [cpuMs, temporalCpuMs, databaseCpuMs].map((timeMs) => `${((timeMs / wallMs) * 100).toFixed(1)} %`);
}
