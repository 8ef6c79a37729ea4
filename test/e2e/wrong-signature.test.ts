import { describe, expect, it, onTestFinished } from 'vitest';
import { startFake, type FakeService } from '../services/fake/fake-service.ts';
import { shopifyLike } from '../services/shopify-like.ts';
import { forTest } from '../support/lifetime.ts';
import { batchOf, lotePlace, reportOf, type LotePlace } from '../support/lote/running-lote.ts';
import { until } from '../support/until.ts';

const INVOICES = 12;
const EVENTS = shopifyLike.events ?? expect.fail('this service sends events');

interface Check {
  readonly name: string;
  readonly state: string;
  readonly detail: string;
}

const SENTENCE = /\d+ of \d+ deliveries refused: none has the header X-Service-Signature \(signature\.header\)\./;

describe('a service that signs otherwise than its profile says', () => {
  it('is told on the health page, with the setting to look at, and wherever else the operator looks', async () => {
    const secrets: string[] = [];
    const newSecret = (): string => {
      const secret = EVENTS.newSecret();
      secrets.push(secret);
      return secret;
    };
    const fake = await startFake({ family: { ...shopifyLike, events: { ...EVENTS, newSecret } } });
    onTestFinished(() => fake.close());
    const place = await forTest(placeAt(fake));
    const url = place.console;
    const running = place.run('run', await place.file('may.csv', { invoices: INVOICES }), '--json');
    let found: Check | undefined;
    await until(async () => (found = await profileCheck(url))?.state === 'trouble');

    expect(found?.detail).toMatch(SENTENCE);
    const page = await fetch(`${url}/health`);
    expect(page.status).toBe(503);
    expect(await page.text()).toContain('(signature.header)');
    const status = await place.run('status');
    expect(status.stdout).toContain('The service profile does not fit the service: ');
    expect(status.stdout).toContain('(signature.header)');
    const ran = await running;
    const { misfits, counts } = await reportOf(batchOf(ran));
    expect(counts).toMatchObject({ issued: INVOICES });
    expect(misfits.map(({ code }) => code)).toEqual(['deliveries-refused']);
    expect(misfits[0]?.message).toMatch(SENTENCE);
    const owner = place.owner ?? expect.fail('lote up runs');
    await owner.said('the service profile does not fit the service');

    owner.signal('SIGTERM');
    const { stdout, stderr } = await owner.end;
    expect(secrets).toHaveLength(1);
    for (const text of [stdout, stderr, status.stdout, ran.stdout, JSON.stringify(misfits), found?.detail])
      expect(text).not.toContain(secrets[0]);
  });
});

/** `lote up` at the service, with a profile that lacks the section about signatures. */
function placeAt({ url, key }: FakeService): Promise<LotePlace> {
  const { signature: _, ...profile } = shopifyLike.profile as Record<string, unknown>;
  return lotePlace({ up: true, profile, env: { INVOICING_BASE_URL: url, INVOICING_API_KEY: key } });
}

async function profileCheck(url: string): Promise<Check | undefined> {
  const { checks } = (await (await fetch(`${url}/api/health`)).json()) as { readonly checks: readonly Check[] };
  return checks.find(({ name }) => name === 'service profile');
}
