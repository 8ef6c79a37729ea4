import { runIngestBench } from './ingest-bench.ts';
import { readOptions } from './options.ts';
import { runIssueBench } from './issue-bench.ts';
import { printTable } from './print-table.ts';

/** `npm run bench -- --help` says what can be measured; one table per run, on stdout. */
const options = readOptions(process.argv.slice(2));
const table = options.kind === 'ingest' ? await runIngestBench(options) : await runIssueBench(options);
printTable(table);
