import { execFileSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { acquireTemporalBinary } from '../../../src/runtime/temporal/temporal-binary.ts';
import { startTemporalServer } from '../../../src/runtime/temporal/temporal-server.ts';

// Says whether its server lives, at first and while it can open no further file.
const MOST = 300;
const [, , dataDir = ''] = process.argv;
const binary = await acquireTemporalBinary((line) => console.error(line), process.env);
const server = await startTemporalServer({ binary, dataDir, namespace: 'default', port: 0, uiPort: 0 });
execFileSync('prlimit', ['--pid', String(process.pid), `--nofile=${MOST}`]);
const atFirst = await server.alive();
const opened = openAll();
const alive = await server.alive();
for (const fd of opened) closeSync(fd);
await server.stop();
process.stdout.write(`alive: ${atFirst}, with no file to open: ${alive}\n`);

function openAll(): readonly number[] {
  const all: number[] = [];
  for (;;) {
    try {
      all.push(openSync('/dev/null', 'r'));
    } catch {
      return all;
    }
  }
}
