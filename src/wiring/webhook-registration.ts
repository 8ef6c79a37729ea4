import type { InvoicingService } from '../domain/ports/invoicing-service.ts';
import type { Ledger } from '../domain/ports/ledger.ts';

export interface RegistrationDeps {
  readonly ledger: Pick<Ledger, 'findEndpoint' | 'saveEndpoint' | 'webhookSecrets'>;
  readonly service: Pick<InvoicingService, 'baseUrl' | 'registerWebhook'>;
  readonly application: string;
  /** WEBHOOK_SECRET or its file is set. */
  readonly ownSecret: boolean;
  /** null: no address to register; GET alone settles. */
  readonly url: string | null;
  readonly log: { warn(message: string, fields?: Record<string, unknown>): void };
  readonly now: () => number;
}

export interface WebhookRegistration {
  /** Registers once per base address, application and URL; tried again by the next caller after a failure. */
  ensure(): Promise<void>;
  /** Why no webhook will come, as a sentence for the report; null when they will. */
  note(): string | null;
}

const NO_SECRET =
  'Alert: the service gave no secret when the webhook was registered, and WEBHOOK_SECRET is not set: every delivery was refused, and final answers came by asking (GET) alone.';

/** The registration has no Idempotency-Key: the ledger remembers that it was done. */
export function createWebhookRegistration(deps: RegistrationDeps): WebhookRegistration {
  let note: string | null =
    deps.url === null
      ? 'No WEBHOOK_URL is set: no webhook was registered, and final answers came by asking (GET) alone.'
      : null;
  let running: Promise<void> | null = null;
  let done = deps.url === null;

  async function register(url: string): Promise<void> {
    const { ledger, service, application } = deps;
    const known = await ledger.findEndpoint(service.baseUrl, application, url);
    if (known === null) {
      const answer = await service.registerWebhook(url);
      if (answer.kind === 'refused') {
        note = `The service did not register the webhook (${answer.reason.code}): final answers came by asking (GET) alone.`;
        deps.log.warn('webhook not registered', { reason: answer.reason.code });
        return;
      }
      await ledger.saveEndpoint({ baseUrl: service.baseUrl, application, url, secret: answer.secret }, deps.now());
    }
    const secrets = await ledger.webhookSecrets(service.baseUrl, application);
    note = deps.ownSecret || secrets.length > 0 ? null : NO_SECRET;
    done = true;
  }

  return {
    async ensure() {
      if (done || deps.url === null) return;
      running ??= register(deps.url).finally(() => {
        running = null;
      });
      await running;
    },
    note: () => note,
  };
}
