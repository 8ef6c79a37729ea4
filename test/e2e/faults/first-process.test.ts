import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COMMAND, newPlace, NODE_OPTIONS, startCommand, type Place } from '../../support/lote/lote-command.ts';
import { PID_NAMESPACE, whyNoNamespaces } from '../../support/namespaces.ts';
import { SANDBOX_KEY } from '../../support/servers/service-front.ts';

const whyNot = whyNoNamespaces();
if (whyNot !== null) console.warn(`first process: left out; ${whyNot}`);

/** As in a pod without an init: the kernel drops a signal that the first process of a container does not hear. */
describe.skipIf(whyNot !== null)('the first process of a container that is told to leave while it starts', () => {
  /** Takes connections, and never says a word. */
  const silent = createServer(() => undefined);
  let place: Place;

  beforeAll(async () => {
    place = await newPlace();
    await once(silent.listen(0, '127.0.0.1'), 'listening');
  });

  afterAll(async () => {
    silent.close();
    await place.remove();
  });

  it.each(['worker', 'receiver', 'console'])('leaves: lote %s', async (command) => {
    const { port } = silent.address() as AddressInfo;
    const env = {
      PATH: process.env['PATH'] ?? '',
      HOME: process.env['HOME'] ?? '',
      ...place.env,
      DATABASE_URL: `postgres://lote@127.0.0.1:${port}/lote`,
      TEMPORAL_ADDRESS: `127.0.0.1:${port}`,
      INVOICING_BASE_URL: `http://127.0.0.1:${port}`,
      INVOICING_API_KEY: SANDBOX_KEY,
      WEBHOOK_URL: `http://127.0.0.1:${port}/webhooks`,
    };
    const reached = once(silent, 'connection');
    const started = startCommand(PID_NAMESPACE.wrap([process.execPath, ...NODE_OPTIONS, COMMAND, command]), { env });
    try {
      await Promise.race([reached, started.end]);
      const children = await readFile(`/proc/${started.pid}/task/${started.pid}/children`, 'utf8');

      process.kill(Number(children.trim()), 'SIGTERM');

      const { code, stderr } = await started.end;
      expect(code, stderr).toBe(143);
    } finally {
      started.killGroup();
    }
  });
});
