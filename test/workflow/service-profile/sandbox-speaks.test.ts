import { describe, expect, it } from 'vitest';
import { withOwnPlaces } from '../../../src/sandbox/dialect/with-own-places.ts';
import { startSandbox, type Sandbox } from '../../../src/sandbox/sandbox.ts';
import { memoryStore } from '../../../src/sandbox/store/memory-store.ts';
import type { ServiceProfile } from '../../../src/service-profile/profile.ts';
import { deliveryAddress } from '../../../src/wiring/receiver/webhook-address.ts';
import { PROFILES } from '../../support/any-service/profiles.ts';
import { FAILING_TAX_CODE, type TestInvoice } from '../../support/files/batch-file.ts';
import { readReportOf, withStack } from '../../support/lote/stack.ts';
import { ownPort } from '../../support/servers/own-port.ts';

const TIMEOUT_MS = 240_000;
const KEY = 'sk_test_sandbox-speaks';
const SECRET = 'c2VjcmV0LXNlY3JldC1zZWNyZXQ=';
const NIFS = ['501964843', '502011378'] as const;
/** More than the service says no to, and no more than Lote lets through. */
const TOO_LONG_FOR_THE_SANDBOX = `Descrição ${'x'.repeat(2_000)}`;

/** One of each end; the refused one has a customer's name that the sandbox does not take. */
const BATCH: readonly TestInvoice[] = [
  { ref: 'S-1', nif: NIFS[0] },
  { ref: 'S-2', nif: NIFS[1], unitPrice: '0.1' },
  { ref: 'S-3', nif: NIFS[0], taxCode: FAILING_TAX_CODE },
  { ref: 'S-4', nif: NIFS[1], customer: TOO_LONG_FOR_THE_SANDBOX },
];
const STATES = { 'S-1': 'issued', 'S-2': 'issued', 'S-3': 'failed', 'S-4': 'rejected' };

/** The default is what every other test of a batch runs with. */
const SPOKEN = PROFILES.slice(1).map(({ name, profile }) => ({ name, profile: withOwnPlaces(profile).profile }));

/** Gives the address and the secret to the service by hand, where the profile says that somebody does. */
async function registerByHand(sandbox: Sandbox, { webhook, signature }: ServiceProfile, url: string): Promise<void> {
  if (webhook.register) return;
  await sandbox.registerByHand(deliveryAddress(url, signature.kind, SECRET) ?? url, SECRET);
}

describe('a batch through the sandbox that speaks the profile', { concurrent: true, timeout: TIMEOUT_MS }, () => {
  it.each(SPOKEN)('ends as it must with $name', async ({ profile }) => {
    const sandbox = await startSandbox({
      ...{ port: 0, store: memoryStore(), apiKeys: [KEY], settleMs: 20 },
      profile: JSON.stringify(profile),
    });
    try {
      const receiverPort = await ownPort();
      const url = `http://127.0.0.1:${receiverPort}/webhooks`;
      await registerByHand(sandbox, profile, url);
      const { kind } = profile.signature;
      const needsSecret = !profile.webhook.register || kind === 'basic' || kind === 'path';
      const env = { WEBHOOK_URL: url, ...(needsSecret && { WEBHOOK_SECRET: SECRET }) };
      const service = { url: sandbox.url, key: KEY };
      await withStack({ profile: { ...profile }, service, receiverPort, env }, async (stack) => {
        const result = await stack.run('spoken.csv', BATCH);

        const { invoices } = await readReportOf(result);
        expect(Object.fromEntries(invoices.map(({ ref, state }) => [ref, state]))).toEqual(STATES);
        expect(result.state).toBe('finished');
        expect(sandbox.books()).toMatchObject({
          totals: { invoices: 3, issued: 2, failed: 1, merchants: 2, deliveriesPending: 0, deliveriesGivenUp: 0 },
          duplicates: [],
        });
        const { taken, refused } = stack.deliveries();
        expect(taken.times).toBe(3);
        expect(Object.entries(refused).filter(([, { times }]) => times > 0)).toEqual([]);
      });
    } finally {
      await sandbox.close();
    }
  });
});
