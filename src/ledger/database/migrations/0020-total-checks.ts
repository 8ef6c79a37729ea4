/** What each file came to in all, and whether that was compared with earlier files of its pattern; an operator's confirmation. */
export const TOTAL_CHECKS: readonly string[] = [
  `CREATE TABLE total_check (
     batch_id text PRIMARY KEY,
     application text NOT NULL,
     file_pattern text NOT NULL,
     invoices integer NOT NULL,
     net text NOT NULL,
     result text NOT NULL,
     checked_at bigint NOT NULL,
     confirmed_at bigint
   )`,
  'CREATE INDEX total_check_pattern ON total_check (application, file_pattern, checked_at)',
];
