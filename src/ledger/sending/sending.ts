import { Batcher } from '../../platform/batcher.ts';
import type { Invoice, Reason } from '../../domain/invoice.ts';
import type { FencingToken } from '../../domain/records/batch-record.ts';
import { shareBatch } from '../batches/batch.ts';
import {
  invoicesOfBatch,
  MERCHANT_OF_INVOICE,
  onPage,
  arrayLiteral,
  column,
  isItem,
  ofItem,
  reasonJson,
} from '../sql.ts';
import { changeInvoices } from '../change-invoices.ts';
import type { Database, Queries } from '../../database/database.ts';
import { recordAnswers, type RecordSend } from './record-answers.ts';
import type { InvoiceState } from '../../domain/invoice-state.ts';

/** The result of an earlier generation whose key Lote repeats once before it uses the next one. */
export interface EarlierGeneration {
  readonly generation: number;
  readonly state: InvoiceState;
  /** The document that failed; null if the service refused. */
  readonly serviceId: string | null;
  readonly reason: Reason | null;
  /** True if only an event reported the failure, and no GET was readable. */
  readonly isUnconfirmed: boolean;
  /** False if a corrected file has replaced its content. */
  readonly isSameContent: boolean;
}

/** SQL: the kept generations of invoice `i` whose key it still has. */
const SAME_KEY = `FROM invoice_generation g
  WHERE g.invoice_id = i.invoice_id AND g.generation BETWEEN 1 AND i.generation - 1 AND g.idempotency_key = i.idempotency_key`;

/**
 * SQL condition: the present generation of invoice `i` still has key and bytes of an earlier one. Lote repeats them
 * before the invoice gets its own key (`next-key`), because such a POST cannot make a second document.
 */
const HAS_EARLIER_KEY = `(i.generation > 1 AND EXISTS (SELECT ${SAME_KEY} OFFSET 0))`;

/** SQL: the result of the generation whose key invoice `i` still has, as JSON; null if the invoice has its own key. */
export const EARLIER_GENERATION = `CASE WHEN i.generation > 1 THEN (SELECT json_build_object('generation', g.generation, 'state', g.state, 'serviceId', g.service_id,
    'reason', ${reasonJson('g')},
    'isUnconfirmed', g.flags @> '{failure-unconfirmed}', 'isSameContent', g.fingerprint = i.fingerprint)
  ${SAME_KEY} AND g.state <> 'held' ORDER BY g.generation DESC LIMIT 1) END`;

/** An invoice to send, of generation `generation`. */
export interface SendableInvoice {
  readonly invoiceId: number;
  readonly identity: string;
  readonly ordinal: number;
  readonly generation: number;
  readonly invoice: Invoice;
  readonly idempotencyKey: string;
  readonly state: 'staged' | 'sending';
  /** The frozen bytes if the invoice was `sending` already, so that a POST may have reached the service, or the bytes of `earlier`. */
  readonly body: string | null;
  /** The service's id of the merchant, or null if unknown. */
  readonly merchantId: string | null;
  readonly attempts: number;
  /** First POST of this generation; null if there was none. */
  readonly firstSentAt: number | null;
  /** True if an answer of this generation was lost, a crash may have lost one, or the invoice was sent since the copy from which the ledger was restored. */
  readonly mayExist: boolean;
  /**
   * Since when a lost POST of this generation may have reached the service, or when an operator last accepted that risk; null if neither has
   * happened. For a `staged` invoice: since when its key was used without the ledger. With `earlier`: when the earlier generation was frozen.
   */
  readonly mayExistSince: number | null;
  /** Set if the invoice is `staged` and was sent since the copy from which the ledger was restored: the last key was this one, or another one. */
  readonly lost: 'same-key' | 'other-key' | null;
  /** True if the service stored an error under the invoice's key at the last send. */
  readonly errorKept: boolean;
  /** If not null, `idempotencyKey` and `body` belong to this generation, and Lote repeats them once before the invoice gets its next key. */
  readonly earlier: EarlierGeneration | null;
}

