/** Where an application has its events sent. */
export interface WebhookPlace {
  readonly baseUrl: string;
  readonly application: string;
  readonly url: string;
}

/** A registered webhook endpoint. `secret` signs its deliveries; null: the service sent none. */
export interface WebhookEndpointRecord extends WebhookPlace {
  readonly secret: string | null;
}

export type EndpointClaim =
  | { readonly kind: 'registered' }
  /**
   * This claimant alone may register. `unanswered`: so many before it have, or may have, asked the service and not said
   * what it answered.
   */
  | { readonly kind: 'claimed'; readonly unanswered: number }
  /** Another process registers at this moment. */
  | { readonly kind: 'taken' };

/** The webhook endpoints that were registered at the service. */
export interface EndpointLedger {
  /** The newest registration of the address. */
  findEndpoint(baseUrl: string, application: string, url: string): Promise<WebhookEndpointRecord | null>;
  /** A registration has no Idempotency-Key: one claimant at a time asks the service, over all processes. */
  claimEndpoint(
    place: WebhookPlace,
    claim: { readonly claimant: string; readonly ttlMs: number },
  ): Promise<EndpointClaim>;
  keepEndpointClaim(place: WebhookPlace, claim: { readonly claimant: string; readonly ttlMs: number }): Promise<void>;
  /** `answered` false: the service may have registered the endpoint, and its answer is lost. */
  endEndpointClaim(place: WebhookPlace, end: { readonly claimant: string; readonly answered: boolean }): Promise<void>;
  /** Added to the earlier secrets: none is ever replaced, because its endpoint may still exist at the service. */
  saveEndpoint(endpoint: WebhookEndpointRecord, now: number): Promise<void>;
  /**
   * Every secret of the application's registrations at this base address, newest first. With `retired`, without those of
   * registrations of other addresses than `url` that are older than one of `url` with a secret from before `before`
   * (epoch milliseconds).
   */
  webhookSecrets(
    baseUrl: string,
    application: string,
    retired?: { readonly url: string; readonly before: number },
  ): Promise<readonly string[]>;
}
