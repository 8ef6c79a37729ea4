import type { EndpointLedger, WebhookPlace } from '../../domain/ports/ledger/endpoint-ledger.ts';
import { CLOCK } from '../database/clock.ts';
import type { Database } from '../database/database.ts';

interface EndpointRow {
  readonly base_url: string;
  readonly application: string;
  readonly url: string;
  readonly secret: string | null;
}

/** baseUrl, application, url. */
const FIND_ENDPOINT = `/* find-endpoint */
SELECT base_url, application, url, secret FROM webhook_endpoint WHERE base_url = $1 AND application = $2 AND url = $3
ORDER BY registered_at DESC, seq DESC LIMIT 1`;

/** baseUrl, application, url, secret, now. The same secret again is the same endpoint. */
const RENEW_ENDPOINT = `/* renew-endpoint */
UPDATE webhook_endpoint SET registered_at = $5
WHERE base_url = $1 AND application = $2 AND url = $3 AND secret IS NOT DISTINCT FROM $4::text
RETURNING seq`;

/** baseUrl, application, url, secret, now. */
const INSERT_ENDPOINT = `/* insert-endpoint */
INSERT INTO webhook_endpoint (base_url, application, url, secret, registered_at) VALUES ($1, $2, $3, $4, $5)`;

/**
 * baseUrl, application, address in use or null, time; newest first. Without those of other addresses that the one in use
 * has followed before that time with a secret of its own.
 */
const WEBHOOK_SECRETS = `/* webhook-secrets */
SELECT w.secret FROM webhook_endpoint w
WHERE w.base_url = $1 AND w.application = $2 AND w.secret IS NOT NULL
  AND (w.url = $3::text OR NOT EXISTS (
    SELECT FROM webhook_endpoint used
    WHERE used.base_url = $1 AND used.application = $2 AND used.url = $3::text AND used.secret IS NOT NULL
      AND used.registered_at > w.registered_at AND used.registered_at < $4::bigint))
ORDER BY w.registered_at DESC, w.seq DESC`;

/** baseUrl, application, url, claimant, time to live. A claim that ran out is one that a crash ended, before its POST or after. */
const CLAIM_ENDPOINT = `/* claim-endpoint */
INSERT INTO webhook_claim AS c (base_url, application, url, claimant, expires_at, unanswered)
VALUES ($1, $2, $3, $4, ${CLOCK} + $5::integer, 1)
ON CONFLICT (base_url, application, url) DO UPDATE SET claimant = excluded.claimant, expires_at = excluded.expires_at,
  unanswered = c.unanswered + 1
WHERE c.claimant IS NULL OR c.expires_at < ${CLOCK}
RETURNING unanswered - 1 AS before`;

/** baseUrl, application, url, claimant, time to live. */
const KEEP_CLAIM = `/* keep-endpoint-claim */
UPDATE webhook_claim SET expires_at = ${CLOCK} + $5::integer
WHERE base_url = $1 AND application = $2 AND url = $3 AND claimant = $4`;

/** baseUrl, application, url, claimant, answered. A claimant that was given up for dead has its answer counted all the same. */
const END_CLAIM = `/* end-endpoint-claim */
UPDATE webhook_claim SET unanswered = unanswered - $5::integer,
  claimant = CASE WHEN claimant = $4 THEN NULL ELSE claimant END
WHERE base_url = $1 AND application = $2 AND url = $3`;

/** Where the service sends its deliveries: the registered webhook endpoints and their secrets. */
export function createEndpoints(database: Database): EndpointLedger {
  return {
    async findEndpoint(baseUrl, application, url) {
      const [row] = await database.query<EndpointRow>(FIND_ENDPOINT, [baseUrl, application, url]);
      return row === undefined
        ? null
        : { baseUrl: row.base_url, application: row.application, url: row.url, secret: row.secret };
    },

    async claimEndpoint(place, { claimant, ttlMs }) {
      return database.transaction(async (queries) => {
        const [claim] = await queries.query<{ before: number }>(CLAIM_ENDPOINT, [...idOf(place), claimant, ttlMs]);
        // Looked for after the claim: who had it before may have registered until then.
        const [known] = await queries.query<EndpointRow>(FIND_ENDPOINT, idOf(place));
        if (known !== undefined) {
          if (claim !== undefined) await queries.query(END_CLAIM, [...idOf(place), claimant, 1]);
          return { kind: 'registered' };
        }
        return claim === undefined ? { kind: 'taken' } : { kind: 'claimed', unanswered: claim.before };
      });
    },

    async keepEndpointClaim(place, { claimant, ttlMs }) {
      await database.query(KEEP_CLAIM, [...idOf(place), claimant, ttlMs]);
    },

    async endEndpointClaim(place, { claimant, answered }) {
      await database.query(END_CLAIM, [...idOf(place), claimant, answered ? 1 : 0]);
    },

    async saveEndpoint(endpoint, now) {
      const values = [...idOf(endpoint), endpoint.secret, now];
      await database.transaction(async (queries) => {
        const renewed = await queries.query(RENEW_ENDPOINT, values);
        if (renewed.length === 0) await queries.query(INSERT_ENDPOINT, values);
      });
    },

    async webhookSecrets(baseUrl, application, retired) {
      const rows = await database.query<{ secret: string }>(WEBHOOK_SECRETS, [
        ...[baseUrl, application],
        ...[retired?.url ?? null, retired?.before ?? null],
      ]);
      return [...new Set(rows.map((row) => row.secret))];
    },
  };
}

function idOf({ baseUrl, application, url }: WebhookPlace): readonly [string, string, string] {
  return [baseUrl, application, url];
}