/** Bytes of the POST of one generation. Lote commits them before the first POST, and they never change. */
export interface FreezeInvoice {
  readonly invoiceId: number;
  readonly generation: number;
  readonly body: string;
  /** As in `SendableInvoice`. Absent or null if no POST of it can have left before. */
  readonly mayExistSince?: number | null;
  /** When its bytes were frozen for an earlier generation; the default is now. */
  readonly frozenAt?: number | null;
}

/** An invoice that the attempt has not POSTed, and the key that it had for the invoice; the default is the key of the generation. */
type PutBack = Pick<FreezeInvoice, 'invoiceId' | 'generation'> & { readonly idempotencyKey?: string | undefined };

/** Selects the invoices to hold, and gives the reason. */
export interface Hold {
  readonly reason: Reason;
  /** Reason for owned invoices that become `unknown`: they were handed out, and no known POST may have created a document. By default they stay `sending`. */
  readonly unanswered?: Reason | undefined;
  readonly merchantNif?: string | undefined;
  readonly page?: number | undefined;
  readonly now: number;
  /** True gives held invoices the reason too, unless their present one names another task for an operator. */
  readonly andHeld?: boolean;
}

interface SendableRow extends Omit<SendableInvoice, 'invoice'> {
  /** JSON as text: a cast to JSON costs the server more than to read the row. */
  readonly content: string;
}

/**
 * Parameters: batchId, from, to. Only the exposure `lost` means that the service may have the invoice. An operator's accepted
 * risk restarts the retention window. If a POST with the key may have arrived at several times, the earliest time counts.
 */
const SENDABLE = `/* sendable */
SELECT i.invoice_id, i.identity, i.ordinal, i.generation, c.content, i.idempotency_key, i.state, body.body, m.merchant_id, i.attempts, i.first_sent_at,
  (i.state = 'sending' AND i.exposure = 'lost') OR lost.identity IS NOT NULL AS may_exist,
  least(CASE WHEN i.state = 'sending' AND i.exposure = 'lost' THEN greatest(body.frozen_at, body.risk_accepted_at)
    WHEN earlier.generation IS NOT NULL THEN body.frozen_at END, lost.sent_at) AS may_exist_since,
  CASE WHEN lost.idempotency_key = i.idempotency_key THEN 'same-key' WHEN lost.identity IS NOT NULL THEN 'other-key' END AS lost,
  i.state = 'sending' AND coalesce(i.reason_code = 'stored-error', false) AS error_kept, earlier.generation AS earlier
FROM live_line i
JOIN LATERAL (
  SELECT own.content FROM invoice_content own WHERE own.invoice_id = i.invoice_id AND own.generation = i.generation OFFSET 0
) c ON true
LEFT JOIN LATERAL (
  SELECT * FROM invoice_body own
  WHERE (i.state = 'sending' OR ${HAS_EARLIER_KEY}) AND own.invoice_id = i.invoice_id AND own.generation = i.generation OFFSET 0
) body ON true
LEFT JOIN LATERAL (SELECT ${EARLIER_GENERATION} AS generation OFFSET 0) earlier ON true
LEFT JOIN merchant m ON ${MERCHANT_OF_INVOICE}
LEFT JOIN lost_send lost ON i.state = 'staged' AND lost.identity = i.identity
WHERE i.batch_id = $1 AND i.ordinal BETWEEN $2 AND $3 AND i.owner_batch = $1 AND i.state IN ('staged', 'sending')
ORDER BY i.ordinal`;

/**
 * Parameters: arrays by ascending invoice id (invoiceId, generation), batchId, array of bodies, now, two arrays of times: since when the invoice may
 * exist, and when it was frozen before. One statement, so that no `sending` invoice lacks its bytes. Existing bytes of the same generation belong to a
 * send that never reached the service. IS TRUE keeps the planner from comparing each moved row with each row of bytes.
 */
