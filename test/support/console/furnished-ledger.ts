import type { Database } from '../../../src/database/database.ts';
import { unusualTotalReason } from '../../../activities/batch/total-check.ts';
import { DAY_MS } from '../../../src/domain/time/instants.ts';

/** The amount of data in the ledger. */
export interface Furniture {
  /** Invoices of the only large batch. */
  readonly large: number;
  /** Invoices of each of the other batches: three a night for ninety nights. */
  readonly each: number;
  /** Epoch milliseconds of the last night. */
  readonly now: number;
}

/** A finished batch of many invoices, some of which need an operator. */
export const LARGE_BATCH = 'batch-faturas-2026-11-21-0a1b2c3d4e5f';
/** A batch that is sending. */
export const RUNNING_BATCH = 'batch-faturas-2026-11-23-1a1b2c3d4e5f';
/** A batch that waits until an operator confirms its total. */
export const HELD_BATCH = 'batch-lojas-2026-11-23-2a1b2c3d4e5f';
/** An invoice of the large batch that failed and was sent again several times. */
export const TRIED_INVOICE = 50;

const APPLICATION = 'default';
const NIGHTS = 90;
const FILES_A_NIGHT = ['faturas', 'lojas', 'exportacao'];
/** The states of a finished batch, by the ordinal: a fixed share of them is not `issued`. */
const SETTLED = `CASE WHEN n % 50 = 0 THEN 'failed' WHEN n % 333 = 0 THEN 'unknown' WHEN n % 211 = 0 THEN 'rejected'
  WHEN n % 401 = 0 THEN 'unsettled' ELSE 'issued' END`;
/** The states of a running batch: a third is done, and a third is under way. */
const UNDER_WAY = `CASE WHEN n % 3 = 0 THEN 'issued' WHEN n % 50 = 1 THEN 'failed' WHEN n % 3 = 1 THEN 'accepted' ELSE 'staged' END`;
const DIFFERENCE =
  'The total differs by more than 5 times from the last 10 files named lojas-#.csv: net EUR 198000.5, usually 18000.25.';
const HELD = unusualTotalReason(HELD_BATCH, {
  invoices: 60,
  difference: DIFFERENCE,
}).message;
const WAITING = `'held'`;

/** Fills an empty ledger with some years of an office's work, by SQL: the ledger's own methods would take hours. */
export async function furnishLedger(database: Database, { large, each, now }: Furniture): Promise<void> {
  const place = placeBatch(database, now);
  for (let ago = NIGHTS - 1; ago >= 1; ago -= 1)
    for (const [at, name] of FILES_A_NIGHT.entries())
      await place({ id: `batch-${name}-${ago}`, name, ago, at, invoices: each, states: SETTLED });
  await place({ id: LARGE_BATCH, name: 'faturas', ago: 0, at: 0, invoices: large, states: SETTLED });
  await place({ id: HELD_BATCH, name: 'lojas', ago: 0, at: 1, invoices: each, states: WAITING, state: 'running' });
  await place({
    id: RUNNING_BATCH,
    name: 'faturas',
    ago: 0,
    at: 2,
    invoices: each,
    states: UNDER_WAY,
    state: 'running',
  });
  await contents(database);
  await longLife(database, now);
  await noteworthy(database, now);
  await database.query('ANALYZE');
}

interface PlacedBatch {
  readonly id: string;
  readonly name: string;
  /** How many nights ago the batch ran, and which file of that night it read. */
  readonly ago: number;
  readonly at: number;
  readonly invoices: number;
  /** SQL: the state of invoice `n`. */
  readonly states: string;
  readonly state?: 'finished' | 'running';
}

function placeBatch(database: Database, now: number): (batch: PlacedBatch) => Promise<void> {
  return async ({ id, name, ago, at, invoices, states, state = 'finished' }) => {
    const startedAt = now - ago * DAY_MS - (FILES_A_NIGHT.length - at) * 60_000;
    const day = new Date(startedAt).toISOString().slice(0, 10);
    const file = `${name}-${day}${at === 2 ? '-tarde' : ''}.csv`;
    await database.query(
      `INSERT INTO batch (batch_id, application, file, sha256, state, workflow_id, run_id, page_size, pages, row_count, invoices,
         started_at, finished_at, revision, fencing_token)
       VALUES ($1, $2, $3, $1, $4, $1, 'run', 2000, $5, $6, $6, $7, $8, 1, 1)`,
      [
        ...[id, APPLICATION, file, state, Math.ceil(invoices / 2_000), invoices, startedAt],
        state === 'finished' ? startedAt + 90_000 : null,
      ],
    );
    await database.query(invoicesOf(states), [id, APPLICATION, invoices, startedAt]);
    if (state === 'finished')
      await reported(database, id, { at: startedAt + 90_000, figures: figuresOf(invoices, ago) });
  };
}

