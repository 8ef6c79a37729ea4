import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { RunningConsole } from '../../../src/console/console-app.ts';
import { startTestConsole } from './console-ledger.ts';

const running: RunningConsole[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((console) => console.close()));
});

async function start(given: Parameters<typeof startTestConsole>[0] = {}): Promise<RunningConsole> {
  const started = await startTestConsole(given);
  running.push(started);
  return started;
}

describe('startConsole', () => {
  it('says which port is taken and which variable names it', async () => {
    const { port } = await start();

    await expect(start({ port })).rejects.toMatchObject({
      code: 'port-taken',
      message: expect.stringMatching(new RegExp(`:${port} must be free.*CONSOLE_PORT`, 'u')) as string,
    });
  });

  it.each(['0.0.0.0', '::', '192.0.2.1', 'lote.example'])('does not start on %s without a token', async (host) => {
    await expect(start({ host })).rejects.toMatchObject({ code: 'configuration-invalid' });
    await expect(start({ host, token: '' })).rejects.toMatchObject({ code: 'configuration-invalid' });
  });

  it('ends while a browser keeps its connection', async () => {
    const { url, close } = await start();
    await (await fetch(url)).text();

    await close();

    await expect(fetch(url)).rejects.toThrow('fetch failed');
  });

  it('ends while a client keeps a connection without a request, or with a part of one', async () => {
    const { port, close } = await start();
    const sockets = await Promise.all(
      ['', 'GET / HT'].map(async (text) => {
        const socket = connect(port, '127.0.0.1');
        socket.on('error', () => undefined);
        await once(socket, 'connect');
        socket.write(text);
        return socket;
      }),
    );
    const cut = Promise.all(sockets.map((socket) => new Promise((resolve) => socket.once('close', resolve))));

    await close();

    await cut;
  });
});
