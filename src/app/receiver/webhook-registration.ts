import { randomUUID } from 'node:crypto';
import { sharedAnswer } from '../../platform/concurrency.ts';
import type { ReportNote } from '../../report/report-model.ts';
import { withoutAddressSecret } from './webhook-address.ts';
import type { EndpointAnswer } from '../../domain/records/service-answers.ts';
import type { InvoicingService } from '../../service/client.ts';
import type { WebhookEndpointRecord, WebhookPlace } from '../../ledger/webhooks/endpoints.ts';
import type { Ledger } from '../../ledger/ledger.ts';

/** What a registration is made with. */
export interface RegistrationDeps {
  readonly ledger: Pick<
    Ledger,
    'claimEndpoint' | 'keepEndpointClaim' | 'endEndpointClaim' | 'saveEndpoint' | 'webhookSecrets'
  >;
  readonly service: Pick<InvoicingService, 'baseUrl' | 'registerWebhook'>;
  readonly application: string;
  /** WEBHOOK_SECRET or its file is set. */
  readonly ownSecret: boolean;
  /** null: no address to register; GET alone settles. */
  readonly url: string | null;
  /** False: a person registers the address by hand. Left out: Lote does. */
  readonly register?: boolean;
  /** The address with its secret, as the service is told it; null: it must hold one, and none is known. Left out: as it is. */
  readonly addressOf?: (url: string) => string | null;
  readonly log: { warn(message: string, fields?: Record<string, unknown>): void };
  readonly pause: (ms: number) => Promise<void>;
}

/** A claim that is not kept for so long is one of a process that has died. */
const CLAIM_TTL_MS = 10_000;
const KEEP_EVERY_MS = 2_000;
/** Longer than the claim of a dead process lasts; the batch goes on without an answer, for GET settles too. */
const LONGEST_WAIT_MS = 12_000;
const POLL_INTERVAL_MS = 250;

/**
 * The registration has no Idempotency-Key, so that the ledger decides who asks: a claim before the POST, its end with the secret. After a
 * crash between the two Lote cannot know whether the service has registered it; it is asked again, and the report says so.
 */
export class WebhookRegistration {
  readonly #deps: RegistrationDeps;
  /** Tells this process from every other one. */
  readonly #claim = { claimant: randomUUID(), ttlMs: CLAIM_TTL_MS };
  /** What the service is told; it may hold a secret. */
  readonly #address: string | null;
  #note: ReportNote | null;
  #unanswered = 0;
  /** Received, and the ledger was away: a secret is never given up. */
  #unsaved: WebhookEndpointRecord | null = null;
  #done: boolean;
  /** Registers once per base address, application and URL, over all processes; tried again by the next caller after a failure. */
  readonly ensure = sharedAnswer(() => this.#register());

  constructor(deps: RegistrationDeps) {
    this.#deps = deps;
    const { url, register = true, ownSecret } = deps;
    const { addressOf = (plain: string) => plain } = deps;
    this.#address = register && url !== null ? addressOf(url) : null;
    this.#done = this.#address === null;
    if (!register) this.#note = ownSecret ? null : { kind: 'webhook-not-by-lote' };
    else if (url === null) this.#note = { kind: 'no-webhook-url' };
    else this.#note = this.#address === null ? { kind: 'no-address-secret' } : null;
  }

  /** Why no webhook will come, or some will be refused, for the report; none when all is well. */
  notes(): readonly ReportNote[] {
    return [
      ...(this.#note === null ? [] : [this.#note]),
      ...(this.#unanswered === 0 ? [] : [{ kind: 'registered-before', n: this.#unanswered } as const]),
    ];
  }

  async #register(): Promise<void> {
    const { ledger, service, application, ownSecret, url } = this.#deps;
    if (this.#done || url === null) return;
    if (!(await this.#isRegistered({ baseUrl: service.baseUrl, application, url }))) return;
    const secrets = await ledger.webhookSecrets(service.baseUrl, application);
    this.#note = ownSecret || secrets.length > 0 ? null : { kind: 'no-webhook-secret' };
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
        this.#note = { kind: 'webhook-registered-elsewhere' };
        return false;
      }
      // oxlint-disable-next-line no-await-in-loop
      await pause(POLL_INTERVAL_MS);
    }
  }

  /** Under the claim, which is kept for as long as this process lives. */
  async #post(place: WebhookPlace): Promise<boolean> {
    const { ledger, service } = this.#deps;
    const { claimant } = this.#claim;
    const timer = setInterval(() => {
      ledger.keepEndpointClaim(place, this.#claim).catch(() => undefined);
    }, KEEP_EVERY_MS);
    timer.unref();
    try {
      const answer = await service.registerWebhook(this.#address ?? place.url);
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
    const { url } = this.#deps;
    const code = withoutAddressSecret(reason.code, this.#address ?? '', url ?? '');
    this.#deps.log.warn('webhook not registered', { reason: code });
    this.#note = { kind: kind === 'lost' ? 'registration-lost' : 'registration-refused', code };
  }
}
