// No engine: a script that keeps of each invoice what Lote's ledger keeps, and has no rule for anything that goes wrong. What is written down, and when, is
// Lote's: committed before the POST that it may leave, then its answer, then its webhook before that is answered, then the final word.
import { createHash } from 'node:crypto';
import pg from 'pg';
import { batched, job, ordinals, postInvoice, receive, work } from './job.js';

const TABLES = `
  create table if not exists plain_invoices (
    batch text not null, ordinal int not null, state text not null default 'staged', id text unique,
    primary key (batch, ordinal)) with (fillfactor = 60);
  create table if not exists plain_deliveries (hash bytea primary key, id text not null, body text not null)`;
const STAGE = 'insert into plain_invoices (batch, ordinal) select $1, unnest($2::int[])';
const FREEZE = `update plain_invoices set state = 'sending' where batch = $1 and ordinal = any($2::int[])`;
const KEEP = `
  update plain_invoices invoice set state = 'accepted', id = answer.id
  from unnest($2::int[], $3::text[]) as answer (ordinal, id)
  where invoice.batch = $1 and invoice.ordinal = answer.ordinal`;
const STORE =
  'insert into plain_deliveries select * from unnest($1::bytea[], $2::text[], $3::text[]) on conflict do nothing';
const SETTLE = `update plain_invoices set state = 'issued' where id = any($1) and state = 'accepted' returning id`;

/** Invoices that are marked in one statement, as many as Lote marks. */
const PORTION = 250;
const SETTLE_EVERY_MS = 100;

const pool = new pg.Pool({ connectionString: job.storeUrl, max: 6 });
await pool.query(TABLES);
const statement = (name, text) => (values) => pool.query({ name, text, values });
const freeze = statement('freeze', FREEZE);
const keepAll = statement('keep', KEEP);
const storeAll = statement('store', STORE);
const settleAll = statement('settle', SETTLE);
const keep = batched((kept) =>
  keepAll([job.batch, kept.map(({ ordinal }) => ordinal), kept.map(({ id }) => id)]).then(() => undefined),
);
const store = batched((came) =>
  storeAll([came.map(({ hash }) => hash), came.map(({ id }) => id), came.map(({ body }) => body)]).then(
    () => undefined,
  ),
);

const toSettle = new Set();
let settled = 0;
let next = 0;
let frozen = 0;
let freezing = null;

/** A webhook may come before the answer of its POST is kept: it is tried again. */
async function settle() {
  const ids = [...toSettle];
  const { rows } = ids.length === 0 ? { rows: [] } : await settleAll([ids]);
  for (const { id } of rows) toSettle.delete(id);
  settled += rows.length;
  setTimeout(() => void settle(), SETTLE_EVERY_MS);
}

async function freezeNext() {
  const portion = ordinals.slice(frozen, frozen + PORTION);
  await freeze([job.batch, portion]);
  frozen += portion.length;
  freezing = null;
}

/** Sends one invoice after the other; the next one leaves while the answer of the last one is written. */
async function lane() {
  while (next < job.invoices) {
    if (next >= frozen) await (freezing ??= freezeNext());
    if (next >= frozen) continue;
    const ordinal = next++;
    const id = await postInvoice(ordinal);
    void keep({ ordinal, id });
  }
}

await receive(async (id, body) => {
  await store({ hash: createHash('sha256').update(body).digest(), id, body: body.toString() });
  toSettle.add(id);
});
void settle();
await work(
  async () => {
    await pool.query(STAGE, [job.batch, ordinals]);
    await Promise.all(Array.from({ length: job.connections }, lane));
  },
  async () => settled,
);
