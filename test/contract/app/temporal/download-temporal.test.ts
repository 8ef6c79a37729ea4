import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { temporaryDirectory } from '../../../support/files/temporary-directory.ts';
import { downloadTemporal } from '../../../../src/app/temporal/temporal-binary.ts';

it('a download of the Temporal CLI without an answer ends at its time limit and leaves nothing behind', async () => {
  const directory = await temporaryDirectory();
  const sockets: Socket[] = [];
  const silent = createServer((socket) => sockets.push(socket.on('error', () => undefined))).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    silent.close();
  });
  const proxy = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const env = { PATH: process.env['PATH'], HOME: directory, HTTPS_PROXY: proxy, https_proxy: proxy };

  // On a busy machine the program that downloads may take longer than its time to ask anybody.
  for (let limitMs = 10_000; sockets.length === 0; limitMs *= 2)
    expect(await downloadTemporal(join(directory, 'temporal'), env, limitMs)).toBe(false);

  expect(await readdir(directory)).toEqual([]);
  for (const socket of sockets) if (!socket.readableEnded && !socket.destroyed) await once(socket.resume(), 'close');
});
