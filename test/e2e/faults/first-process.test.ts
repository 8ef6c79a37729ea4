import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { shared } from '../../support/lifetime.ts';
import { COMMAND, newPlace, startLote } from '../../support/lote/lote-command.ts';
import { PID_NAMESPACE, whyNoNamespaces } from '../../support/namespaces.ts';
import { silentServer } from '../../support/servers/proxies.ts';
import { SANDBOX_KEY } from '../../support/servers/service-front.ts';

const whyNot = whyNoNamespaces();
if (whyNot !== null) console.warn(`first process: left out; ${whyNot}`);

/** As in a pod without an init: the kernel drops a signal that the first process of a container does not hear. */
describe.skipIf(whyNot !== null)('the first process of a container that is told to leave while it starts', () => {
  const silent = shared(silentServer);
  const place = shared(newPlace);

  it.each(['worker', 'receiver', 'console'])('leaves: lote %s', async (command) => {
    const { address } = silent;
    const env = {
      ...place.env,
      DATABASE_URL: `postgres://lote@${address}/lote`,
      TEMPORAL_ADDRESS: address,
      INVOICING_BASE_URL: `http://${address}`,
      INVOICING_API_KEY: SANDBOX_KEY,
      WEBHOOK_URL: `http://${address}/webhooks`,
    };
    const reached = once(silent.server, 'connection');
    const started = startLote([command], env, COMMAND, PID_NAMESPACE);
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
