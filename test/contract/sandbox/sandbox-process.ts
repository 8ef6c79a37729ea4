import { startSandbox } from '../../../src/sandbox/sandbox.ts';
import { fileStore } from '../../../src/sandbox/store.ts';

// A sandbox in a process of its own, for tests that kill it; the engine never speaks, so that everything stays open.
const directory = process.argv[2];
if (directory === undefined) throw new Error('Give the directory of the books.');
const sandbox = await startSandbox({ port: 0, store: fileStore({ directory }), settleMs: 3_600_000 });
process.stdout.write(`${sandbox.url}\n`);
