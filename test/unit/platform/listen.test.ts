import { createServer, type Server } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { listenOn } from '../../../src/platform/listen.ts';

describe('a server that is to listen', () => {
  const servers: Server[] = [];
  const asked = { what: 'Serving tests', variables: 'TEST' };

  function newServer(): Server {
    const server = createServer((_request, response) => void response.end('here'));
    servers.push(server);
    return server;
  }

  afterEach(() => {
    for (const server of servers.splice(0)) server.close();
  });

  it.each([
    ['127.0.0.1', '127.0.0.1'],
    ['::1', '[::1]'],
  ])('says where it listens when any port of %s will do', async (host, shown) => {
    const { port, origin } = await listenOn(newServer(), { ...asked, host, port: 0 });

    expect(origin).toBe(`http://${shown}:${port}`);
    expect(await (await fetch(origin)).text()).toBe('here');
  });

  it('names a port that is taken, and the variable that chooses another', async () => {
    const { port } = await listenOn(newServer(), { ...asked, host: '127.0.0.1', port: 0 });

    await expect(listenOn(newServer(), { ...asked, host: '127.0.0.1', port })).rejects.toMatchObject({
      code: 'port-taken',
      message: `Serving tests: 127.0.0.1:${port} must be free, found another process on it. Set TEST_PORT to another port.`,
    });
  });

  it('does not call an address that is not of this machine a taken port', async () => {
    await expect(listenOn(newServer(), { ...asked, host: '192.0.2.1', port: 0 })).rejects.toMatchObject({
      code: 'configuration-invalid',
      message: expect.stringContaining('found EADDRNOTAVAIL. Correct TEST_HOST or TEST_PORT.') as string,
    });
  });

  it('goes on when a connection cannot be taken', async () => {
    const server = newServer();
    const { origin } = await listenOn(server, { ...asked, host: '127.0.0.1', port: 0 });

    server.emit('error', Object.assign(new Error('accept EMFILE'), { code: 'EMFILE' }));

    expect(await (await fetch(origin)).text()).toBe('here');
  });
});
