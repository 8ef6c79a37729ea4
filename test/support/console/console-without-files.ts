import { connect } from 'node:net';
import { startTestConsole } from '../../unit/console/console-ledger.ts';
import { execFileSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';

/** Enough files for a working process. The limit starts after all modules are loaded, because that needs more files. */
const MOST = 300;

/** Opens files until this process can open no more. Returns a function that closes them. */
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
 * Starts a console, sends half of a request, uses all files up, and sends the rest of the request. Prints the status of
 * that answer, and of an answer on the same connection after files are free again.
 */
const web = await startTestConsole({ token: 'a-long-random-token' });
const REQUEST = 'GET /api/batches HTTP/1.1\r\nhost: 127.0.0.1\r\n';
// This first request makes the console load its modules while files are free.
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
