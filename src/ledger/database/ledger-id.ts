export const LEDGER_ID = `/* ledger-id */
SELECT ledger_id FROM ledger_meta`;
