import { randomUUID } from 'node:crypto';
import { sharedAnswer } from '../../platform/concurrency.ts';
import type { ReportNote } from '../../report/report-model.ts';
import type { EndpointAnswer } from '../../domain/records/service-answers.ts';
import type { InvoicingService } from '../../service/client.ts';
import type { WebhookEndpointRecord, WebhookPlace } from '../../ledger/webhooks/endpoints.ts';
import type { Ledger } from '../../ledger/ledger.ts';

/** Dependencies of a registration. */
export interface RegistrationDeps {
  readonly ledger: Pick<
    Ledger,
    'claimEndpoint' | 'keepEndpointClaim' | 'endEndpointClaim' | 'saveEndpoint' | 'webhookSecrets'
  >;
  readonly service: Pick<InvoicingService, 'baseUrl' | 'registerWebhook'>;
  readonly application: string;
  /** True if WEBHOOK_SECRET or its file is set. */
  readonly ownSecret: boolean;
  /** Null if there is no address to register; then only GETs settle invoices. */
  readonly url: string | null;
  /** False if a person registers the address by hand. Default: Lote registers it. */
  readonly register?: boolean;
  readonly log: { warn(message: string, fields?: Record<string, unknown>): void };
  readonly pause: (ms: number) => Promise<void>;
}

/** A claim that is not renewed for so long belongs to a dead process. */
const CLAIM_TTL_MS = 10_000;
const KEEP_EVERY_MS = 2_000;
/** Longer than a dead process's claim lasts. After that the batch goes on, because GETs settle invoices too. */
const LONGEST_WAIT_MS = 12_000;
const POLL_INTERVAL_MS = 250;

const NOT_BY_LOTE =
  'by the service profile (webhook.register) Lote registers no webhook, and WEBHOOK_SECRET is not set';
const NO_SECRET =
  'the service gave no secret when the webhook was registered, and WEBHOOK_SECRET is not set: every delivery was refused';

/**
 * A registration has no Idempotency-Key, so the ledger decides which process POSTs: a process takes a claim before the POST and ends it with the
 * secret. After a crash in between, Lote cannot know whether the service has registered the address; Lote asks again, and the report says so.
 */
export class WebhookRegistration {
  readonly #deps: RegistrationDeps;
  /** Identifies this process. */
  readonly #claim = { claimant: randomUUID(), ttlMs: CLAIM_TTL_MS };
  /** Why no webhook brings final answers, for the report. */
  #without: string | null;
  #unanswered = 0;
  /** A registration that the ledger could not save; Lote never drops its secret. */
  #unsaved: WebhookEndpointRecord | null = null;
  #done: boolean;
  /** Registers once per base address, application and URL across all processes; after a failure the next call tries again. */
  readonly ensure = sharedAnswer(() => this.#register());

  constructor(deps: RegistrationDeps) {
    this.#deps = deps;
    const { url, register = true, ownSecret } = deps;
    this.#done = !register || url === null;
    if (!register) this.#without = ownSecret ? null : NOT_BY_LOTE;
    else this.#without = url === null ? 'no WEBHOOK_URL is set' : null;
  }

  /** Report notes on why webhooks are missing or refused; empty if there is no trouble. */
  notes(): readonly ReportNote[] {
    return [
      ...(this.#without === null ? [] : [{ kind: 'no-webhook', cause: this.#without } as const]),
      ...(this.#unanswered === 0 ? [] : [{ kind: 'registered-before', n: this.#unanswered } as const]),
    ];
  }

  async #register(): Promise<void> {
    const { ledger, service, application, ownSecret, url } = this.#deps;
    if (this.#done || url === null) return;
    if (!(await this.#isRegistered({ baseUrl: service.baseUrl, application, url }))) return;
    const secrets = await ledger.webhookSecrets(service.baseUrl, application);
    this.#without = ownSecret || secrets.length > 0 ? null : NO_SECRET;
    this.#done = true;
  }

  async #isRegistered(place: WebhookPlace): Promise<boolean> {
    const { ledger, pause } = this.#deps;
    if (this.#unsaved !== null) return this.#save(this.#unsaved);
    for (let waited = 0; ; waited += POLL_INTERVAL_MS) {
      // oxlint-disable-next-line no-await-in-loop
      const claim = await ledger.claimEndpoint(place, this.#claim);
      if (claim.kind === 'registered') return true;
      if (claim.kind === 'claimed') {
        this.#unanswered = claim.unanswered;
        return this.#post(place);
      }
      if (waited >= LONGEST_WAIT_MS) {
        this.#without = 'another process was registering the webhook when the batch began';
        return false;
      }
      // oxlint-disable-next-line no-await-in-loop
      await pause(POLL_INTERVAL_MS);
    }
  }

  /** POSTs under the claim, which it renews while this process lives. */
  async #post(place: WebhookPlace): Promise<boolean> {
    const { ledger, service } = this.#deps;
    const { claimant } = this.#claim;
    const timer = setInterval(() => {
      ledger.keepEndpointClaim(place, this.#claim).catch(() => undefined);
    }, KEEP_EVERY_MS);
    timer.unref();
    try {
      const answer = await service.registerWebhook(place.url);
      if (answer.kind === 'registered') {
        this.#unsaved = { ...place, secret: answer.secret };
        return await this.#save(this.#unsaved);
      }
      this.#noteFailure(answer);
      await ledger.endEndpointClaim(place, { claimant, answered: answer.kind === 'refused' });
      return false;
    } finally {
      clearInterval(timer);
    }
  }

  async #save(endpoint: WebhookEndpointRecord): Promise<true> {
    const { ledger } = this.#deps;
    await ledger.saveEndpoint(endpoint, Date.now());
    this.#unsaved = null;
    await ledger.endEndpointClaim(endpoint, { claimant: this.#claim.claimant, answered: true });
    return true;
  }

  #noteFailure({ kind, reason }: Exclude<EndpointAnswer, { readonly kind: 'registered' }>): void {
    const { code } = reason;
    this.#deps.log.warn('webhook not registered', { reason: code });
    this.#without =
      kind === 'lost'
        ? `the answer to the registration of the webhook was lost (${code}); the next batch registers it again`
        : `the service did not register the webhook (${code})`;
  }
}
