import type { Client } from 'pg';

/** Of one batch that the ledger holds. */
const BATCH_INVOICES = 200_000;

/** Values of one copy of a row, by column, where `t` is the row and `n` counts copies from 1: what is unique, or leads to what is, is new. */
type Copied = Readonly<Record<string, string>>;

/**
 * Fills a ledger with settled invoices: the rows that the product left of a small batch, copied by SQL, one statement a table. So they have the
 * product's shape, whatever its schema is. @throws without such a batch
 */
export async function holdInvoices(client: Client, invoices: number): Promise<void> {
  const { batchId, count, lastInvoice } = await theBatch(client);
  const copies = Math.ceil(invoices / count);
  const copiesOfABatch = Math.max(1, Math.floor(BATCH_INVOICES / count));
  const batches = Math.ceil(copies / copiesOfABatch);
  const heldBatch = (copy: string): string => `'${batchId}-held-' || ${copy}`;
  const ofAnInvoice: Copied = {
    invoice_id: `t.invoice_id + n * ${lastInvoice}`,
    batch_id: heldBatch(`(n - 1) / ${copiesOfABatch}`),
    owner_batch: heldBatch(`(n - 1) / ${copiesOfABatch}`),
    ordinal: `t.ordinal + (n - 1) % ${copiesOfABatch} * ${count}`,
    invoice_ref: `t.invoice_ref || '-' || n`,
    identity: hashOf('t.identity'),
    look_alike: `t.look_alike || '-' || n`,
    idempotency_key: `'lote_' || ${hashOf('t.idempotency_key')}`,
    service_id: `left(t.service_id, 4) || substr(${hashOf('t.service_id')}, 1, length(t.service_id) - 4)`,
    sha256: hashOf('t.sha256'),
    event_id: `left(t.event_id, 4) || substr(${hashOf('t.event_id')}, 1, length(t.event_id) - 4)`,
  };
  const ofABatch: Copied = {
    batch_id: heldBatch('n - 1'),
    sha256: hashOf('t.sha256'),
    workflow_id: heldBatch('n - 1'),
    invoices: String(copiesOfABatch * count),
    row_count: String(copiesOfABatch * count),
    pages: `ceil(${copiesOfABatch * count}::numeric / t.page_size)`,
  };
  for (const table of await tablesOf(client)) {
    const isOfInvoices = table.columns.some((name) => name === 'invoice_id' || name === 'service_id');
    if (isOfInvoices) await copyRows(client, table, { copied: ofAnInvoice, copies });
    else if (table.columns.includes('batch_id')) await copyRows(client, table, { copied: ofABatch, copies: batches });
  }
  // As the product leaves its tables: pages are known to hold no dead rows. The planner's statistics stay those of the small batch.
  await client.query('VACUUM');
  // What filling them left to be written would be written beside what is measured.
  await client.query('CHECKPOINT');
  await client.query(
    `SELECT setval(pg_get_serial_sequence('invoice', 'invoice_id'), (SELECT max(invoice_id) FROM invoice))`,
  );
}

interface HeldBatch {
  readonly batchId: string;
  readonly count: number;
  /** The highest id of an invoice before anything is copied: those of a copy are higher by as much in every table. */
  readonly lastInvoice: number;
}

async function theBatch(client: Client): Promise<HeldBatch> {
  const { rows } = await client.query<{ batch_id: string; invoices: number; last: string }>(
    `SELECT batch_id, invoices, (SELECT max(invoice_id) FROM invoice)::text AS last FROM batch WHERE state = 'finished'`,
  );
  const [batch] = rows;
  if (batch === undefined || rows.length > 1)
    throw new Error(`Filling a ledger: it must hold one finished batch to copy, found ${rows.length}`);
  return { batchId: batch.batch_id, count: batch.invoices, lastInvoice: Number(batch.last) };
}

interface LedgerTable {
  readonly name: string;
  /** Those that a statement may set; numbers that the database counts itself are left out, but for the key of an invoice. */
  readonly columns: readonly string[];
}

async function tablesOf(client: Client): Promise<readonly LedgerTable[]> {
  const { rows } = await client.query<LedgerTable>(
    `SELECT c.table_name AS name, array_agg(c.column_name::text) AS columns
     FROM information_schema.columns c JOIN information_schema.tables t USING (table_schema, table_name)
     WHERE c.table_schema = current_schema() AND t.table_type = 'BASE TABLE' AND (c.is_identity = 'NO' OR c.column_name = 'invoice_id')
     GROUP BY c.table_name`,
  );
  return rows;
}

async function copyRows(
  client: Client,
  { name, columns }: LedgerTable,
  { copied, copies }: { readonly copied: Copied; readonly copies: number },
): Promise<void> {
  const quoted = columns.map((column) => `"${column}"`);
  const values = columns.map((column) => copied[column] ?? `t."${column}"`);
  await client.query(
    `INSERT INTO ${name} (${quoted.join(', ')}) OVERRIDING SYSTEM VALUE
     SELECT ${values.join(', ')} FROM generate_series(1, ${copies}) AS n, ${name} t`,
  );
}

/** 64 hex digits; NULL stays NULL. */
function hashOf(column: string): string {
  return `encode(sha256(convert_to(${column} || n, 'UTF8')), 'hex')`;
}
