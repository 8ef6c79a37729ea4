import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { readConfig } from '../../../../src/app/config/config.ts';
import { NO_TELEMETRY } from '../../../../src/health/telemetry.ts';
import { createLogger } from '../../../../src/app/process/logger.ts';
import { DEFAULT_PROFILE } from '../../../../src/service/profile/default-profile.ts';
import { openService } from '../../../../src/app/account/open-service.ts';
import { startReceiver } from '../../../../src/app/receiver/start-receiver.ts';
import { WebhookRegistration } from '../../../../src/app/receiver/webhook-registration.ts';
import {
  independentSandbox,
  SANDBOX_KEY,
  startServiceFront,
  type ServiceFront,
} from '../../../support/servers/service-front.ts';
import { temporaryLedger } from '../../../support/servers/temporary-database.ts';
import { deliver, signatureOf } from '../../../unit/webhooks/receiver-fixture.ts';
import type { Ledger } from '../../../../src/ledger/ledger.ts';
import { openCalibration } from '../../../../src/app/start/open-application.ts';

const ADDRESS = 'http://127.0.0.1:9/webhooks';

interface Installation {
  readonly ledger: Ledger;
  readonly front: ServiceFront;
}

/** What the runbook says: a leaked secret is replaced by another address of the same receiver. */
describe('a webhook address with another query', () => {
  async function installation(): Promise<Installation> {
    const ledger = await temporaryLedger();
    const sandbox = await independentSandbox();
    const front = await startServiceFront(sandbox.url);
    onTestFinished(async () => {
      await front.close();
      await sandbox.close();
      await ledger.close();
    });
    return { ledger, front };
  }

  /** A process that registers, as a worker does, and takes deliveries. */
  async function started(
    { ledger, front }: Installation,
    settings: Readonly<Record<string, string>>,
    profile = DEFAULT_PROFILE,
  ) {
    const config = readConfig(
      { INVOICING_BASE_URL: front.url, INVOICING_API_KEY: SANDBOX_KEY, ...settings },
      '/nowhere',
    );
    if (config.service.kind !== 'remote') throw new Error('The service has an address');
    const service = openService(config, config.service, profile);
    const log = createLogger({ level: 'silent', secrets: [] });
    const [own = null] = config.webhook.secrets;
    const registration = new WebhookRegistration({
      ...{ ledger, service, application: config.application, ownSecret: own !== null },
      ...{ url: config.webhook.url, log, pause: () => Promise.resolve() },
    });
    await registration.ensure();
    const parts = { config, ledger, service, profile, log, telemetry: NO_TELEMETRY };
    const calibration = openCalibration(parts, true);
    const client = () => {
      throw new Error('Nothing is settled, so that nobody is told');
    };
    const receiver = await startReceiver({ ...parts, port: 0, calibration, client });
    onTestFinished(async () => {
      await receiver.close();
      await service.close();
    });
    return { url: receiver.url, secrets: await ledger.webhookSecrets(service.baseUrl, config.application) };
  }

  async function answerTo(url: string, secret: string): Promise<number> {
    const body = JSON.stringify({ type: 'invoice.voided', data: { id: 'inv_1' }, secret });
    return (await deliver(url, body, { 'x-service-signature': signatureOf(body, secret) })).status;
  }

  it('is registered again, and the secret of the one before is refused a day later', async () => {
    const place = await installation();
    const before = await started(place, { WEBHOOK_URL: ADDRESS });
    const [leaked = ''] = before.secrets;
    expect(await answerTo(before.url, leaked)).toBe(204);

    const after = await started(place, { WEBHOOK_URL: `${ADDRESS}?v=2` });
    const [fresh = ''] = after.secrets;

    expect(fresh).not.toBe(leaked);
    expect(await answerTo(`${after.url}?v=2`, leaked)).toBe(204);
    onTestFinished(() => void vi.useRealTimers());
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 25 * 60 * 60_000 });
    const later = await started(place, { WEBHOOK_URL: `${ADDRESS}?v=2` });
    expect(await answerTo(`${later.url}?v=2`, leaked)).toBe(401);
    expect(await answerTo(`${later.url}?v=2`, fresh)).toBe(204);
    expect(await answerTo(`${after.url}?v=2`, fresh)).toBe(204);
  });
});
