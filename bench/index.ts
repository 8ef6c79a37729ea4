import { runPeersBench } from './comparison/peers-bench.ts';
import { runFootprintBench } from './footprint/footprint-bench.ts';
import { runIngestBench } from './ingest-bench.ts';
import { runIssueBench } from './issue-bench.ts';
import { runLedgerBench } from './ledger-bench.ts';
import { runLinearBench } from './linear-bench.ts';
import { runPagesBench } from './pages-bench.ts';
import { runRateBench } from './rate-bench.ts';
import { readOptions, type BenchOptions } from './options.ts';
import { printTable, type Table } from './print-table.ts';

/** `npm run bench -- --help` says what can be measured; one table per run, on stdout. */
printTable(await measure(readOptions(process.argv.slice(2))));

function measure(options: BenchOptions): Promise<Table> {
  switch (options.kind) {
    case 'ingest':
      return runIngestBench(options);
    case 'footprint':
      return runFootprintBench(options);
    case 'pages':
      return runPagesBench(options);
    case 'peers':
      return runPeersBench(options);
    case 'ledger':
      return runLedgerBench(options);
    case 'linear':
      return runLinearBench(options);
    case 'rate':
      return runRateBench(options);
    case 'issue':
      return runIssueBench(options);
  }
}
