import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { choosePort } from '../../../../src/app/process/free-port.ts';

const HOST = '127.0.0.1';

async function listener(port = 0): Promise<number> {
  const server = createServer();
  server.listen(port, HOST);
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

describe('choosePort', () => {
  const byDefault = { host: HOST, explicit: false, variable: 'RECEIVER_PORT' };

  it('gives another one for a default port that is taken, or promised to another part', async () => {
    const taken = await listener();
    const free = await choosePort({ ...byDefault, port: 0 });

    const port = await choosePort({ ...byDefault, port: taken });

    expect(port).toBeGreaterThan(taken);
    expect(await listener(port)).toBe(port);
    expect(await choosePort({ ...byDefault, port: free, reserved: [free] })).not.toBe(free);
  });

  it('refuses a port that was set and is taken, naming port and variable', async () => {
    const taken = await listener();

    const choice = choosePort({ host: HOST, port: taken, explicit: true, variable: 'RECEIVER_PORT' });

    await expect(choice).rejects.toMatchObject({
      code: 'port-taken',
      message: expect.stringMatching(new RegExp(`${HOST}:${taken} must be free.*RECEIVER_PORT`)) as string,
    });
  });
});
