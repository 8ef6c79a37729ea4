import { describe, expect, it } from 'vitest';
import { call } from '../support/client.ts';
import { sandbox } from '../support/fixtures.ts';

const WEBHOOK = { url: 'https://example.test/hooks', events: ['invoice.issued'] };

describe('POST /v1/webhooks', () => {
  it('gives the same endpoint and secret for the same address, with the new events', async () => {
    const { url, books } = await sandbox();
    const first = await call(url, 'POST', '/v1/webhooks', { body: WEBHOOK });

    const second = await call(url, 'POST', '/v1/webhooks', { body: { ...WEBHOOK, events: ['invoice.failed'] } });

    expect(second.status).toBe(200);
    expect(second.json).toEqual({ ...first.json, events: ['invoice.failed'] });
    expect(books().totals.webhooks).toBe(1);
  });

  it('makes one endpoint of two requests at the same moment', async () => {
    const { url, books } = await sandbox();

    const replies = await Promise.all([1, 2, 3].map(() => call(url, 'POST', '/v1/webhooks', { body: WEBHOOK })));

    expect(new Set(replies.map(({ json }) => json['secret'])).size).toBe(1);
    expect(books().totals.webhooks).toBe(1);
  });
});
