/** What a running Lote finds where the service profile does not fit: at most a few rows for each digest of a profile. */
export const PROFILE_MISFITS: readonly string[] = [
  `CREATE TABLE profile_misfit (
     profile_digest text NOT NULL,
     code text NOT NULL,
     message text NOT NULL,
     times bigint NOT NULL,
     first_at bigint NOT NULL,
     last_at bigint NOT NULL,
     PRIMARY KEY (profile_digest, code)
   )`,
];
