import type { Client } from 'pg';

/** Of one batch that the ledger holds. */
const BATCH_INVOICES = 200_000;

/**
 * Percent of a page of `invoice` that settled invoices take: staged they filled it to its fillfactor, and they have grown since. A page filled with
 * settled rows to the fillfactor itself would have room for a staged row, which is shorter, and each new invoice would go to another old page.
 */
const SETTLED_FILL = 51;

/** References of copies go on from here; as long as those of the batch that is measured. */
const FIRST_REF = 2_000_000;

/**
 * Values of one copy of a row, by column, where `t` is the row and `n` counts copies from 1: what is unique, or leads to what is, is new. Each is as
 * long as the product's own: in pages filled with longer rows each new row would find room in another old page.
 */
type Copied = Readonly<Record<string, string>>;

/**
 * Fills a ledger with settled invoices: the rows that the product left of a small batch, copied by SQL, one statement a table. So they have the
 * product's shape, whatever its schema is. @throws without such a batch
 */
export async function holdInvoices(client: Client, invoices: number): Promise<void> {
  const { batchId, count, lastInvoice } = await theBatch(client);
  const fill = await fillOf(client);
  const copies = Math.ceil(invoices / count);
  const copiesOfABatch = Math.max(1, Math.floor(BATCH_INVOICES / count));
  const batches = Math.ceil(copies / copiesOfABatch);
  const heldBatch = (copy: string): string =>
    `overlay('${batchId}' placing lpad((${copy})::text, 6, '0') from ${batchId.length - 5})`;
  const ofAnInvoice: Copied = {
    invoice_id: `t.invoice_id + n * ${lastInvoice}`,
    batch_id: heldBatch(`(n - 1) / ${copiesOfABatch}`),
    owner_batch: heldBatch(`(n - 1) / ${copiesOfABatch}`),
    ordinal: `t.ordinal + (n - 1) % ${copiesOfABatch} * ${count}`,
    invoice_ref: `'F/' || ${FIRST_REF} + n * ${lastInvoice} + t.invoice_id`,
    identity: base64UrlOf(sha256Of('t.identity')),
    skeleton: `md5(t.skeleton || '-' || n)::uuid`,
    idempotency_key: `'lote_' || ${hashOf('t.idempotency_key')}`,
    service_id: idOf('t.service_id'),
    sha256: hashOf('t.sha256'),
    event_id: idOf('t.event_id'),
  };
  const ofABatch: Copied = {
    batch_id: heldBatch('n - 1'),
    sha256: hashOf('t.sha256'),
    workflow_id: heldBatch('n - 1'),
    invoices: String(copiesOfABatch * count),
    row_count: String(copiesOfABatch * count),
    pages: `ceil(${copiesOfABatch * count}::numeric / t.page_size)`,
  };
  await client.query(`ALTER TABLE invoice SET (fillfactor = ${SETTLED_FILL})`);
  for (const table of await tablesOf(client)) {
    const isOfInvoices = table.columns.some((name) => name === 'invoice_id' || name === 'service_id');
    if (isOfInvoices) await copyRows(client, table, { copied: ofAnInvoice, copies });
    else if (table.columns.includes('batch_id')) await copyRows(client, table, { copied: ofABatch, copies: batches });
  }
  await client.query(`ALTER TABLE invoice SET (fillfactor = ${fill})`);
  // As the product leaves its tables: pages are known to hold no dead rows, and what the planner knows comes from a sample of this size.
  await client.query('SET default_statistics_target = 10');
  await client.query('VACUUM (ANALYZE)');
  // What filling them left to be written would be written beside what is measured.
  await client.query('CHECKPOINT');
  await client.query(
    `SELECT setval(pg_get_serial_sequence('invoice', 'invoice_id'), (SELECT max(invoice_id) FROM invoice))`,
  );
}

/** The fillfactor of `invoice`, in percent. */
async function fillOf(client: Client): Promise<number> {
  const { rows } = await client.query<{ fill: string }>(
    `SELECT o.option_value AS fill FROM pg_class c, pg_options_to_table(c.reloptions) o
     WHERE c.oid = 'invoice'::regclass AND o.option_name = 'fillfactor'`,
  );
  const [row] = rows;
  if (row === undefined) throw new Error('Filling a ledger: the table invoice must have a fillfactor, found none');
  return Number(row.fill);
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

/** With the prefix and the length of the service's own. Nine hex digits would meet twice among some hundred thousand; of this alphabet nine do not among millions. */
function idOf(column: string): string {
  return `left(${column}, 4) || left(${base64UrlOf(sha256Of(column))}, length(${column}) - 4)`;
}

/** 64 hex digits; NULL stays NULL. */
function hashOf(column: string): string {
  return `encode(${sha256Of(column)}, 'hex')`;
}

function sha256Of(column: string): string {
  return `sha256(convert_to(${column} || n, 'UTF8'))`;
}

/** In the alphabet of the product's keys, or all copies would stand together in their index, and new invoices elsewhere. */
function base64UrlOf(bytes: string): string {
  return `rtrim(translate(encode(${bytes}, 'base64'), '+/', '-_'), '=')`;
}
