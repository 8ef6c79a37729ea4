import { spawn } from 'node:child_process';
import { createConnection } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { ownPort } from '../../test/support/servers/own-port.ts';

export interface RedisServer {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

const START_TRIES = 200;
const START_PAUSE_MS = 50;

/** A private Redis on loopback that appends each write to a file, synced every second; null where the machine has no `redis-server`. */
export async function startRedis(directory: string): Promise<RedisServer | null> {
  const port = await ownPort();
  const settings = ['--port', String(port), '--bind', '127.0.0.1', '--dir', directory, '--save', ''];
  const durability = ['--appendonly', 'yes', '--appendfsync', 'everysec', '--maxmemory-policy', 'noeviction'];
  const server = spawn('redis-server', [...settings, ...durability], { stdio: 'ignore' });
  const left = new Promise<void>((resolve) => {
    server.once('error', () => resolve());
    server.once('exit', () => resolve());
  });
  if (server.pid === undefined) return null;
  for (let attempt = 0; !(await accepts(port)); attempt += 1) {
    if (server.exitCode !== null || attempt === START_TRIES)
      throw new Error('Starting Redis for the bench: it did not accept connections');
    await sleep(START_PAUSE_MS);
  }
  return {
    url: `redis://127.0.0.1:${port}`,
    pid: server.pid,
    async stop() {
      server.kill('SIGKILL');
      await left;
    },
  };
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ port, host: '127.0.0.1' });
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('close', () => undefined).once('connect', () => socket.destroy());
  });
}
