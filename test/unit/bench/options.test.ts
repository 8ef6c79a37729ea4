import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { IssueMeasures, LoteMeasure } from '../../../bench/issue-table.ts';
import { issueTable } from '../../../bench/issue-table.ts';
import { peersTable } from '../../../bench/comparison/peers-table.ts';
import { linearTable } from '../../../bench/linear-bench.ts';
import { rateTable } from '../../../bench/rate-bench.ts';
import { readOptions } from '../../../bench/options.ts';
import { printTable } from '../../../bench/print-table.ts';
import type { Table } from '../../../bench/print-table.ts';

describe('the options of the bench', () => {
  it('have defaults that need no word', () => {
    const node = process.execPath;
    expect(readOptions([])).toEqual({
      kind: 'issue',
      node,
      invoices: 20_000,
      settleMs: 300,
      ledgers: ['postgres', 'pglite'],
      profileDir: null,
      metrics: false,
      statements: false,
      timeline: false,
    });
    expect(readOptions(['--ledger'])).toEqual({ kind: 'ledger', node, invoices: 20_000, group: 32 });
    expect(readOptions(['--ingest'])).toEqual({ kind: 'ingest', node, rows: 200_000 });
    expect(readOptions(['--peers'])).toEqual({ kind: 'peers', node, invoices: 20_000, rounds: 3, engines: null });
    expect(readOptions(['--footprint'])).toEqual({ kind: 'footprint', node, batches: [20_000, 200_000] });
    expect(readOptions(['--linear'])).toEqual({
      ...{ kind: 'linear', node, batches: [20_000, 200_000], held: 0 },
      statements: false,
    });
    expect(readOptions(['--rate', '20'])).toEqual({
      ...{ kind: 'rate', node, invoices: 2_000, requestsPerSecond: 20, ledger: 'postgres', profileDir: null },
      statements: false,
    });
  });

  it('are what was said', () => {
    const said = ['--invoices', '50', '--settle', '1m', '--only', 'pglite', '--profile', 'p', '--statements'];
    expect(readOptions([...said, '--node', '/opt/node'])).toEqual({
      kind: 'issue',
      node: '/opt/node',
      invoices: 50,
      settleMs: 60_000,
      ledgers: ['pglite'],
      profileDir: 'p',
      metrics: false,
      statements: true,
      timeline: false,
    });
    expect(readOptions(['--ingest', '--rows=10'])).toMatchObject({ kind: 'ingest', rows: 10 });
    expect(readOptions(['--settle', '0'])).toMatchObject({ settleMs: 0 });
    expect(readOptions(['--peers', '--rounds', '1', '--engines', 'bullmq,pg-boss'])).toMatchObject({
      rounds: 1,
      engines: ['bullmq', 'pg-boss'],
    });
    expect(readOptions(['--footprint', '--batches', '300,200'])).toMatchObject({ batches: [200, 300] });
    expect(readOptions(['--linear', '--batches', '5', '--ledger-holds', '70'])).toMatchObject({
      batches: [5],
      held: 70,
    });
    expect(readOptions(['--rate', '5', '--invoices', '60', '--only', 'pglite'])).toMatchObject({
      ...{ kind: 'rate', requestsPerSecond: 5, invoices: 60, ledger: 'pglite' },
    });
  });

  it.each([
    [['--invoices', '0'], '--invoices must be a whole number above 0, found "0"'],
    [['--invoices', '1.5'], '--invoices'],
    [['--invoices', 'many'], '--invoices'],
    [['--invoices', ''], '--invoices'],
    [['--invoices=-3'], '--invoices'],
    [['--ingest', '--rows', '1e400'], '--rows'],
    [['--settle', 'soon'], '--settle must be a duration such as 300ms or 60s, found "soon"'],
    [['--settle=-1s'], '--settle'],
    [['--peers', '--rounds', '0'], '--rounds'],
    [['--footprint', '--batches', '10,few'], '--batches must be a whole number above 0, found "few"'],
    [['--rate', 'slow'], '--rate must be a whole number above 0, found "slow"'],
    [['--linear', '--ledger-holds=-1'], '--ledger-holds'],
    [['--only', 'mysql'], '--only must be pglite or postgres, found "mysql"'],
  ])('that are wrong (%j) are named, with the usage, and nothing runs', (argv, problem) => {
    expect(() => readOptions(argv)).toThrow(problem);
    expect(() => readOptions(argv)).toThrow('npm run bench');
  });

  it.each([[['--invoice', '5']], [['file.csv']]])('that nobody knows (%j) are refused', (argv) => {
    expect(() => readOptions(argv)).toThrow(TypeError);
  });
});

