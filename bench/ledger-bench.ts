import { startDeployedPostgres } from './deployed-postgres.ts';
import { runChild } from './child.ts';
import type { LedgerOptions } from './options.ts';
import type { Table } from './print-table.ts';
import type { LedgerInput, LedgerRun } from './processes/ledger-process.ts';

/** What each step of an invoice's life costs in the ledger, on PostgreSQL: CPU of server and client, statements, bytes of its log. */
export async function runLedgerBench({ invoices, group, node }: LedgerOptions): Promise<Table> {
  const cluster = await startDeployedPostgres();
  if (cluster === null) throw new Error('Measuring the ledger: no PostgreSQL on this machine (initdb and postgres).');
  try {
    const input: LedgerInput = { invoices, group, databaseUrl: cluster.url, databasePid: cluster.pid };
    return ledgerTable(input, await runChild<LedgerRun>({ file: 'ledger-process.ts', input, node }));
  } finally {
    await cluster.stop();
  }
}

function ledgerTable({ invoices, group }: LedgerInput, { steps }: LedgerRun): Table {
  const each = (amount: number, digits = 3): string => (amount / invoices).toFixed(digits);
  const sum = (of: (step: LedgerRun['steps'][number]) => number): number =>
    steps.reduce((all, one) => all + of(one), 0);
  return {
    title: `The ledger on PostgreSQL: ${invoices.toLocaleString('en')} invoices, answers and deliveries in groups of ${group}`,
    columns: ['step', 'server CPU ms', 'client CPU ms', 'statements', 'log bytes', 'log records'],
    rows: [
      ...steps.map((step) => [
        step.name,
        each(step.serverCpuMs),
        each(step.clientCpuMs),
        each(step.statements),
        each(step.walBytes, 0),
        each(step.walRecords, 1),
      ]),
      [
        'all',
        each(sum((step) => step.serverCpuMs)),
        each(sum((step) => step.clientCpuMs)),
        each(sum((step) => step.statements)),
        each(
          sum((step) => step.walBytes),
          0,
        ),
        each(
          sum((step) => step.walRecords),
          1,
        ),
      ],
    ],
    notes: ['All per invoice. Log: the write-ahead log. The server’s CPU includes its background processes.'],
  };
}
