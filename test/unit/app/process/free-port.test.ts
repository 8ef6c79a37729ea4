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

  it.each([0, 8_080])('names an address that this machine does not have, for port %i', async (port) => {
    // For documents only (RFC 5737): no machine has it.
    const choice = choosePort({ host: '192.0.2.1', port, explicit: true, variable: 'RECEIVER_PORT' });

    await expect(choice).rejects.toMatchObject({
      code: 'configuration-invalid',
      message: expect.stringMatching(/192\.0\.2\.1:.* found EADDRNOTAVAIL\. Correct RECEIVER_HOST/) as string,
    });
  });
});
