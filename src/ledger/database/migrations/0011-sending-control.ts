/** An operator's word about sending, for every process that sends for the batch. */
export const SENDING_CONTROL: readonly string[] = [
  // Null: sending is allowed. It belongs to the run that holds the claim, and ends with it.
  `ALTER TABLE batch
     ADD COLUMN sending_stop text,
     ADD COLUMN control_version integer NOT NULL DEFAULT 0`,
];
