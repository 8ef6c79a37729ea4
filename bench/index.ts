import { runIngestBench } from './ingest-bench.ts';
import { runLedgerBench } from './ledger-bench.ts';
import { readOptions, type IngestOptions, type IssueOptions, type LedgerOptions } from './options.ts';
import { runIssueBench } from './issue-bench.ts';
import { printTable, type Table } from './print-table.ts';

/** `npm run bench -- --help` says what can be measured; one table per run, on stdout. */
const options = readOptions(process.argv.slice(2));
printTable(await measured(options));

function measured(asked: IssueOptions | IngestOptions | LedgerOptions): Promise<Table> {
  switch (asked.kind) {
    case 'ingest':
      return runIngestBench(asked);
    case 'ledger':
      return runLedgerBench(asked);
    case 'issue':
      return runIssueBench(asked);
  }
}