/** Records what a report of a batch writes to the ledger. */
async function reported(database: Database, id: string, said: { readonly at: number; readonly figures: object }) {
  const lines = `FROM batch_invoice bi JOIN invoice i ON i.invoice_id = bi.invoice_id WHERE bi.batch_id = $1`;
  const outcomes = await database.query(
    `SELECT i.state AS outcome, bi.currency, count(*) AS invoices, trim_scale(sum(bi.net::numeric))::text AS net, 0 AS "withoutAmount"
     ${lines} GROUP BY 1, 2`,
    [id],
  );
  await database.query(
    `UPDATE batch SET reported_revision = 1, reported_at = $2, reported_mark = '0 0 0', figures = $3 WHERE batch_id = $1`,
    [id, said.at, JSON.stringify({ ...said.figures, outcomes })],
  );
  await database.query(
    `INSERT INTO report_outcome (batch_id, ordinal, state, generation) SELECT $1, bi.ordinal, i.state, 1 ${lines} AND i.state <> 'issued'`,
    [id],
  );
}

/** Returns SQL with the parameters batch id, application, number of invoices and time at which the file was read. */
function invoicesOf(states: string): string {
  return `WITH line AS (
    SELECT n, $1 || '/' || n AS identity, (501000000 + n % 40)::text AS nif, 'FT 2026/' || $4::bigint / 60000 || '-' || n AS ref,
      ${states} AS state, CASE WHEN n % 20 = 7 THEN 'USD' ELSE 'EUR' END AS currency, (n % 900 + 10) || '.25' AS net
    FROM generate_series(1, $3::integer) AS n
  ), made AS (
    INSERT INTO invoice (identity, application, merchant_nif, invoice_ref, fingerprint, owner_batch, state, generation, idempotency_key,
      service_id, attempts, first_sent_at, accepted_at, settled_at, changed_at, reason_code, reason_message)
    SELECT identity, $2, nif, ref, md5(identity), $1, state, 1, 'lote_' || md5(identity) || md5(ref),
      CASE WHEN state IN ('issued', 'failed', 'accepted', 'unsettled') THEN 'inv_' || md5(identity) END,
      CASE WHEN state IN ('staged', 'held') THEN 0 ELSE 1 END, CASE WHEN state NOT IN ('staged', 'held') THEN $4::bigint + n END,
      CASE WHEN state IN ('issued', 'failed', 'accepted', 'unsettled') THEN $4::bigint + n + 40 END,
      CASE WHEN state IN ('issued', 'failed', 'rejected') THEN $4::bigint + n + 900 END, $4::bigint + n + 900,
      CASE state WHEN 'failed' THEN 'engine-failed' WHEN 'rejected' THEN 'validation_failed' WHEN 'unknown' THEN 'no-answer'
        WHEN 'unsettled' THEN 'settle-time-over' WHEN 'held' THEN 'total-unusual' END,
      CASE state WHEN 'failed' THEN 'The tax authority does not know the tax code IVA_99 of line 1.'
        WHEN 'rejected' THEN 'customer.tax_id must have nine digits, found 12345678.'
        WHEN 'unknown' THEN 'No answer of the service came within the send time; the invoice may exist there.'
        WHEN 'unsettled' THEN 'The service has said neither issued nor failed within the settle time.'
        WHEN 'held' THEN '${HELD}' END
    FROM line ORDER BY n
    RETURNING invoice_id, identity, service_id
  ), known AS (
    INSERT INTO document SELECT service_id, invoice_id FROM made WHERE service_id IS NOT NULL
  )
  INSERT INTO batch_invoice (batch_id, ordinal, invoice_id, merchant_nif, invoice_ref, currency, net, file_rows)
  SELECT $1, n, invoice_id, nif, ref, currency, net, ARRAY[n + 1] FROM line JOIN made USING (identity)`;
}

