import { randomInt } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Below the range of the system's ports for outgoing connections, so that no connection takes the port first. */
const LOWEST = 20_000;
const HIGHEST = 30_000;
/** One file for each reserved port, with the pid of the test. Two tests must not choose one port before they listen. */
const TAKEN = join(tmpdir(), `lote-test-ports-${process.getuid?.() ?? 0}`);

/** Reserves a port for a server whose port the test must know before the start, until the test's process ends. */
export async function ownPort(): Promise<number> {
  for (;;) {
    const port = randomInt(LOWEST, HIGHEST);
    if (take(TAKEN, String(port)) && (await isFree(port))) return port;
  }
}

/** Lets a server listen on loopback. Returns its port; by default any free one. */
export function listen(server: Server, port = 0): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}

/** Reserves a name in a folder until this process ends, or removes the file. Returns false if another process has it. */
export function take(folder: string, name: string): boolean {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, name);
  if (isHeld(file)) return false;
  rmSync(file, { force: true });
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' });
    return true;
  } catch {
    return false;
  }
}

function isHeld(file: string): boolean {
  try {
    process.kill(Number(readFileSync(file, 'utf8')), 0);
    return true;
  } catch {
    return false;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
