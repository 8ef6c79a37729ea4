import { setTimeout as sleep } from 'node:timers/promises';
import { sharedAnswer } from '../../platform/concurrency.ts';
import type { ReportNote } from '../../report/report-model.ts';
import type { InvoicingService } from '../../service/client.ts';
import type { WebhookEndpointRecord } from '../../ledger/webhooks/endpoints.ts';
import type { Ledger } from '../../ledger/ledger.ts';

/** Dependencies of a registration. */
export interface RegistrationDeps {
  readonly ledger: Pick<Ledger, 'claimEndpoint' | 'releaseEndpoint' | 'saveEndpoint' | 'webhookSecrets'>;
  readonly service: Pick<InvoicingService, 'baseUrl' | 'registerWebhook'>;
  readonly application: string;
  /** True if WEBHOOK_SECRET or its file is set. */
  readonly ownSecret: boolean;
  /** Null if there is no address to register; then only GETs settle invoices. */
  readonly url: string | null;
  /** False if a person registers the address by hand. */
  readonly register: boolean;
  readonly log: { warn(message: string, fields?: Record<string, unknown>): void };
}

const NOT_BY_LOTE =
  'by the service profile (webhook.register) Lote registers no webhook, and WEBHOOK_SECRET is not set';
const NO_SECRET =
  'the service gave no secret when the webhook was registered, and WEBHOOK_SECRET is not set: every delivery was refused';

/** Pause in milliseconds between two looks at the claim of another process. */
const ASK_EVERY_MS = 250;

/** The registration of this process. */
export type WebhookRegistration = ReturnType<typeof createWebhookRegistration>;

/**
 * A registration has no Idempotency-Key, so the ledger decides which process POSTs. After a crash between the POST and
 * the ledger, Lote registers the address again.
 */
export function createWebhookRegistration({ ledger, service, log, ...settings }: RegistrationDeps) {
  const { application, ownSecret, url, register } = settings;
  /** Why no webhook brings final answers, for the report. */
  let without = url === null ? 'no WEBHOOK_URL is set' : null;
  if (!register) without = ownSecret ? null : NOT_BY_LOTE;
  /** A registration that the ledger could not save; Lote never drops its secret. */
  let unsaved: WebhookEndpointRecord | null = null;
  let isDone = !register || url === null;

  async function isRegistered(address: string): Promise<boolean> {
    const place = { baseUrl: service.baseUrl, application, url: address };
    if (unsaved === null) {
      let claim = await ledger.claimEndpoint(place);
      // A batch that goes on without the secret refuses its deliveries. A claim of a crashed process expires.
      for (; claim === 'taken'; claim = await ledger.claimEndpoint(place)) await sleep(ASK_EVERY_MS);
      if (claim === 'registered') return true;
      const answer = await service.registerWebhook(address);
      if (answer.kind !== 'registered') {
        const { code } = answer.reason;
        log.warn('webhook not registered', { reason: code });
        without =
          answer.kind === 'lost'
            ? `the answer to the registration of the webhook was lost (${code}); the next batch registers it again`
            : `the service did not register the webhook (${code})`;
        await ledger.releaseEndpoint(place);
        return false;
      }
      unsaved = { ...place, secret: answer.secret };
    }
    await ledger.saveEndpoint(unsaved, Date.now());
    unsaved = null;
    return true;
  }

  return {
    /** Registers once per base address, application and URL across all processes; after a failure the next call tries again. */
    ensure: sharedAnswer(async () => {
      if (isDone || url === null || !(await isRegistered(url))) return;
      const secrets = await ledger.webhookSecrets(service.baseUrl, application);
      without = ownSecret || secrets.length > 0 ? null : NO_SECRET;
      isDone = true;
    }),
    /** Says why webhooks are missing or refused; empty if there is no trouble. */
    notes: (): readonly ReportNote[] => (without === null ? [] : [{ kind: 'no-webhook', cause: without }]),
  };
}
