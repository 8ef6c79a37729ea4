/** What the service's answers taught one process holds for all; a webhook is registered by one of them. */
export const SHARED_SERVICE: readonly string[] = [
  // After answers of 429: requests a second at that moment, and what the service had taken. Null: as many as the profile allows.
  `ALTER TABLE request_pace
     DROP COLUMN factor,
     DROP COLUMN factor_at,
     ADD COLUMN slowed_to double precision,
     ADD COLUMN slowed_from double precision NOT NULL DEFAULT 0,
     ADD COLUMN held_until double precision NOT NULL DEFAULT 0`,
  // One row for each secret that came: none is ever replaced, for its endpoint may live at the service.
  'ALTER TABLE webhook_endpoint DROP CONSTRAINT webhook_endpoint_pkey',
  'ALTER TABLE webhook_endpoint ADD PRIMARY KEY (seq)',
  'CREATE INDEX webhook_endpoint_url ON webhook_endpoint (base_url, application, url)',
  // Times are the database's own clock, in milliseconds. `unanswered`: registrations that were begun and not known to have ended.
  `CREATE TABLE webhook_claim (
     base_url text NOT NULL,
     application text NOT NULL,
     url text NOT NULL,
     claimant text,
     expires_at double precision NOT NULL,
     unanswered integer NOT NULL,
     PRIMARY KEY (base_url, application, url)
   )`,
];
