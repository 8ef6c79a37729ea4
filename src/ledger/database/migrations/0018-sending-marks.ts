/** How far a ledger has sent, for each account; the same numbers stand in the reports folder, so that an older copy of the ledger is recognised. */
export const SENDING_MARKS: readonly string[] = [
  `CREATE TABLE sending_mark (
     scope text NOT NULL,
     ledger_id text NOT NULL,
     number bigint NOT NULL,
     gap_since bigint,
     PRIMARY KEY (scope, ledger_id)
   )`,
];
