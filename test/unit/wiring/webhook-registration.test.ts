import { describe, expect, it } from 'vitest';
import type { EndpointAnswer } from '../../../src/domain/ports/invoicing-service.ts';
import type { WebhookEndpointRecord } from '../../../src/domain/ports/ledger.ts';
import { createWebhookRegistration } from '../../../src/wiring/webhook-registration.ts';

const URL = 'https://lote.example/webhooks';

/** A ledger of registrations, and a service that gives these answers in turn. */
function registration(answers: readonly EndpointAnswer[], over: { ownSecret?: boolean; url?: string | null } = {}) {
  const saved: WebhookEndpointRecord[] = [];
  let asked = 0;
  const deps = {
    ledger: {
      findEndpoint: async (baseUrl: string, application: string, url: string) =>
        saved.find((one) => one.baseUrl === baseUrl && one.application === application && one.url === url) ?? null,
      saveEndpoint: async (endpoint: WebhookEndpointRecord) => void saved.push(endpoint),
      webhookSecrets: async () => saved.flatMap(({ secret }) => (secret === null ? [] : [secret])),
    },
    service: {
      baseUrl: 'https://service.example',
      registerWebhook: async () => answers[(asked += 1) - 1] ?? { kind: 'registered' as const, secret: 'late' },
    },
    application: 'shop',
    ownSecret: over.ownSecret ?? false,
    url: over.url === undefined ? URL : over.url,
    log: { warn: () => undefined },
    now: () => 0,
  };
  return { first: createWebhookRegistration(deps), again: createWebhookRegistration(deps), requests: () => asked };
}

describe('createWebhookRegistration', () => {
  it('registers once per address and application, whoever asks and however often', async () => {
    const { first, again, requests } = registration([{ kind: 'registered', secret: 's' }]);

    await Promise.all([first.ensure(), first.ensure()]);
    await first.ensure();
    await again.ensure();

    expect(requests()).toBe(1);
    expect([first.note(), again.note()]).toEqual([null, null]);
  });

  it('tries again after a refusal, and says meanwhile that asking settles', async () => {
    const { first, requests } = registration([{ kind: 'refused', reason: { code: 'http-500', message: 'no' } }]);

    await first.ensure();
    const note = first.note();
    await first.ensure();

    expect(note).toContain('(http-500): final answers came by asking (GET) alone');
    expect(requests()).toBe(2);
    expect(first.note()).toBeNull();
  });

  it.each([
    ['neither the service nor the configuration has a secret', false, /^Alert: the service gave no secret/],
    ['the configuration has one', true, null],
  ])('alerts where deliveries are refused: %s', async (_title, ownSecret, note) => {
    const { first, again } = registration([{ kind: 'registered', secret: null }], { ownSecret });

    await first.ensure();
    await again.ensure();

    for (const one of [first, again]) {
      if (note === null) expect(one.note()).toBeNull();
      else expect(one.note()).toMatch(note);
    }
  });

  it('asks for nothing without an address, and says so', async () => {
    const { first, requests } = registration([], { url: null });

    await first.ensure();

    expect(requests()).toBe(0);
    expect(first.note()).toContain('No WEBHOOK_URL is set');
  });
});
