import { describe, expect, it } from 'vitest';
import type { EndpointAnswer } from '../../../src/domain/ports/invoicing-service.ts';
import type { WebhookEndpointRecord } from '../../../src/domain/ports/ledger.ts';
import { createWebhookRegistration } from '../../../src/wiring/webhook-registration.ts';

const URL = 'https://lote.example/webhooks';
const REGISTERED: EndpointAnswer = { kind: 'registered', secret: 'whsec_1' };
const REFUSED: EndpointAnswer = { kind: 'refused', reason: { code: 'http-503', message: 'HTTP 503' } };

function registration(answers: readonly EndpointAnswer[], url: string | null = URL) {
  const saved: WebhookEndpointRecord[] = [];
  const asked: string[] = [];
  const warned: unknown[] = [];
  const parts = {
    ledger: {
      findEndpoint: (baseUrl: string, application: string, address: string) =>
        Promise.resolve(
          saved.find((one) => one.baseUrl === baseUrl && one.application === application && one.url === address) ??
            null,
        ),
      saveEndpoint: (endpoint: WebhookEndpointRecord) => Promise.resolve(void saved.push(endpoint)),
    },
    service: {
      baseUrl: 'https://api.example',
      async registerWebhook(address: string) {
        asked.push(address);
        await new Promise((resolve) => setImmediate(resolve));
        return answers[asked.length - 1] ?? REGISTERED;
      },
    },
    ...{ application: 'default', url, now: () => 0 },
    log: { warn: (message: string, fields?: object) => void warned.push([message, fields]) },
  };
  return { saved, asked, warned, open: () => createWebhookRegistration(parts) };
}

describe('the registration of the webhook', () => {
  it('is made once, and its secret is kept', async () => {
    const { saved, asked, open } = registration([REGISTERED]);
    const webhook = open();

    await webhook.ensure();
    await webhook.ensure();

    expect(asked).toEqual([URL]);
    expect(saved).toEqual([{ baseUrl: 'https://api.example', application: 'default', url: URL, secret: 'whsec_1' }]);
    expect(webhook.note()).toBeNull();
  });

  it('is made once by batches that start at the same moment', async () => {
    const { asked, open } = registration([REGISTERED]);
    const webhook = open();

    await Promise.all([webhook.ensure(), webhook.ensure(), webhook.ensure()]);

    expect(asked).toEqual([URL]);
  });

  it('is not made again by a later process that finds it in the ledger', async () => {
    const { asked, open } = registration([REGISTERED]);
    await open().ensure();

    const later = open();
    await later.ensure();

    expect(asked).toHaveLength(1);
    expect(later.note()).toBeNull();
  });

  it('that is refused does not stop a batch: its report says so, and the next batch tries again', async () => {
    const { saved, asked, warned, open } = registration([REFUSED, REGISTERED]);
    const webhook = open();

    await webhook.ensure();
    const note = webhook.note();
    await webhook.ensure();

    expect(note).toBe('The service did not register the webhook (http-503): final answers came by asking (GET) alone.');
    expect(warned).toEqual([['webhook not registered', { reason: 'http-503' }]]);
    expect(asked).toHaveLength(2);
    expect(saved).toHaveLength(1);
    expect(webhook.note()).toBeNull();
  });

  it('is not tried without an address, and every report says so', async () => {
    const { asked, open } = registration([REGISTERED], null);
    const webhook = open();

    await webhook.ensure();

    expect(asked).toEqual([]);
    expect(webhook.note()).toMatch(/WEBHOOK_URL/u);
  });
});
