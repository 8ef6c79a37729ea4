import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { readConfig } from '../../../../src/app/config/config.ts';
import { NO_TELEMETRY } from '../../../../src/health/telemetry.ts';
import { createLogger } from '../../../../src/app/process/logger.ts';
import { DEFAULT_PROFILE } from '../../../../src/service/profile/default-profile.ts';
import { openService } from '../../../../src/app/account/open-service.ts';
import { startReceiver } from '../../../../src/app/receiver/start-receiver.ts';
import type { Receiver } from '../../../../src/webhooks/server.ts';
import { temporaryLedger } from '../../../support/servers/temporary-database.ts';
import { scriptedServer } from '../../../unit/service/scripted-server.ts';
import { deliver, signatureOf } from '../../../unit/webhooks/receiver-fixture.ts';
import type { Ledger } from '../../../../src/ledger/ledger.ts';
import { openCalibration } from '../../../../src/app/start/open-application.ts';

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

  async function receiver(application: string, presentSinceMs: number): Promise<Receiver> {
    const config = readConfig(
      {
        ...{ INVOICING_BASE_URL: 'http://127.0.0.1:9', INVOICING_API_KEY: 'sk_test_receiver' },
        ...{ LOTE_APPLICATION: application, WEBHOOK_URL: PRESENT },
      },
      '/nowhere',
    );
    if (config.service.kind !== 'remote') throw new Error('The service has an address');
    const service = openService(config, config.service, DEFAULT_PROFILE);
    const log = createLogger({ level: 'silent', secrets: [] });
    const place = { application, baseUrl: service.baseUrl };
    await ledger.saveEndpoint(
      { ...place, url: 'https://before.example/webhooks', secret: 'before' },
      Date.now() - 200 * DAY_MS,
    );
    await ledger.saveEndpoint({ ...place, url: PRESENT, secret: 'present' }, Date.now() - presentSinceMs);
    const parts = { config, ledger, service, profile: DEFAULT_PROFILE, log, telemetry: NO_TELEMETRY };
    const started = await startReceiver({
      ...parts,
      port: 0,
      calibration: openCalibration(parts, true),
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

  it('refuses it after that day', async () => {
    const started = await receiver('late', 2 * DAY_MS);

    expect(await answerTo(started, 'before')).toBe(401);
    expect(await answerTo(started, 'present')).toBe(204);
  });
});

describe('a receiver of events whose type is an unsigned header', () => {
  const SECRET = 'whsec_of_a_receiver';
  /** An answer about an id that says `late` comes after those that were asked for at the same time. */
  const LATE_MS = 300;
  /** What the service says by GET: the end of an id. */
  const SAYS = /\/(?<id>inv_[^/]*_(?<status>[a-z]+))$/;

  async function receiver(
    items: string | null = null,
  ): Promise<{ readonly url: string; readonly ledger: Ledger; readonly asked: () => number }> {
    const ledger = await temporaryLedger();
    const server = await scriptedServer(({ url }, response) => {
      const { id, status = '' } = SAYS.exec(url)?.groups ?? {};
      if (status === 'away') return void response.writeHead(503).end();
      response.setHeader('content-type', 'application/json');
      const answer = () => response.end(JSON.stringify({ id, ...(status !== 'none' && { status }) }));
      if (url.includes('_late_')) setTimeout(answer, LATE_MS);
      else answer();
    });
    const env = { INVOICING_BASE_URL: server.baseUrl, INVOICING_API_KEY: 'sk_test_receiver', WEBHOOK_SECRET: SECRET };
    const config = readConfig(env, '/nowhere');
    if (config.service.kind !== 'remote') throw new Error('The service has an address');
    const { event } = DEFAULT_PROFILE;
    const profile = { ...DEFAULT_PROFILE, event: { ...event, type: 'header:X-Topic', invoiceId: '/id', items } };
    const service = openService(config, config.service, profile);
    const log = createLogger({ level: 'silent', secrets: [] });
    const parts = { config, ledger, service, profile, log, telemetry: NO_TELEMETRY };
    const client = () => {
      throw new Error('Nothing is settled, so that nobody is told');
    };
    const calibration = openCalibration(parts, true);
    const started = await startReceiver({ ...parts, port: 0, calibration, client });
    onTestFinished(async () => {
      await started.close();
      await service.close();
      await ledger.close();
    });
    return { url: started.url, ledger, asked: () => server.received.length };
  }

  const send = (url: string, id: string, topic: string): Promise<number> => sendBody(url, { id }, topic);

  async function sendBody(url: string, content: object, topic: string): Promise<number> {
    const body = JSON.stringify(content);
    const headers = { 'x-service-signature': signatureOf(body, SECRET), 'x-topic': topic };
    return (await deliver(url, body, headers)).status;
  }

  it('believes "issued" when a GET says the same, for each invoice', async () => {
    const { url, ledger, asked } = await receiver();

    expect(await send(url, 'inv_1_issued', 'invoice.issued')).toBe(204);
    const before = asked();
    expect(await send(url, 'inv_2_issued', 'invoice.issued')).toBe(204);
    expect(asked()).toBeGreaterThan(before);
    expect((await ledger.deliveryTrouble(0)).unknownIds).toBe(2);
  });

  it('refuses a captured "failed" that comes again as "issued"', async () => {
    const { url, ledger } = await receiver();
    expect(await send(url, 'inv_1_issued', 'invoice.issued')).toBe(204);
    expect(await send(url, 'inv_2_failed', 'invoice.failed')).toBe(204);

    expect(await send(url, 'inv_2_failed', 'invoice.issued')).toBe(503);
    expect((await ledger.deliveryTrouble(0)).unknownIds).toBe(2);
  });

  it.each(['processing', 'away'])('lets the sender come again while the GET says %s', async (status) => {
    const { url, ledger } = await receiver();
    expect(await send(url, 'inv_1_issued', 'invoice.issued')).toBe(204);

    expect(await send(url, `inv_2_${status}`, 'invoice.issued')).toBe(503);
    expect((await ledger.deliveryTrouble(0)).unknownIds).toBe(1);
  });

  it('refuses a delivery of several "issued" when the answer about one says otherwise before the others come', async () => {
    const { url, ledger } = await receiver('/invoices');
    const deliverEach = (...ids: readonly string[]): Promise<number> =>
      sendBody(url, { invoices: ids.map((id) => ({ id })) }, 'invoice.issued');
    expect(await deliverEach('inv_1_issued', 'inv_2_late_issued')).toBe(204);
    expect((await ledger.deliveryTrouble(0)).unknownIds).toBe(2);

    expect(await deliverEach('inv_3_failed', 'inv_4_late_issued')).toBe(503);
    expect((await ledger.deliveryTrouble(0)).unknownIds).toBe(2);
  });

  it('believes it where no GET shows a status, as it believes "failed"', async () => {
    const { url } = await receiver();
    expect(await send(url, 'inv_1_issued', 'invoice.issued')).toBe(204);

    expect(await send(url, 'inv_2_none', 'invoice.issued')).toBe(204);
  });
});