function printed(table: Table): readonly string[] {
  const lines: string[] = [];
  const log = vi.spyOn(console, 'log').mockImplementation((text: string) => {
    lines.push(...text.split('\n'));
  });
  onTestFinished(() => log.mockRestore());
  printTable(table);
  return lines;
}

describe('printTable', () => {
  it('makes an aligned Markdown table: names to the left, figures to the right', () => {
    const table = { title: 'T', columns: ['run', 'n/s'], rows: [['bare script', '7,500'], ['x']], notes: ['Note.'] };

    expect(printed(table)).toEqual([
      '',
      'T',
      '',
      '| run         |   n/s |',
      '| ----------- | ----: |',
      '| bare script | 7,500 |',
      '| x           |',
      '',
      'Note.',
    ]);
  });

  it('says nothing below a table without notes', () => {
    expect(printed({ title: 'T', columns: ['a'], rows: [], notes: [] })).toEqual(['', 'T', '', '| a |', '| - |']);
  });
});

describe('issueTable', () => {
  const bare = { wallMs: 1_000, sendingMs: 500, cpuMs: 200, peakRssMb: 80.4 };
  const lote = {
    ledger: 'postgres',
    startUpMs: 900,
    counts: { issued: 1_000 },
    wallMs: 3_000,
    sendingMs: 2_000,
    cpuMs: 400,
    temporalCpuMs: 300,
    databaseCpuMs: 100,
    mainThreadCpuMs: 250,
    historyEvents: 25,
    peakRssMb: 250.6,
    loop: { longestMs: 38.4, longestCpuMs: 30.2, p99Ms: 4.2, longestGcMs: 12.1 },
    rest: null,
  } as const;

  function measures(over: Partial<IssueMeasures> = {}): IssueMeasures {
    return {
      options: { kind: 'issue', invoices: 1_000, settleMs: 300, ledgers: ['postgres'], profileDir: null },
      bare: [bare, { ...bare, wallMs: 2_000 }],
      lote: [lote],
      latencyMs: 20,
      nodeVersion: '24.21.0',
      ...over,
    } as IssueMeasures;
  }

  function row(name: string, table: Table): Readonly<Record<string, string>> {
    const found = table.rows.find(([first]) => first === name) ?? [];
    return Object.fromEntries(table.columns.map((column, at) => [column, found[at] ?? '']));
  }

  it('compares Lote with the mean of the bare runs just before and just after it', () => {
    // 1,500 ms on the mean against 3,000 ms.
    expect(row('Lote on PostgreSQL', issueTable(measures()))).toEqual({
      run: 'Lote on PostgreSQL',
      'wall s': '3.0',
      'invoices/s': '333',
      ratio: '0.50',
      'sending/s': '500',
      'events/invoice': '0.025',
      'peak RSS MB': '251',
      'CPU ms/invoice': '0.40 + Temporal 0.30 + database 0.10',
      'main thread ms/invoice': '0.25',
      'longest block ms': '38 (CPU 30, p99 4, GC 12)',
    });
  });

  it('takes for the second run of Lote the bare runs around that one', () => {
    const runs = [bare, bare, { ...bare, wallMs: 5_000 }];

    const table = issueTable(measures({ bare: runs, lote: [lote, { ...lote, ledger: 'pglite' }] }));

    expect(row('Lote on PostgreSQL', table)['ratio']).toBe('0.33');
    expect(row('Lote on PGlite', table)['ratio']).toBe('1.00');
  });

  it('shows every bare run with its own figures', () => {
    const table = issueTable(measures());

    expect(table.title).toBe('1,000 invoices, answers after 20 ms, engine after 300 ms, Node 24.21.0');
    expect(row('bare script, 1 of 2', table)).toMatchObject({
      'invoices/s': '1,000',
      ratio: '1',
      'sending/s': '2,000',
    });
    expect(row('bare script, 2 of 2', table)).toMatchObject({
      'wall s': '2.0',
      'invoices/s': '500',
      'CPU ms/invoice': '0.20',
    });
    expect(table.rows.every((cells) => cells.length === table.columns.length)).toBe(true);
  });
});