const FREEZE = `/* freeze */
WITH moved AS (
  UPDATE invoice i SET state = 'sending', exposure = CASE WHEN ${ofItem('$6::bigint[]', 'i.invoice_id')} IS NULL THEN 'open' ELSE 'lost' END,
    reason_code = NULL, reason_message = NULL, changed_at = $5
  WHERE i.invoice_id = ANY($1::bigint[]) AND ${isItem('i.invoice_id')} AND i.generation = ${ofItem('$2::integer[]', 'i.invoice_id')}
    AND i.owner_batch = $3 AND i.state = 'staged'
  RETURNING i.invoice_id, i.identity
), heard AS (
  DELETE FROM lost_send WHERE identity IN (SELECT identity FROM moved)
)
INSERT INTO invoice_body (invoice_id, generation, body, frozen_at)
SELECT u.invoice_id, u.generation, u.body, coalesce(u.since, u.frozen_at, $5)
FROM unnest($1::bigint[], $2::integer[], $4::text[], $6::bigint[], $7::bigint[]) AS u(invoice_id, generation, body, since, frozen_at)
WHERE (u.invoice_id IN (SELECT invoice_id FROM moved)) IS TRUE
ON CONFLICT (invoice_id, generation) DO UPDATE SET body = excluded.body, frozen_at = excluded.frozen_at
RETURNING invoice_id`;

/** Parameters: invoiceId, generation, key. An event about an earlier document counts as soon as it is stored. */
const IS_BEING_SENT = `/* is-being-sent */
SELECT i.invoice_id FROM invoice i
WHERE i.invoice_id = $1 AND i.generation = $2 AND i.idempotency_key = $3 AND i.state = 'sending'
  AND NOT EXISTS (
    SELECT FROM invoice_generation g JOIN delivery d ON d.service_id = g.service_id
    WHERE g.invoice_id = $1 AND g.state <> 'issued' AND d.verdict = 'issued' OFFSET 0)`;

/** Milliseconds. To record an answer late delays only its own lane, and a statement costs as much as a dozen of its rows. */
const ANSWERS_WINDOW_MS = 50;

/** Handles the unsent invoices of a batch: hands out, freezes, records answers and holds. */
export function createSending(database: Database) {
  const recordSends = new Batcher<RecordSend, number>({
    windowMs: ANSWERS_WINDOW_MS,
    keyOf: (item) => item.invoiceId,
    write: (items) => recordAnswers(database, items),
  });

  return {
    /**
     * Returns the batch's owned invoices in `staged` or `sending` with ordinal in [from, to], in ordinal order, and records that they are handed out. A
     * `sending` one has `mayExist` unless each of its tries is proved not to have reached the service.
     */
    sendable: (batchId: string, from: number, to: number) => sendable(database, [batchId, from, to]),

    /** Moves staged invoices to sending with frozen bytes, if this batch owns them and the generation still holds. Returns the moved invoiceIds. */
    freeze: (batchId: string, items: readonly FreezeInvoice[], now: number) =>
      freeze(database, { batchId, items, now }),

    /** Moves sending invoices back to staged. Only the attempt that froze them and POSTed none of them may call it. Returns the number moved. */
    async unfreeze(
      batchId: string,
      invoices: readonly PutBack[],
      { reason, now }: { readonly reason: Reason; readonly now: number },
    ): Promise<number> {
      if (invoices.length === 0) return 0;
      const byId = new Map(invoices.map((one) => [one.invoiceId, one]));
      const selection = { name: 'unfreeze', ids: '$1::bigint[]', params: [arrayLiteral([...byId.keys()])] };
      const moved = await database.transaction((queries) =>
        changeInvoices(queries, selection, (_, { invoiceId }) => {
          const { generation = 0, idempotencyKey } = byId.get(invoiceId) ?? {};
          return { kind: 'unfreeze', batchId, generation, idempotencyKey, reason, now };
        }),
      );
      return moved.length;
    },

    /**
     * Records answers, then applies earlier events in a new snapshot. If an answer names another invoice's serviceId, its invoice becomes `unknown`
     * (`service-id-taken`) and the other one is flagged. Returns the number of invoices of the batch whose answers did so, if one of these newly did.
     * `isLast`: no further answer is expected soon.
     */
    async recordSends(items: readonly RecordSend[], isLast = false): Promise<number> {
      return Math.max(0, ...(await recordSends.submit(items, isLast)));
    },

    /** Returns true if the invoice is `sending` with this generation and key, and no stored event says that an earlier document of it is issued. */
    async isBeingSent(invoiceId: number, generation: number, idempotencyKey: string): Promise<boolean> {
      return (await database.query(IS_BEING_SENT, [invoiceId, generation, idempotencyKey])).length > 0;
    },

    /** Moves owned invoices of the batch to held: staged ones, and sending ones that did not reach the service. Returns their number. */
    holdUnsent: (batchId: string, { fencingToken, ...hold }: Hold & { readonly fencingToken?: FencingToken }) =>
      database.transaction(async (queries) => {
        await shareBatch(queries, { batchId, fencingToken });
        return holdUnsent(queries, batchId, hold);
      }),
  };
}

