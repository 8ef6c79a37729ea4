// The table that a job queue on PostgreSQL needs beside it: a webhook names the service's id alone, and somebody must know whose it is.
import pg from 'pg';
import { batched, job } from './job.js';

const TABLE = `
  create table if not exists invoices (
    batch text not null, ordinal int not null, id text not null unique, settled boolean not null default false,
    primary key (batch, ordinal))`;
const KEEP =
  'insert into invoices (batch, ordinal, id) select $1, * from unnest($2::int[], $3::text[]) on conflict do nothing';
const SETTLE = 'update invoices set settled = true where id = any($1) returning id';
const COUNT = 'select count(*)::int as settled from invoices where batch = $1 and settled';

/** Opens the table, and makes it when it is missing. */
export async function openLedger() {
  const pool = new pg.Pool({ connectionString: job.storeUrl, max: 4 });
  await pool.query(TABLE);
  return {
    pool,
    /** Keeps the service's id of an invoice. */
    keep: batched((kept) =>
      pool.query(KEEP, [job.batch, kept.map(({ ordinal }) => ordinal), kept.map(({ id }) => id)]).then(() => undefined),
    ),
    /** Settles invoices by the service's ids, and returns those ids that are known. */
    async settle(ids) {
      const { rows } = await pool.query(SETTLE, [ids]);
      return new Set(rows.map(({ id }) => id));
    },
    async countSettled() {
      const { rows } = await pool.query(COUNT, [job.batch]);
      return rows[0].settled;
    },
  };
}
