import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Ledger } from '../../../../src/domain/ports/ledger/ledger.ts';
import { readConfig } from '../../../../src/runtime/config/config.ts';
import { createLogger } from '../../../../src/runtime/process/logger.ts';
import { DEFAULT_PROFILE } from '../../../../src/service-profile/default-profile.ts';
import { openService } from '../../../../src/wiring/account/open-service.ts';
import { openAnswerWatch } from '../../../../src/wiring/profile-fit/open-answer-watch.ts';
import { startReceiver, type Receiver } from '../../../../src/wiring/receiver/start-receiver.ts';
import { temporaryLedger } from '../../../support/servers/temporary-database.ts';
import { deliver, signatureOf } from '../../../unit/webhooks/receiver-fixture.ts';

const DAY_MS = 24 * 60 * 60 * 1_000;
const PRESENT = 'https://present.example/webhooks';

describe('a receiver whose address has changed', () => {
  let ledger: Ledger;
  const ends: (() => Promise<unknown>)[] = [];

  beforeAll(async () => {
    ledger = await temporaryLedger();
    ends.push(() => ledger.close());
  });
  afterAll(async () => {
    for (const end of ends.toReversed()) await end();
  });

  async function receiver(application: string, env: Record<string, string> = {}): Promise<Receiver> {
    const config = readConfig(
      {
        ...{ INVOICING_BASE_URL: 'http://127.0.0.1:9', INVOICING_API_KEY: 'sk_test_receiver' },
        ...{ LOTE_APPLICATION: application, WEBHOOK_URL: PRESENT, ...env },
      },
      '/nowhere',
    );
    if (config.service.kind !== 'remote') throw new Error('The service has an address');
    const service = openService(config, config.service, DEFAULT_PROFILE);
    const log = createLogger({ level: 'silent', secrets: [] });
    const place = { application, baseUrl: service.baseUrl };
    const days = (ago: number) => Date.now() - ago * DAY_MS;
    await ledger.saveEndpoint({ ...place, url: 'https://before.example/webhooks', secret: 'before' }, days(200));
    await ledger.saveEndpoint({ ...place, url: PRESENT, secret: 'present' }, days(60));
    const parts = { config, ledger, service, profile: DEFAULT_PROFILE, log };
    const started = await startReceiver({
      ...parts,
      port: 0,
      watch: openAnswerWatch({ ...parts, expectsEvents: true }),
      client: () => {
        throw new Error('Nothing is settled, so that nobody is told');
      },
    });
    ends.push(
      () => service.close(),
      () => started.close(),
    );
    return started;
  }

  async function answerTo({ url }: Receiver, secret: string): Promise<number> {
    const body = JSON.stringify({ type: 'invoice.voided', data: { id: 'inv_1' }, secret });
    return (await deliver(url, body, { 'x-service-signature': signatureOf(body, secret) })).status;
  }

  it('accepts the secret of the address before for 90 days', async () => {
    const started = await receiver('ninety');

    expect(await answerTo(started, 'before')).toBe(204);
    expect(await answerTo(started, 'present')).toBe(204);
  });

  it('refuses it after the time that WEBHOOK_SECRET_GRACE sets', async () => {
    const started = await receiver('thirty', { WEBHOOK_SECRET_GRACE: '30d' });

    expect(await answerTo(started, 'before')).toBe(401);
    expect(await answerTo(started, 'present')).toBe(204);
  });
});
