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

/** `claimed`: this process may register the address; `taken`: another process registers it now. */
export type EndpointClaim = 'registered' | 'claimed' | 'taken';

/** After this time a claim counts as one of a crashed process. A slower process registers the address, too: both secrets count. */
const CLAIM_MS = 10_000;

/** Endpoints of an application at a base address, in the order of registration. Lote removes none of them, because the service may still have it. */
type Endpoints = readonly {
  readonly url: string;
  readonly secret: string | null;
  readonly registeredAt: number;
}[];

/** Stores the registered webhook endpoints, to which the service sends its deliveries, and their secrets. */
export function createEndpoints(database: Database) {
  return {
    /** Lets one claimant at a time over all processes ask the service, because a registration has no Idempotency-Key. */
    claimEndpoint: (place: WebhookPlace): Promise<EndpointClaim> =>
      database.transaction(async (queries) => {
        const isRegistered = await changeFactIn<Endpoints, boolean>(queries, endpointsKey(place), (known) => [
          known,
          known?.some(({ url }) => url === place.url) === true,
        ]);
        if (isRegistered) return 'registered';
        return changeFactIn<number, EndpointClaim>(queries, claimKey(place), (until, now) =>
          until !== null && until >= now ? [until, 'taken'] : [now + CLAIM_MS, 'claimed'],
        );
      }),

    /** Ends the claim of an address that was not registered. */
    releaseEndpoint: (place: WebhookPlace): Promise<void> =>
      changeFact<number, void>(database, claimKey(place), () => [0, undefined]),

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

function endpointsKey({ baseUrl, application }: Omit<WebhookPlace, 'url'>): string {
  return `webhooks ${application} ${baseUrl}`;
}

function claimKey({ url, ...of }: WebhookPlace): string {
  return `claim of ${endpointsKey(of)} ${url}`;
}
