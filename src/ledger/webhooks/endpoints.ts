import type { Database } from '../../database/database.ts';
import { changeFact, changeFactIn, findFact } from '../facts.ts';

/** The webhook address to which the service sends an application's events. */
export interface WebhookPlace {
  readonly baseUrl: string;
  readonly application: string;
  readonly url: string;
}

/** A registered webhook endpoint. `secret` signs its deliveries; null if the service sent none. */
export interface WebhookEndpointRecord extends WebhookPlace {
  readonly secret: string | null;
}

export type EndpointClaim =
  | { readonly kind: 'registered' }
  /** Only this claimant may register. `unanswered`: the number of earlier claimants that may have asked the service without a recorded answer. */
  | { readonly kind: 'claimed'; readonly unanswered: number }
  /** Another process is registering now. */
  | { readonly kind: 'taken' };

/** Endpoints of an application at a base address, in the order of registration. Lote removes none of them, because the service may still have it. */
type Endpoints = readonly {
  readonly url: string;
  readonly secret: string | null;
  readonly registeredAt: number;
}[];

/** The process that registers an address now. */
interface Claim {
  readonly claimant: string | null;
  readonly expiresAt: number;
  /** Number of registrations that began and whose end is not known. */
  readonly unanswered: number;
}

/** Stores the registered webhook endpoints, to which the service sends its deliveries, and their secrets. */
export function createEndpoints(database: Database) {
  const changeClaim = (place: WebhookPlace, next: (claim: Claim, now: number) => Claim): Promise<void> =>
    changeFact<Claim, void>(database, claimKey(place), (claim, now) => [claim && next(claim, now), undefined]);

  return {
    /** Lets one claimant at a time over all processes ask the service, because a registration has no Idempotency-Key. */
    claimEndpoint: (place: WebhookPlace, { claimant, ttlMs }: ClaimEndpoint): Promise<EndpointClaim> =>
      database.transaction(async (queries) => {
        const isRegistered = await changeFactIn<Endpoints, boolean>(queries, endpointsKey(place), (known) => [
          known,
          known?.some(({ url }) => url === place.url) === true,
        ]);
        if (isRegistered) return { kind: 'registered' };
        return changeFactIn<Claim, EndpointClaim>(queries, claimKey(place), (claim, now) => {
          const { claimant: holder, expiresAt, unanswered } = claim ?? { claimant: null, expiresAt: 0, unanswered: 0 };
          // An expired claim belongs to a crashed process, which may or may not have sent its POST.
          if (holder !== null && expiresAt >= now) return [claim, { kind: 'taken' }];
          return [
            { claimant, expiresAt: now + ttlMs, unanswered: unanswered + 1 },
            { kind: 'claimed', unanswered },
          ];
        });
      }),

    keepEndpointClaim: (place: WebhookPlace, { claimant, ttlMs }: ClaimEndpoint): Promise<void> =>
      changeClaim(place, (claim, now) => (claim.claimant === claimant ? { ...claim, expiresAt: now + ttlMs } : claim)),

    /** Ends a claim, even of a claimant that counts as dead. `answered` false: the answer is lost, and the service may have registered the endpoint. */
    endEndpointClaim: (
      place: WebhookPlace,
      { claimant, answered }: { readonly claimant: string; readonly answered: boolean },
    ): Promise<void> =>
      changeClaim(place, ({ unanswered, ...claim }) => ({
        ...claim,
        claimant: claim.claimant === claimant ? null : claim.claimant,
        unanswered: unanswered - (answered ? 1 : 0),
      })),

    /** Adds the secret to the earlier ones. The same secret again means that the endpoint is the same. */
    saveEndpoint: ({ url, secret, ...of }: WebhookEndpointRecord, now: number): Promise<void> =>
      changeFact<Endpoints, void>(database, endpointsKey(of), (known) => {
        const others = (known ?? []).filter((one) => one.url !== url || one.secret !== secret);
        return [[...others, { url, secret, registeredAt: now }], undefined];
      }),

    /**
     * Returns all secrets of the application's registrations at this base address, newest first. `retired` leaves out registrations of other addresses than
     * `url` that are older than the newest one of `url` with a secret from before `before`.
     */
    async webhookSecrets(
      baseUrl: string,
      application: string,
      retired?: { readonly url: string; readonly before: number },
    ): Promise<readonly string[]> {
      const { value } = await findFact<Endpoints>(database, endpointsKey({ baseUrl, application }));
      const endpoints = (value ?? []).toReversed().sort((a, b) => b.registeredAt - a.registeredAt);
      const followed = endpoints.find(
        ({ url, secret, registeredAt }) =>
          url === retired?.url && secret !== null && registeredAt < (retired?.before ?? 0),
      );
      const since = followed?.registeredAt ?? -Infinity;
      const secrets = endpoints.filter(({ url, registeredAt }) => url === retired?.url || registeredAt >= since);
      return [...new Set(secrets.flatMap(({ secret }) => secret ?? []))];
    },
  };
}

interface ClaimEndpoint {
  readonly claimant: string;
  readonly ttlMs: number;
}

function endpointsKey({ baseUrl, application }: Omit<WebhookPlace, 'url'>): string {
  return `webhooks ${application} ${baseUrl}`;
}

function claimKey({ url, ...of }: WebhookPlace): string {
  return `claim of ${endpointsKey(of)} ${url}`;
}
