/**
 * After a file is staged: statistics, without which the planner reads whole tables for a few invoices (measured: 3.4 ms against 1.5 ms for
 * the settled of one group), and the room of the dropped rows. PGlite has no autovacuum, and PostgreSQL's comes too late for a table that
 * grew within seconds. SKIP_LOCKED: when another process tidies already, that is enough.
 */
export const TIDY_TABLES = `/* tidy-tables */
VACUUM (ANALYZE, SKIP_LOCKED) batch_row, batch_row_order, batch_invoice, invoice, invoice_content, invoice_body, delivery`;