/** Returns the figures of a batch's report: a little different each night, with some bad nights. */
function figuresOf(invoices: number, ago: number): object {
  const bad = ago % 17 === 3 ? 0.3 : 0.02 + (ago % 5) / 200;
  const failed = Math.round(invoices * bad);
  const unknown = Math.round(invoices * 0.003);
  const issued = invoices - failed - unknown;
  return {
    states: { issued, failed, ...(unknown === 0 ? {} : { unknown }) },
    money: [
      { currency: 'EUR', net: `${invoices * 400}.5`, out: `${issued * 400}.25`, before: '0' },
      { currency: 'USD', net: `${invoices * 21}.5`, out: `${issued * 21}.25`, before: '0' },
    ],
    settling: { 40: issued, [60 + (ago % 7)]: Math.ceil(issued / 12) },
    reasons: [
      { state: 'failed', code: 'engine-failed', invoices: Math.ceil(failed / 2) },
      { state: 'rejected', code: 'validation_failed', invoices: Math.floor(failed / 2) },
      { state: 'unknown', code: 'no-answer', invoices: unknown },
    ],
  };
}

/** Records the content of the first invoices of the large batch, and the bytes sent. */
async function contents(database: Database): Promise<void> {
  const lines = Array.from({ length: 12 }, (_, at) => ({
    description: `Artigo ${at + 1} da encomenda, caixa de 24`,
    quantity: '2',
    unitPrice: '10.5',
    taxCode: 'IVA_23',
  }));
  const content = {
    ...{ ref: 'FT 2026/50', currency: 'EUR', lines },
    merchant: {
      nif: '501000050',
      legalName: 'Padaria Central do Porto, Lda',
      email: 'faturas@padaria-central.example',
    },
    customer: { name: 'José Gonçalves, Lda.', taxId: '210484276' },
  };
  const held = `SELECT invoice_id FROM batch_invoice WHERE batch_id = $1 AND ordinal <= 200`;
  await database.query(
    `INSERT INTO invoice_content (invoice_id, generation, content) SELECT invoice_id, 1, $2 FROM (${held}) own`,
    [LARGE_BATCH, JSON.stringify(content)],
  );
  await database.query(
    `INSERT INTO invoice_body (invoice_id, generation, body, frozen_at) SELECT invoice_id, 1, $2, 1 FROM (${held}) own`,
    [LARGE_BATCH, JSON.stringify({ merchant_id: 'mrc_1', customer: content.customer, currency: 'EUR', lines })],
  );
}

async function longLife(database: Database, now: number): Promise<void> {
  const tried = `(SELECT invoice_id FROM batch_invoice WHERE batch_id = $1 AND ordinal = ${TRIED_INVOICE})`;
  await database.query(
    `INSERT INTO delivery (sha256, raw, received_at, event_type, event_id, service_id, verdict, reason_code, reason_message)
     SELECT md5('d' || n), '\\x00', $2::bigint + n * 60000, 'invoice.failed', 'evt_' || md5('e' || n), i.service_id, 'failed', 'engine-failed',
       'The tax authority does not know the tax code IVA_99 of line 1.'
     FROM generate_series(1, 20) AS n, invoice i WHERE i.invoice_id = ${tried}`,
    [LARGE_BATCH, now - DAY_MS],
  );
}

/** Records findings of the file, actions of operators, and a total that differs from earlier totals. */
async function noteworthy(database: Database, now: number): Promise<void> {
  const finding = { column: 'tax_code', code: 'tax-code-unusual', severity: 'warning' };
  const message = 'Expected a tax code such as IVA_23, found "23 %"; it is sent as it is';
  await database.query(
    `INSERT INTO finding (batch_id, seq, finding)
     SELECT $1, n, ($2::jsonb || jsonb_build_object('row', n + 1))::text FROM generate_series(1, 300) AS n`,
    [LARGE_BATCH, JSON.stringify({ ...finding, message })],
  );
  await database.query(
    `INSERT INTO audit (action_id, batch_id, at, who, what, why, accepted_duplicate_risk)
     SELECT $1 || n, $1, $2::bigint + n * 60000, 'ana.ferreira@contabilidade.example', CASE WHEN n % 4 = 0 THEN 'retry' ELSE 'download' END,
       CASE WHEN n % 4 = 0 THEN 'The tax code was corrected at the authority, as agreed by phone' ELSE 'report.csv' END, false
     FROM generate_series(1, 400) AS n`,
    [LARGE_BATCH, now - DAY_MS],
  );
  const usual = { invoices: 40, net: { EUR: '18000.25', USD: '910' } };
  const check = {
    kind: 'unusual',
    batches: 10,
    factor: 5,
    usual,
    difference: DIFFERENCE,
  };
  await database.query(
    `UPDATE batch SET file_pattern = 'lojas-#.csv', total = json_build_object('invoices', invoices, 'net', $2::json)::text, total_check = $3,
     total_checked_at = $4 WHERE batch_id = $1`,
    [HELD_BATCH, JSON.stringify({ EUR: '198000.5' }), JSON.stringify(check), now],
  );
}
