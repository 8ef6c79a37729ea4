import { describe, expect, inject, it } from 'vitest';
import type { RunningCommand } from '../../support/lote/lote-command.ts';
import { withFleet } from '../../support/lote/worker-fleet.ts';
import { until } from '../../support/until.ts';

const INVOICES = 40;
/** Those after them are never answered. */
const ANSWERED = 6;
/** One request at a time, and several slices that wait for it: they do not end before the worker gives them up. */
const ONE_AT_A_TIME = { profile: { limits: { maxConcurrency: 1 } }, env: { LOTE_PAGE_SIZE: '5' } };

describe.skipIf(inject('postgresUrl') === null)('a worker that is stopped', { timeout: 240_000 }, () => {
  it('leaves although the service never answers', async () => {
    await withFleet({ workers: 1, ...ONE_AT_A_TIME }, async (fleet) => {
      const [worker] = fleet.workers as [RunningCommand];
      fleet.front.script = ({ path, method }) =>
        method === 'POST' && path === '/v1/invoices' && fleet.postTimes().length > ANSWERED
          ? new Promise<never>(() => undefined)
          : 'pass';
      await fleet.startFile('night.csv', INVOICES);
      await until(() => fleet.postTimes().length > ANSWERED);

      worker.signal('SIGTERM');
      const { code, signal, stderr } = await worker.end;
      expect([0, 'SIGKILL'], stderr).toContain(code ?? signal);
    });
  });
});
