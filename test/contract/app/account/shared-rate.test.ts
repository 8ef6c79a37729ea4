import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openPostgresLedger } from '../../../../src/ledger/open-postgres-ledger.ts';
import type { Sandbox, SandboxOptions } from '../../../../src/sandbox/sandbox.ts';
import { createInvoicingService, type InvoicingService } from '../../../../src/service/client.ts';
import { DEFAULT_PROFILE } from '../../../../src/service/profile/profile.ts';
import { postgresSchema, postgresUrl } from '../../../support/servers/postgres-database.ts';
import {
  independentSandbox,
  SANDBOX_KEY,
  startServiceFront,
  type ServiceFront,
} from '../../../support/servers/service-front.ts';
import type { Ledger } from '../../../../src/ledger/ledger.ts';

const url = postgresUrl();
const MERCHANT = { legalName: 'Merchant, Lda', nif: '501964843', email: 'a@b.example' };
/** What is waited for here comes within a second or two; longer is an error. */
const POLL_INTERVAL_MS = 50;

/** Two processes' worth of Lote: each with a connection to the one ledger, and a client of its own. */
describe.skipIf(url === null)('two processes of one ledger', () => {
  const ends: (() => Promise<unknown>)[] = [];
  let place: ReturnType<typeof postgresSchema>;
  let sandbox: Sandbox;
  let front: ServiceFront;

  beforeEach(() => {
    place = postgresSchema(url ?? '');
    ends.push(place.drop);
  });

  afterEach(async () => {
    for (const end of ends.splice(0).toReversed()) await end();
  });

  async function serve(options: Partial<SandboxOptions>): Promise<void> {
    sandbox = await independentSandbox({ settleMs: 20, ...options });
    ends.push(() => sandbox.close());
    front = await startServiceFront(sandbox.url);
    ends.push(() => front.close());
  }

  async function process(requestsPerSecond: number | null): Promise<{ ledger: Ledger; service: InvoicingService }> {
    const ledger = await openPostgresLedger({ ...place });
    ends.push(() => ledger.close());
    const limits = { ...DEFAULT_PROFILE.limits, requestsPerSecond, maxConcurrency: 32 };
    const service = createInvoicingService({
      ...{ baseUrl: front.url, apiKey: SANDBOX_KEY, application: 'shop' },
      profile: { ...DEFAULT_PROFILE, limits },
      rate: ledger.sharedRate(front.url, requestsPerSecond),
    });
    ends.push(() => service.close());
    return { ledger, service };
  }

  async function merchant({ service }: { service: InvoicingService }): Promise<string> {
    const answer = await service.createMerchant(MERCHANT, 'the-merchant');
    if (answer.kind !== 'created') throw new Error(`The merchant was not created: ${answer.kind}`);
    return answer.merchantId;
  }

  it.each([
    ['that has a rate', 100],
    ['that has none', null],
  ])('both obey a Retry-After that one of them was given, with a profile %s', async (_title, requestsPerSecond) => {
    await serve({});
    const [one, other] = [await process(requestsPerSecond), await process(requestsPerSecond)];
    // Both have sent before, so that neither of them learns of it by starting.
    await one.service.listMerchants();
    await other.service.listMerchants();
    front.script = () => ({ status: 429, headers: { 'retry-after': '300' } });
    expect(await one.service.createInvoice('{}', 'one')).toMatchObject({ kind: 'not-now', retryAfterMs: 300_000 });
    front.script = () => 'pass';

    let answer = await other.service.createInvoice('{}', 'other');
    while (!('reason' in answer) || answer.reason.code !== 'retry-after-in-force') {
      await sleep(POLL_INTERVAL_MS);
      answer = await other.service.createInvoice('{}', 'other');
    }
    const third = await process(requestsPerSecond);

    expect(answer).toMatchObject({ kind: 'not-now', reason: { code: 'retry-after-in-force' } });
    expect(await third.service.createInvoice('{}', 'third'), 'and one that starts now').toMatchObject({
      kind: 'not-now',
      reason: { code: 'retry-after-in-force' },
    });
    expect(front.requests.filter(({ key }) => key === 'third')).toEqual([]);
  });

  it('find the limit of a service together that their profile says nothing of', async () => {
    // So low that a busy machine meets it.
    const limit = 10;
    const each = 60;
    await serve({ faults: { requestsPerSecond: limit, retryAfterSeconds: 0 } });
    const processes = [await process(null), await process(null)];
    const merchantId = await merchant(processes[0] ?? (await process(null)));
    const begun = front.requests.length;
    let created = 0;
    let lowestRate = Infinity;

    /** A busy machine sends less than the service takes, and the rate rises again. */
    async function lookAtRate(): Promise<void> {
      const shared = await processes[0]?.ledger.sharedRate(front.url, null).current();
      lowestRate = Math.min(lowestRate, shared?.requestsPerSecond ?? Infinity);
    }

    async function send(service: InvoicingService, key: string): Promise<void> {
      const body = JSON.stringify({
        merchant_id: merchantId,
        customer: { name: key },
        currency: 'EUR',
        lines: [{ description: key, quantity: 1, unit_price: 10, tax_code: 'IVA_23' }],
      });
      for (;;) {
        const answer = await service.createInvoice(body, key);
        if (answer.kind === 'created') return void (created += 1);
        if (answer.kind !== 'not-now') throw new Error(`${key}: ${JSON.stringify(answer)}`);
        await lookAtRate();
      }
    }

    await Promise.all(
      processes.flatMap(({ service }, at) =>
        Array.from({ length: each }, (_, index) => send(service, `${at}-${index}`)),
      ),
    );

    expect(created).toBe(2 * each);
    expect(sandbox.books().totals).toMatchObject({ invoices: 2 * each });
    expect(sandbox.books().duplicates).toEqual([]);
    const tooMany = front.requests.length - begun - 2 * each;
    expect(tooMany).toBeGreaterThan(0);
    // Each process slows at its sixth refusal: until then its 32 requests are on the wire. Then the rate is half of the burst and of a
    // second's, so that what is refused later is less than a second's.
    expect(tooMany, 'answers of 429').toBeLessThan(2 * (32 + 6) + limit);
    await lookAtRate();
    expect(lowestRate, 'requests a second').toBeLessThan(2 * limit);
  });
});
