import { describe, expect, inject, it } from 'vitest';
import { forTest } from '../../support/lifetime.ts';
import { silentServer } from '../../support/servers/proxies.ts';
import { testFleet } from '../../support/lote/fleet.ts';
import { SANDBOX_KEY } from '../../support/servers/service-front.ts';

const INVOICES = 12;

describe.skipIf(inject('postgresUrl') === null)('a service that is configured wrongly at first', () => {
  it('leaves nothing behind: a mistyped address, then a wrong key, then the right ones, and all is issued once', async () => {
    const { front, sandbox, clientEnv, all, up, file } = await testFleet();
    /** Worker and receiver, up; each still runs when `use` has ended. */
    async function deployed<T>(service: { url: string; key: string }, use: () => Promise<T>): Promise<T> {
      const env = { INVOICING_BASE_URL: service.url, INVOICING_API_KEY: service.key };
      const parts = await Promise.all([up('worker', env), up('receiver', env)]);
      const ended = Promise.race(parts.map(async ({ end }) => Promise.reject(new Error((await end).stderr))));
      ended.catch(() => undefined);
      try {
        return await Promise.race([use(), ended]);
      } finally {
        for (const part of parts) part.killGroup();
      }
    }
    const path = await file('first.csv', { invoices: INVOICES });
    const silent = await forTest(silentServer());

    const run = await deployed({ url: `http://${silent.address}`, key: SANDBOX_KEY }, async () => {
      const started = all.start(['run', path, '--json'], clientEnv);
      await expect.poll(() => silent.connections()).toBeGreaterThan(0);
      return started;
    });
    await silent.remove();
    await deployed({ url: front.url, key: 'sk_test_mistyped' }, async () => {
      const refused = () => front.requests.filter(({ authorization }) => authorization === 'Bearer sk_test_mistyped');
      await expect.poll(() => refused().length).toBeGreaterThan(0);
    });
    const { code, stdout, stderr } = await deployed({ url: front.url, key: SANDBOX_KEY }, () => run.end);

    expect(code, stderr).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ batches: [{ counts: { invoices: INVOICES, issued: INVOICES } }] });
    expect(sandbox.books().duplicates).toEqual([]);
    expect(sandbox.books().totals).toMatchObject({ invoices: INVOICES, issued: INVOICES });
  });
});
