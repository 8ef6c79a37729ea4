import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { compileAll } from '../compiled.ts';
import { nodeVersion } from '../measures/node-version.ts';
import type { FootprintOptions } from '../options.ts';
import type { Table } from '../print-table.ts';
import { measureBatchMemory, type BatchMemory } from './batch-memory.ts';
import { measureFirstRun, measureFirstStart } from './first-start.ts';
import { timeShortCommand } from './short-command.ts';

/** The bars: seconds, and MB of PSS. */
const BAR = { helpS: 0.3, checkS: 0.6, firstInvoiceS: 8, atRestMb: 450, firstStartMb: 600, batchMb: 450, growth: 1.3 };

type Row = readonly [what: string, found: string, bar: string, remark: string];

/** What Lote takes: time of its short commands and of its first start, memory at rest and in batches. */
export async function runFootprintBench(options: FootprintOptions): Promise<Table> {
  const { node } = options;
  const version = nodeVersion(node);
  // A command of a checkout whose sources are newer than the build runs through tsx.
  await compileAll();
  const directory = await mkdtemp(join(tmpdir(), 'lote-bench-'));
  const place = async (name: string): Promise<string> => {
    const own = join(directory, name);
    await mkdir(own);
    return own;
  };
  try {
    const rows = [...(await shortCommands(node)), ...(await firstStarts(node, place))];
    const batches: BatchMemory[] = [];
    for (const invoices of options.batches) {
      const batch = await measureBatchMemory(await place(`batch-${invoices}`), { invoices, node });
      if (batch === null) process.stderr.write('No PostgreSQL on this machine: no batch was measured.\n');
      else batches.push(batch);
    }
    return tableOf([...rows, ...batchRows(batches)], version);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function shortCommands(node: string): Promise<readonly Row[]> {
  const commands = [
    [['--help'], BAR.helpS],
    [['check', 'input/sample.csv'], BAR.checkS],
  ] as const;
  const rows: Row[] = [];
  for (const [args, bar] of commands) {
    const { wallMs, cpuMs } = await timeShortCommand(node, args);
    rows.push([`lote ${args.join(' ')}`, seconds(wallMs), `${bar} s`, `${seconds(cpuMs)} of CPU`]);
  }
  return rows;
}

async function firstStarts(node: string, place: (name: string) => Promise<string>): Promise<readonly Row[]> {
  const run = await measureFirstRun(await place('first-run'), { node, as: 'installed' });
  const bare = await measureFirstRun(await place('bare-run'), { node, as: 'bare' });
  const { first, afterBatchMb } = await measureFirstStart(await place('first-start'), node);
  return [
    ['first start to first invoice sent', seconds(run.firstInvoiceMs), `${BAR.firstInvoiceS} s`, '`lote run`'],
    ['peak of that run', megabytes(run.peakMb), `${BAR.firstStartMb} MB`, 'with its 200 invoices'],
    [
      'the same without the ledger that `npm ci` makes',
      seconds(bare.firstInvoiceMs),
      '',
      `peak ${megabytes(bare.peakMb)}`,
    ],
    ['peak of a first start', megabytes(first.peakMb), `${BAR.firstStartMb} MB`, `ready in ${seconds(first.readyMs)}`],
    ['at rest', megabytes(first.atRestMb), `${BAR.atRestMb} MB`, '`lote up`, before any batch'],
    ['at rest after the sample file', megabytes(afterBatchMb), `${BAR.atRestMb} MB`, ''],
  ];
}

function batchRows(batches: readonly BatchMemory[]): readonly Row[] {
  const [first] = batches;
  return batches.map((batch) => {
    const ratio = batch.loteMb / (first ?? batch).loteMb;
    return [
      `peak of ${batch.invoices.toLocaleString('en')} invoices on PostgreSQL`,
      megabytes(batch.loteMb),
      batch === first ? `${BAR.batchMb} MB` : `${BAR.growth} times the first`,
      `${batch === first ? '' : `${ratio.toFixed(2)} times; `}${seconds(batch.wallMs)}; PostgreSQL ${megabytes(batch.postgresMb)}, Temporal ${megabytes(batch.temporalMb)}`,
    ];
  });
}

function tableOf(rows: readonly Row[], version: string): Table {
  return {
    title: `Footprint, Node ${version}`,
    columns: ['what', 'found', 'at most', 'with it'],
    rows,
    notes: [
      'Memory: PSS of Lote and its threads, sampled four times a second; the servers of Temporal and PostgreSQL are told apart. First: a user whose cache holds the Temporal server and what `npm ci` put there.',
      `The machine's load at the end: ${loadavg()
        .map((load) => load.toFixed(1))
        .join(', ')}.`,
    ],
  };
}

function seconds(timeMs: number): string {
  return `${(timeMs / 1000).toFixed(2)} s`;
}

function megabytes(size: number): string {
  return `${size.toFixed(0)} MB`;
}