describe('linearTable', () => {
  const lote: Omit<LoteMeasure, 'wallMs'> = {
    ...{
      ledger: 'postgres',
      startUpMs: 1,
      counts: {},
      sendingMs: 500,
      historyEvents: 50,
      peakRssMb: 300.4,
      rest: null,
    },
    ...{
      cpuMs: 400,
      temporalCpuMs: 300,
      databaseCpuMs: 100,
      mainThreadCpuMs: 250,
      loop: { longestMs: 1, longestCpuMs: null, p99Ms: 1, longestGcMs: 1 },
    },
  };

  it('compares the rate of each batch with that of the first one, and with the bare script', () => {
    const first = {
      invoices: 1_000,
      held: 0,
      lote: { ...lote, wallMs: 1_000 },
      barePerSecond: 4_000,
      ledgerBytes: 2e6,
    };
    const second = { ...first, invoices: 10_000, held: 5_000, lote: { ...lote, wallMs: 20_000 }, barePerSecond: 1_000 };

    const table = linearTable([first, second], '24.21.0');

    const column = (name: string) => table.rows.map((cells) => cells[table.columns.indexOf(name)]);
    expect(column('ledger held')).toEqual(['0', '5,000']);
    expect(column('invoices/s')).toEqual(['1,000', '500']);
    expect(column('to the first')).toEqual(['1.00', '0.50']);
    expect(column('ratio')).toEqual(['0.25', '0.50']);
    expect(column('events/invoice')).toEqual(['0.050', '0.005']);
    expect(column('bytes/invoice')).toEqual(['2000', '200']);
  });
});

describe('rateTable', () => {
  it('shows what each process takes of one core, with a limit, without one, and at rest', () => {
    const run: LoteMeasure = {
      ...{ ledger: 'postgres', startUpMs: 1, counts: {}, sendingMs: 500, peakRssMb: 300, rest: null },
      ...{ wallMs: 10_000, cpuMs: 200, temporalCpuMs: 100, databaseCpuMs: 50, mainThreadCpuMs: 150, historyEvents: 40 },
      loop: { longestMs: 1, longestCpuMs: null, p99Ms: 1, longestGcMs: 1 },
    };
    const rest = { wallMs: 1_000, cpuMs: 5, temporalCpuMs: 20, databaseCpuMs: 0, mainThreadCpuMs: 4 };

    const table = rateTable({
      options: {
        ...{ kind: 'rate', node: 'node', invoices: 200, ledger: 'postgres', profileDir: null },
        requestsPerSecond: 20,
        statements: false,
      },
      unlimited: { ...run, wallMs: 1_000 },
      limited: { ...run, rest },
      bare: { wallMs: 2_000, sendingMs: 1_900, cpuMs: 30, peakRssMb: 60 },
      nodeVersion: '24.21.0',
    });

    expect(table.rows.map(([name, , events, , ...shares]) => [name, events, ...shares])).toEqual([
      ['without a limit', '0.200', '20.0 %', '10.0 %', '5.0 %'],
      ['20 a second', '0.200', '2.0 %', '1.0 %', '0.5 %'],
      ['a bare script that keeps nothing, at the same rate', '', '1.5 %', '', ''],
      ['at rest after it', '', '0.5 %', '2.0 %', '0.0 %'],
    ]);
  });
});

describe('peersTable', () => {
  const sample = { windowMs: 1_000, jobMs: 2_000, cpuMs: 500, peakMb: 100.4 };
  const round = (bareMs: readonly number[], engineMs: number) => ({
    bare: bareMs.map((windowMs) => ({ ...sample, windowMs })),
    samples: new Map([['engine', { ...sample, windowMs: engineMs }]]),
  });

  it('shows medians, and the median of the ratios to the bare script of the same round', () => {
    const table = peersTable({
      invoices: 1_000,
      contenders: [
        { name: 'engine', title: 'Engine', kind: 'lote', ledger: 'postgres', node: 'node' },
        { name: 'absent', title: 'Absent', kind: 'lote', ledger: 'pglite', node: 'node' },
      ],
      // Ratios 0.5, 0.25, 0.8: the machine was slower in the last round.
      rounds: [round([900, 1_000, 5_000], 2_000), round([1_000], 4_000), round([8_000], 10_000)],
      loads: [
        [0.1, 0.2, 0.3],
        [2, 1, 0.5],
      ],
      nodeVersion: '24.21.0',
    });

    expect(table.rows.map((cells) => cells.slice(0, 3))).toEqual([
      ['bare script, keeps nothing', '1,000', '1.00'],
      ['Engine', '250', '0.50'],
      ['Absent', 'left out', ''],
    ]);
    expect(table.rows[1]?.slice(5)).toEqual(['0.50', '100']);
  });
});
