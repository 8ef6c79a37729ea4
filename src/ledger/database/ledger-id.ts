/** Reads the id of the ledger. Its migration writes it once, and nothing changes it. */
export const LEDGER_ID = `/* ledger-id */
SELECT ledger_id FROM ledger_meta`;
