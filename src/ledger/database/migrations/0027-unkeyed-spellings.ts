/**
 * Workers of versions before migrations 0025 and 0026 go on beside newer ones, and give no look-alike key to `00012` and `1E5`. Where none of them works, the index holds
 * nothing, and an insert costs one comparison more.
 */
export const UNKEYED_SPELLINGS: readonly string[] = [
  "CREATE INDEX invoice_unkeyed ON invoice (invoice_id) WHERE look_alike IS NULL AND invoice_ref ~ '^0+[0-9]+$|^[0-9]{1,5}[Ee][0-9]$'",
];
