import pg from 'pg';
import { statementLabel } from '../../src/database/statement-failure.ts';
import type { Table } from '../print-table.ts';

/** Settings of a server that counts its statements. */
export const COUNTING_STATEMENTS = {
  shared_preload_libraries: 'pg_stat_statements',
  'pg_stat_statements.track_planning': 'on',
} as const;

interface StatementRow {
  readonly query: string;
  readonly calls: string;
  readonly rows: string;
  readonly ms: number;
  readonly planning_ms: number;
  readonly wal_bytes: string;
  readonly pages: string;
  readonly pages_read: string;
}

/** Statements that took less of all the time than this are one row. */
const LEAST_SHARE = 0.005;

/** Forgets what was counted before. */
export async function forgetStatements(databaseUrl: string): Promise<void> {
  await asked(databaseUrl, async (client) => {
    await client.query('CREATE EXTENSION IF NOT EXISTS pg_stat_statements');
    await client.query('SELECT pg_stat_statements_reset()');
  });
}

/** What an invoice asked of the server, statement by statement, since `forgetStatements`. */
export async function statementTable(databaseUrl: string, invoices: number): Promise<Table> {
  const counted = await asked(databaseUrl, async (client) => {
    const { rows } = await client.query<StatementRow>(
      `SELECT query, calls, rows, total_exec_time AS ms, total_plan_time AS planning_ms, wal_bytes,
         shared_blks_hit + shared_blks_read AS pages, shared_blks_read AS pages_read
       FROM pg_stat_statements ORDER BY total_exec_time DESC`,
    );
    return rows.map(({ query, ...row }) => ({
      name: statementLabel(query) ?? query.slice(0, 40).replaceAll(/\s+/g, ' '),
      ...{ calls: Number(row.calls), rows: Number(row.rows), ms: row.ms, planningMs: row.planning_ms },
      ...{ walBytes: Number(row.wal_bytes), pages: Number(row.pages), pagesRead: Number(row.pages_read) },
    }));
  });
  const least = LEAST_SHARE * counted.reduce((sum, one) => sum + one.ms, 0);
  const large = counted.filter(({ ms }) => ms >= least);
  const small = counted.filter(({ ms }) => ms < least);
  const sumOf = (name: string, of: typeof counted) => {
    const sum = (figure: Exclude<keyof (typeof counted)[number], 'name'>): number =>
      of.reduce((total, one) => total + one[figure], 0);
    return {
      ...{ name, calls: sum('calls'), rows: sum('rows'), ms: sum('ms'), planningMs: sum('planningMs') },
      ...{ walBytes: sum('walBytes'), pages: sum('pages'), pagesRead: sum('pagesRead') },
    };
  };
  return {
    title: `Statements of ${invoices.toLocaleString('en')} invoices, as the server timed them`,
    columns: [
      ...['statement', 'calls', 'rows a call', 'ms a call', 'µs an invoice', 'planning µs', 'log bytes an invoice'],
      ...['pages an invoice', 'not in memory'],
    ],
    rows: [...large, sumOf(`${small.length} others`, small), sumOf('all', counted)].map((one) => [
      one.name,
      String(one.calls),
      (one.rows / Math.max(1, one.calls)).toFixed(1),
      (one.ms / Math.max(1, one.calls)).toFixed(2),
      ((one.ms * 1000) / invoices).toFixed(1),
      ((one.planningMs * 1000) / invoices).toFixed(1),
      (one.walBytes / invoices).toFixed(0),
      (one.pages / invoices).toFixed(1),
      (one.pagesRead / invoices).toFixed(2),
    ]),
    notes: [
      'Time inside the server, with waits for locks, without parsing, network and the disk at the commit.',
      'Pages: how often one was looked at. Not in memory: not among those that the server keeps itself (shared_buffers).',
    ],
  };
}

async function asked<Result>(databaseUrl: string, ask: (client: pg.Client) => Promise<Result>): Promise<Result> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    return await ask(client);
  } finally {
    await client.end();
  }
}
