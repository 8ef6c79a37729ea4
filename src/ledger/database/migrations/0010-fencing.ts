/**
 * The fencing token of a batch rises with each start of the work on it. `raised_from`: the token of the round before, null when a run's claim
 * raised it; `raised_attempt`: the attempt of the step that raised it. Both tell a later attempt of that step from one that was stopped.
 */
export const FENCING_TOKEN: readonly string[] = [
  `ALTER TABLE batch
     ADD COLUMN fencing_token integer NOT NULL DEFAULT 0,
     ADD COLUMN raised_from integer,
     ADD COLUMN raised_attempt integer NOT NULL DEFAULT 0`,
];
