export interface EndpointRow {
  readonly base_url: string;
  readonly application: string;
  readonly url: string;
  readonly secret: string | null;
}

/** baseUrl, application, url. */
export const FIND_ENDPOINT = `/* find-endpoint */
SELECT base_url, application, url, secret FROM webhook_endpoint WHERE base_url = $1 AND application = $2 AND url = $3`;

/** baseUrl, application, url, secret, now. */
export const SAVE_ENDPOINT = `/* save-endpoint */
INSERT INTO webhook_endpoint (base_url, application, url, secret, registered_at) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (base_url, application, url) DO UPDATE SET secret = excluded.secret, registered_at = excluded.registered_at`;

/** baseUrl, application; newest first. */
export const WEBHOOK_SECRETS = `/* webhook-secrets */
SELECT secret FROM webhook_endpoint
WHERE base_url = $1 AND application = $2 AND secret IS NOT NULL
ORDER BY registered_at DESC, seq DESC`;
