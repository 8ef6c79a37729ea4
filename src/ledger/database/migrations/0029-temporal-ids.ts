/**
 * In which database of Temporal the run works that holds the claim. Null: a version without this column made the batch, or the server did not say it. A version
 * without it leaves the id as it is where it takes over a claim.
 */
export const TEMPORAL_IDS: readonly string[] = ['ALTER TABLE batch ADD COLUMN temporal_id text'];
