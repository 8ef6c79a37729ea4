/**
 * A slice freezes all invoices of a page at once, before any older version of them can go: with less room than for a
 * second version of each, a quarter of them moved to another page, and each such move writes to every index. Rows that
 * are there already stay where they are.
 */
export const ROOM_FOR_UPDATES: readonly string[] = ['ALTER TABLE invoice SET (fillfactor = 45)'];
