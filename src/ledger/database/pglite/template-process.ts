import { initializeLedger } from './open-pglite-ledger.ts';

// Entry of the process that makes a template, in the directory of its first argument.
await initializeLedger(process.argv[2] ?? '');