/** Parameters: batchId, merchant's NIF or null, page or null, states. */
const OWN_IN_STATES = invoicesOfBatch(`i.owner_batch = $1 AND i.state = ANY($4::text[])
    AND ($2::text IS NULL OR i.merchant_nif = $2) AND ($3::integer IS NULL OR ${onPage('$3::integer')})`);

/** Holds the invoices that cannot have reached the service. Returns their number. */
async function holdUnsent(queries: Queries, batchId: string, hold: Hold): Promise<number> {
  const { reason, unanswered = null, merchantNif = null, page = null, now, andHeld = false } = hold;
  const states = arrayLiteral(['staged', 'sending', ...(andHeld ? ['held'] : [])]);
  const selection = { name: 'hold-unsent', ids: OWN_IN_STATES, params: [batchId, merchantNif, page, states] };
  const command = { kind: 'hold', batchId, reason, unanswered, andHeld, now } as const;
  const changes = await changeInvoices(queries, selection, () => command);
  return changes.filter(({ before, decision }) => before.state !== 'held' && decision.invoice.state === 'held').length;
}

const INTERRUPTED = invoicesOfBatch(`i.ordinal BETWEEN $2 AND $3 AND i.owner_batch = $1 AND i.state = 'sending'`);

/** Records each `sending` invoice before it is handed out again. */
async function sendable(
  database: Database,
  slice: readonly [batchId: string, from: number, to: number],
): Promise<readonly SendableInvoice[]> {
  const [batchId] = slice;
  const selection = { name: 'note-interrupted-sends', ids: INTERRUPTED, params: slice };
  const noted = await database.transaction((queries) =>
    changeInvoices(queries, selection, () => ({ kind: 'hand-out', batchId })),
  );
  const ids = new Set(noted.map(({ invoiceId }) => invoiceId));
  const rows = await database.query<SendableRow>(SENDABLE, slice);
  return rows.map(({ content, ...row }) => {
    const known = row.state === 'sending' && !ids.has(row.invoiceId) ? { ...row, ...FROZEN_MEANWHILE } : row;
    return { ...known, invoice: JSON.parse(content) as Invoice };
  });
}

/**
 * An earlier attempt, which Temporal has given up, froze the invoice after `hand-out` and may POST it at any moment. Lote hands
 * it out as `staged`, as it was before, so that this attempt cannot freeze it either; the next round hands it out as usual.
 */
const FROZEN_MEANWHILE = {
  state: 'staged',
  body: null,
  mayExist: false,
  mayExistSince: null,
  errorKept: false,
} as const;

async function freeze(
  database: Database,
  {
    batchId,
    items: given,
    now,
  }: { readonly batchId: string; readonly items: readonly FreezeInvoice[]; readonly now: number },
): Promise<readonly number[]> {
  if (given.length === 0) return [];
  const items = given.toSorted((a, b) => a.invoiceId - b.invoiceId);
  const moved = await database.query<{ invoiceId: number }>(FREEZE, [
    column(items, (item) => item.invoiceId),
    column(items, (item) => item.generation),
    batchId,
    column(items, (item) => item.body),
    now,
    column(items, (item) => item.mayExistSince ?? null),
    column(items, (item) => item.frozenAt ?? null),
  ]);
  return moved.map((row) => row.invoiceId);
}
