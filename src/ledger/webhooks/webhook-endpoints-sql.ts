import { CLOCK } from '../database/clock.ts';

export interface EndpointRow {
  readonly base_url: string;
  readonly application: string;
  readonly url: string;
  readonly secret: string | null;
}

/** baseUrl, application, url. */
export const FIND_ENDPOINT = `/* find-endpoint */
SELECT base_url, application, url, secret FROM webhook_endpoint WHERE base_url = $1 AND application = $2 AND url = $3
ORDER BY registered_at DESC, seq DESC LIMIT 1`;

/** baseUrl, application, url, secret, now. The same secret again is the same endpoint. */
export const RENEW_ENDPOINT = `/* renew-endpoint */
UPDATE webhook_endpoint SET registered_at = $5
WHERE base_url = $1 AND application = $2 AND url = $3 AND secret IS NOT DISTINCT FROM $4::text
RETURNING seq`;

/** baseUrl, application, url, secret, now. */
export const INSERT_ENDPOINT = `/* insert-endpoint */
INSERT INTO webhook_endpoint (base_url, application, url, secret, registered_at) VALUES ($1, $2, $3, $4, $5)`;

/** baseUrl, application; newest first. */
export const WEBHOOK_SECRETS = `/* webhook-secrets */
SELECT secret FROM webhook_endpoint
WHERE base_url = $1 AND application = $2 AND secret IS NOT NULL
ORDER BY registered_at DESC, seq DESC`;

/** baseUrl, application, url, claimant, time to live. A claim that ran out is one that a crash ended, before its POST or after. */
export const CLAIM_ENDPOINT = `/* claim-endpoint */
INSERT INTO webhook_claim AS c (base_url, application, url, claimant, expires_at, unanswered)
VALUES ($1, $2, $3, $4, ${CLOCK} + $5::integer, 1)
ON CONFLICT (base_url, application, url) DO UPDATE SET claimant = excluded.claimant, expires_at = excluded.expires_at,
  unanswered = c.unanswered + 1
WHERE c.claimant IS NULL OR c.expires_at < ${CLOCK}
RETURNING unanswered - 1 AS before`;

/** baseUrl, application, url, claimant, time to live. */
export const KEEP_CLAIM = `/* keep-endpoint-claim */
UPDATE webhook_claim SET expires_at = ${CLOCK} + $5::integer
WHERE base_url = $1 AND application = $2 AND url = $3 AND claimant = $4`;

/** baseUrl, application, url, claimant, answered. A claimant that was given up for dead has its answer counted all the same. */
export const END_CLAIM = `/* end-endpoint-claim */
UPDATE webhook_claim SET unanswered = unanswered - $5::integer,
  claimant = CASE WHEN claimant = $4 THEN NULL ELSE claimant END
WHERE base_url = $1 AND application = $2 AND url = $3`;
