/** Which service an application spoke to, and what all processes of this ledger may ask of it together. */
export const SERVICE_USE_TABLES: readonly string[] = [
  // The key itself is never here: a short hash, salted with the ledger's id, tells a change and nothing else.
  `CREATE TABLE service_account (
     application text PRIMARY KEY,
     base_url text NOT NULL,
     key_fingerprint text NOT NULL,
     confirmed_at bigint NOT NULL
   )`,
  // Times are the database's own clock, in milliseconds: the clocks of workers need not agree.
  `CREATE TABLE request_pace (
     base_url text PRIMARY KEY,
     next_at double precision NOT NULL,
     factor double precision NOT NULL,
     factor_at double precision NOT NULL,
     slowed_at double precision NOT NULL
   ) WITH (fillfactor = 50)`,
  `CREATE TABLE request_slots (
     base_url text NOT NULL,
     holder text NOT NULL,
     slots integer NOT NULL,
     expires_at double precision NOT NULL,
     PRIMARY KEY (base_url, holder)
   ) WITH (fillfactor = 50)`,
];
