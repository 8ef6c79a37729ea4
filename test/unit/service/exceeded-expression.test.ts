import { describe, expect, it, onTestFinished } from 'vitest';
import { createInvoicingService } from '../../../src/service/client.ts';
import { loadProfile } from '../../../src/service/profile/check-profile.ts';
import { scriptedServer, sendJson } from './scripted-server.ts';

/** More items than an expression may make. */
const EXCEEDS = 'jsonata:[1..20000][0]';

async function answered(status: number, value: unknown, profile: unknown) {
  const server = await scriptedServer((_request, response) => sendJson(response, status, value));
  const service = createInvoicingService({
    ...{ baseUrl: server.baseUrl, apiKey: 'sk_test_limits', application: 'tests' },
    profile: loadProfile(JSON.stringify(profile)),
  });
  onTestFinished(async () => await service.close());
  return service;
}

describe('an expression of the profile that exceeds its limits', () => {
  it('ends no list: a merchant behind it would be created twice', async () => {
    const list = { data: [{ id: 'mrc_1', nif: '501964843' }], next_cursor: 'more' };
    const service = await answered(200, list, { merchants: { nextCursor: EXCEEDS } });

    expect(await service.listMerchants()).toMatchObject({
      kind: 'unreadable',
      reason: {
        code: 'service-list-unreadable',
        message: expect.stringContaining('exceeded its limit') as string,
      },
    });
  });

  it('in an item makes the list unreadable', async () => {
    const service = await answered(200, { data: [{ id: 'mrc_1' }] }, { merchants: { nif: EXCEEDS } });

    expect(await service.listMerchants()).toMatchObject({
      ...{ kind: 'unreadable' },
      reason: { message: expect.stringContaining('exceeded its limit') as string },
    });
  });

  it('lets no later rule refuse an invoice', async () => {
    const rules = [
      { status: [422], has: EXCEEDS, means: 'later' },
      { status: [422], means: 'refused' },
    ];
    const service = await answered(422, { error: { code: 'busy' } }, { answers: { rules } });

    expect(await service.createInvoice('{}', 'lote_a')).toMatchObject({
      ...{ kind: 'lost' },
      reason: { code: 'http-422-unreadable', message: 'HTTP 422: answer not-evaluated' },
    });
  });

  it('leaves open whether a registration brought a secret', async () => {
    const service = await answered(201, { secret: 'whsec_1a' }, { webhook: { secret: EXCEEDS } });

    expect(await service.registerWebhook('https://lote.example/webhooks')).toMatchObject({ kind: 'lost' });
  });
});
