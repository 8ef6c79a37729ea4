import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { readConfig } from '../../../../src/app/config/config.ts';
import { openService } from '../../../../src/app/account/open-service.ts';
import { createLogger } from '../../../../src/app/process/logger.ts';
import { startReceiver } from '../../../../src/app/receiver/start-receiver.ts';
import { createWebhookRegistration } from '../../../../src/app/receiver/webhook-registration.ts';
import { openCalibration } from '../../../../src/app/start/open-application.ts';
import { NO_TELEMETRY } from '../../../../src/health/telemetry.ts';
import type { Ledger } from '../../../../src/ledger/ledger.ts';
import { DEFAULT_PROFILE } from '../../../../src/service/profile/profile.ts';
import { independentSandbox, SANDBOX_KEY } from '../../../support/servers/service-front.ts';
import { temporaryLedger } from '../../../support/servers/temporary-database.ts';
import { scriptedServer } from '../../../unit/service/scripted-server.ts';
import { deliver, signatureOf } from '../../../unit/webhooks/receiver-fixture.ts';

/** A ledger that is closed after the test. */
async function ownLedger(): Promise<Ledger> {
  const ledger = await temporaryLedger();
  onTestFinished(() => ledger.close());
  return ledger;
}

/** A process that takes deliveries for the service at this address, and registers its webhook first if it has an address for it. */
async function started(ledger: Ledger, settings: Readonly<Record<string, string>>, profile = DEFAULT_PROFILE) {
  const config = readConfig({ INVOICING_API_KEY: SANDBOX_KEY, ...settings }, '/nowhere');
  if (config.service.kind !== 'remote') throw new Error('The service has an address');
  const service = openService(config, config.service, profile);
  const log = createLogger({ level: 'silent', secrets: [] });
  const registration = createWebhookRegistration({
    ...{ ledger, service, application: config.application, ownSecret: config.webhook.secrets.length > 0 },
    ...{ url: config.webhook.url, register: true, log },
  });
  await registration.ensure();
  const parts = { config, ledger, service, profile, log, telemetry: NO_TELEMETRY };
  const client = () => {
    throw new Error('Nothing is settled, so that nobody is told');
  };
  const receiver = await startReceiver({ ...parts, port: 0, calibration: openCalibration(parts, true), client });
  onTestFinished(async () => {
    await receiver.close();
    await service.close();
  });
  return { url: receiver.url, secrets: await ledger.webhookSecrets(service.baseUrl, config.application) };
}

/** What the runbook says: a leaked secret is replaced by another address of the same receiver. */
describe('a webhook address with another query', () => {
  const ADDRESS = 'http://127.0.0.1:9/webhooks';

  async function answerTo(url: string, secret: string): Promise<number> {
    const body = JSON.stringify({ type: 'invoice.voided', data: { id: 'inv_1' }, secret });
    return (await deliver(url, body, { 'x-service-signature': signatureOf(body, secret) })).status;
  }

  it('is registered again, and the secret of the one before is refused a day later', async () => {
    const ledger = await ownLedger();
    const sandbox = await independentSandbox();
    onTestFinished(() => sandbox.close());
    const at = (url: string) => started(ledger, { INVOICING_BASE_URL: sandbox.url, WEBHOOK_URL: url });
    const before = await at(ADDRESS);
    const [leaked = ''] = before.secrets;
    expect(await answerTo(before.url, leaked)).toBe(204);

    const after = await at(`${ADDRESS}?v=2`);
    const [fresh = ''] = after.secrets;

    expect(fresh).not.toBe(leaked);
    expect(await answerTo(`${after.url}?v=2`, leaked)).toBe(204);
    onTestFinished(() => void vi.useRealTimers());
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 25 * 60 * 60_000 });
    const later = await at(`${ADDRESS}?v=2`);
    expect(await answerTo(`${later.url}?v=2`, leaked)).toBe(401);
    expect(await answerTo(`${later.url}?v=2`, fresh)).toBe(204);
    expect(await answerTo(`${after.url}?v=2`, fresh)).toBe(204);
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
    const ledger = await ownLedger();
    const server = await scriptedServer(({ url }, response) => {
      const { id, status = '' } = SAYS.exec(url)?.groups ?? {};
      if (status === 'away') return void response.writeHead(503).end();
      response.setHeader('content-type', 'application/json');
      const answer = () => response.end(JSON.stringify({ id, ...(status !== 'none' && { status }) }));
      if (url.includes('_late_')) setTimeout(answer, LATE_MS);
      else answer();
    });
    const { event } = DEFAULT_PROFILE;
    const profile = { ...DEFAULT_PROFILE, event: { ...event, type: 'header:X-Topic', invoiceId: '/id', items } };
    const { url } = await started(ledger, { INVOICING_BASE_URL: server.baseUrl, WEBHOOK_SECRET: SECRET }, profile);
    return { url, ledger, asked: () => server.received.length };
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
