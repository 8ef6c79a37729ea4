import type { Database } from '../database/database.ts';
import { changeFact, changeFactIn, findFact } from '../database/facts.ts';

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
  /** This claimant alone may register. `unanswered`: so many before it may have asked the service and not said what it answered. */
  | { readonly kind: 'claimed'; readonly unanswered: number }
  /** Another process registers at this moment. */
  | { readonly kind: 'taken' };

/** Of an application at a base address, in the order of their registration. None is ever replaced: its endpoint may still exist at the service. */
type Endpoints = readonly {
  readonly url: string;
  readonly secret: string | null;
  readonly registeredAt: number;
}[];

/** Which process registers an address at this moment. */
interface Claim {
  readonly claimant: string | null;
  readonly expiresAt: number;
  /** Registrations that began and are not known to have ended. */
  readonly unanswered: number;
}

/** Where the service sends its deliveries: the registered webhook endpoints and their secrets. */
export function createEndpoints(database: Database) {
  const changeClaim = (place: WebhookPlace, next: (claim: Claim, now: number) => Claim): Promise<void> =>
    changeFact<Claim, void>(database, claimKey(place), (claim, now) => [claim && next(claim, now), undefined]);

  return {
    /** A registration has no Idempotency-Key: one claimant at a time asks the service, over all processes. */
    claimEndpoint: (place: WebhookPlace, { claimant, ttlMs }: ClaimEndpoint): Promise<EndpointClaim> =>
      database.transaction(async (queries) => {
        const isRegistered = await changeFactIn<Endpoints, boolean>(queries, endpointsKey(place), (known) => [
          known,
          known?.some(({ url }) => url === place.url) === true,
        ]);
        if (isRegistered) return { kind: 'registered' };
        return changeFactIn<Claim, EndpointClaim>(queries, claimKey(place), (claim, now) => {
          const { claimant: holder, expiresAt, unanswered } = claim ?? { claimant: null, expiresAt: 0, unanswered: 0 };
          // A claim that ran out is one that a crash ended, before its POST or after.
          if (holder !== null && expiresAt >= now) return [claim, { kind: 'taken' }];
          return [
            { claimant, expiresAt: now + ttlMs, unanswered: unanswered + 1 },
            { kind: 'claimed', unanswered },
          ];
        });
      }),

    keepEndpointClaim: (place: WebhookPlace, { claimant, ttlMs }: ClaimEndpoint): Promise<void> =>
      changeClaim(place, (claim, now) => (claim.claimant === claimant ? { ...claim, expiresAt: now + ttlMs } : claim)),

    /** `answered` false: the service may have registered the endpoint, and its answer is lost. A claimant that counts as dead is heard all the same. */
    endEndpointClaim: (
      place: WebhookPlace,
      { claimant, answered }: { readonly claimant: string; readonly answered: boolean },
    ): Promise<void> =>
      changeClaim(place, ({ unanswered, ...claim }) => ({
        ...claim,
        claimant: claim.claimant === claimant ? null : claim.claimant,
        unanswered: unanswered - (answered ? 1 : 0),
      })),

    /** Added to the earlier secrets. The same secret again is the same endpoint. */
    saveEndpoint: ({ url, secret, ...of }: WebhookEndpointRecord, now: number): Promise<void> =>
      changeFact<Endpoints, void>(database, endpointsKey(of), (known) => {
        const others = (known ?? []).filter((one) => one.url !== url || one.secret !== secret);
        return [[...others, { url, secret, registeredAt: now }], undefined];
      }),

    /**
     * Every secret of the application's registrations at this base address, newest first. `retired` leaves out registrations of other addresses than `url` that
     * are older than one of `url` with a secret from before `before`.
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
