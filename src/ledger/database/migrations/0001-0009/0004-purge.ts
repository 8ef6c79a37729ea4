/** When the words of a batch were removed; its keys, fingerprints and states stay for ever. */
export const PURGE_COLUMNS: readonly string[] = [`ALTER TABLE batch ADD COLUMN purged_at bigint`];
