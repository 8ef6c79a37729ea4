import { describe, expect, it } from 'vitest';
import type { IssueMeasures } from '../../../bench/issue-table.ts';
import { issueTable } from '../../../bench/issue-table.ts';
import { readOptions } from '../../../bench/options.ts';
import type { Table } from '../../../bench/print-table.ts';

describe('the options of the bench', () => {
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

  it.each([[['--invoice', '5']], [['file.csv']]])('that are unknown (%j) are refused', (argv) => {
    expect(() => readOptions(argv)).toThrow(TypeError);
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
});
