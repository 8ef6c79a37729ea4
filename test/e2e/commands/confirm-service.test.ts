import { beforeAll, describe, expect, it } from 'vitest';
import { shared } from '../../support/lifetime.ts';
import { runLote, type CommandEnd } from '../../support/lote/lote-command.ts';
import { ANY_PORTS, checkIn, lotePlace } from '../../support/lote/running-lote.ts';

const KEYS = { first: 'sk_test_first', second: 'sk_test_second' };

describe('a ledger whose service changes', () => {
  // All tests use one ledger that has issued three invoices: a test takes what is confirmed as it finds it, and each start takes seconds.
  const place = shared(() => lotePlace({ sandbox: { apiKeys: Object.values(KEYS) } }));
  let application: string;
  /** The run that the ledger knows the service from. */
  let first: CommandEnd;

  beforeAll(async () => {
    application = place.env['LOTE_APPLICATION'] ?? '';
    first = await run('A', envOf(place.sandbox.url, KEYS.first));
  });

  function envOf(baseUrl: string, apiKey: string): Record<string, string> {
    const { WEBHOOK_URL: _, ...env } = place.env as Record<string, string>;
    return { ...env, ...ANY_PORTS, INVOICING_BASE_URL: baseUrl, INVOICING_API_KEY: apiKey };
  }

  async function run(series: string, env: Record<string, string>): Promise<CommandEnd> {
    return runLote(['run', await place.file(`${series}.csv`, { invoices: 3, series }), '--json'], env);
  }

  it('refuses a second application on the same account: the same file would be issued again', async () => {
    const refused = await run('A', {
      ...envOf(place.sandbox.url, KEYS.first),
      LOTE_APPLICATION: `other-${application}`,
    });

    expect(first.code, first.stderr).toBe(0);
    expect(refused.code, refused.stderr).toBe(3);
    expect(JSON.parse(refused.stdout)).toMatchObject({ batches: [], error: { code: 'interlock' } });
    expect(refused.stderr + refused.stdout).toContain(`Set LOTE_APPLICATION=${application}`);
    place.expectIssued(3);
  });

  it('is never taken for a ledger of the built-in sandbox by a shell that lacks the variables of the service', async () => {
    const { INVOICING_BASE_URL: _, INVOICING_API_KEY: __, ...shell } = envOf('', '');

    const doctor = await runLote(['doctor', '--json'], shell);
    const confirmed = [await runLote(['confirm-service'], shell), await runLote(['confirm-ledger'], shell)];
    const refused = await run('S', shell);
    const back = await run('A', envOf(place.sandbox.url, KEYS.first));

    const missing = `uses ${place.sandbox.url}, but INVOICING_BASE_URL is not set here`;
    expect(doctor.code).toBe(1);
    expect(checkIn(doctor, 'service account')).toMatchObject({
      state: 'trouble',
      detail: expect.stringContaining(missing) as string,
    });
    expect(checkIn(doctor, 'ledger age')).toBeUndefined();
    for (const { code, stderr } of confirmed) {
      expect(stderr).toContain(
        `${missing}, and without it the built-in sandbox would be its service. Nothing was sent or confirmed`,
      );
      expect(code).toBe(3);
    }
    expect(refused.stderr + refused.stdout).toContain(missing);
    expect(refused.stderr + refused.stdout).not.toContain('confirm-service');
    expect(refused.code).toBe(3);
    expect(back.code, 'the account is the one that it was').toBe(0);
    place.expectIssued(3);
  });

  it('refuses another base address with exit code 3, until it is confirmed', async () => {
    const moved = envOf(place.front.url, KEYS.first);

    const refused = await run('B', moved);
    const asked = place.front.requests.length;
    const confirmed = await runLote(['confirm-service'], moved);

    expect(refused.code, refused.stderr).toBe(3);
    expect(refused.stderr + refused.stdout).toContain(`the address was ${place.sandbox.url} and is ${place.front.url}`);
    expect(asked, 'requests to an address that nobody confirmed').toBe(0);
    expect(confirmed.code, confirmed.stderr).toBe(0);
    place.expectIssued(3);
  });

  it('takes the confirmed address, refuses another key there with exit code 3 and sends nothing, until it is confirmed, too', async () => {
    const other = envOf(place.front.url, KEYS.second);
    const issued = place.sandbox.books().totals.issued;

    const refused = await run('C', other);
    const sentBefore = place.sandbox.books().totals.invoices;
    const confirmed = await runLote(['confirm-service'], other);
    const after = await run('C', other);
    const back = await run('D', envOf(place.front.url, KEYS.first));

    expect(refused.code, refused.stderr).toBe(3);
    expect(JSON.parse(refused.stdout)).toMatchObject({ batches: [], error: { code: 'interlock' } });
    expect(refused.stderr + refused.stdout).toContain('the API key is another one');
    expect(refused.stderr + refused.stdout, 'it was confirmed').not.toContain('the address was');
    expect(refused.stderr + refused.stdout).not.toContain('sk_test_');
    expect(sentBefore, 'what the first key had issued, and nothing else').toBe(issued);
    expect(confirmed.code, confirmed.stderr).toBe(0);
    expect(confirmed.stdout).toContain(`Application "${application}" of this ledger uses ${place.front.url}`);
    expect(after.code, after.stderr).toBe(0);
    expect(back.code, 'the key before is now the other one').toBe(3);
    place.expectIssued(issued + 3);
  });
});
