import { connect } from 'node:net';
import { startConsole } from '../../../src/console/start-console.ts';
import { ledgerHolding } from '../../unit/console/console-ledger.ts';
import { execFileSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';

/** Enough for what a process has open when it works; it is bounded when everything is loaded, which takes more at once. */
const MOST = 300;

/** From now on this process can open no further file. Returns what gives the files back. */
function takeAllFiles(): () => void {
  execFileSync('prlimit', ['--pid', String(process.pid), `--nofile=${MOST}`]);
  const taken: number[] = [];
  try {
    for (;;) taken.push(openSync('/dev/null', 'r'));
  } catch {
    return () => taken.forEach((file) => closeSync(file));
  }
}

/**
 * A console: a caller sends half of a request, no file is left, and the rest of the request comes. Prints the status
 * of that answer, and of one on the same connection when there are files again.
 */
const web = await startConsole({
  ...{ host: '127.0.0.1', port: 0, token: 'a-long-random-token' },
  ledger: ledgerHolding([]),
  reportsDir: '/nowhere',
  links: { temporalUi: null },
  version: '0.1.0',
  ready: () => Promise.resolve({ status: 'ready', parts: {} }),
  actions: { run: async () => ({ batches: [] }) },
});
const REQUEST = 'GET /api/batches HTTP/1.1\r\nhost: 127.0.0.1\r\n';
// What the first answer loads is loaded before.
await fetch(`${web.url}/api/health`).then((answer) => answer.text());
const socket = connect({ host: '127.0.0.1', port: web.port });
await new Promise<void>((resolve) => socket.once('connect', resolve));
socket.write(REQUEST);
await fetch(`${web.url}/api/health`).then((answer) => answer.text());
const giveBack = takeAllFiles();
const without = await statusOf('\r\n');
giveBack();
const withFiles = await statusOf(`${REQUEST}\r\n`);
process.stdout.write(`${JSON.stringify([without, withFiles])}\n`);
process.exit(0);

function statusOf(rest: string): Promise<number> {
  return new Promise((resolve) => {
    socket.once('data', (chunk) => resolve(Number(/^HTTP\/1\.1 (\d+)/.exec(chunk.toString())?.[1])));
    socket.write(rest);
  });
}
