import { createBatcher } from '../../platform/batcher.ts';
import { isLedgerAway } from '../../domain/errors.ts';
import type { Invoice, Reason } from '../../domain/invoice.ts';
import type { FencingToken } from '../../domain/records/batch-record.ts';
import { shareUnderToken } from '../batches/batch.ts';
import {
  invoicesOfBatch,
  MERCHANT_OF_INVOICE,
  onPage,
  arrayLiteral,
  column,
  isItem,
  ofItem,
  reasonJson,
} from '../database/sql.ts';
import { changeInvoices } from '../change-invoices.ts';
import type { Database, Queries } from '../database/database.ts';
import { recordAnswers, type RecordedSends, type RecordSend } from './record-answers.ts';
import type { InvoiceState } from '../../domain/invoice-state.ts';

/** How a generation ended whose key is asked once more before the next one is used. */
export interface EarlierGeneration {
  readonly generation: number;
  readonly state: InvoiceState;
  /** The document that failed; null where the service refused. */
  readonly serviceId: string | null;
  readonly reason: Reason | null;
  /** Only an event called it failed; no GET could be read. */
  readonly isUnconfirmed: boolean;
  /** False: a corrected file has replaced its content. */
  readonly isSameContent: boolean;
}

/** The kept generations of invoice `i` whose key it still has. */
const SAME_KEY = `FROM invoice_generation g
  WHERE g.invoice_id = i.invoice_id AND g.generation BETWEEN 1 AND i.generation - 1 AND g.idempotency_key = i.idempotency_key`;

/**
 * That the present generation of invoice `i` still has key and bytes of an earlier one, which are repeated before it gets its own key (`next-key`): a POST of
 * it cannot make a second document.
 */
const HAS_EARLIER_KEY = `(i.generation > 1 AND EXISTS (SELECT ${SAME_KEY} OFFSET 0))`;

/** How the generation ended whose key invoice `i` still has, as JSON; null where it has a key of its own. */
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
  /** The frozen bytes when it was `sending` already, a POST of which may have reached the service, or those of `earlier`. */
  readonly body: string | null;
  /** The service's id of the merchant, when known. */
  readonly merchantId: string | null;
  readonly attempts: number;
  /** First POST of this generation; null when none was tried. */
  readonly firstSentAt: number | null;
  /** An answer of this generation was lost, a crash may have lost one, or it was sent since the copy from which the ledger was restored. */
  readonly mayExist: boolean;
  /**
   * Since when a lost POST of this generation may have reached the service, or an operator last accepted that; null: none has. Of a `staged` one: since when
   * its key was used without the ledger. With `earlier`: since when that was frozen.
   */
  readonly mayExistSince: number | null;
  /** It is `staged`, and was sent since the copy from which the ledger was restored, last with this key or with another one. */
  readonly lost?: 'same-key' | 'other-key';
  /** The service kept an error under its key when it was last sent. */
  readonly errorKept?: true;
  /** Present: `idempotencyKey` and `body` are those of this generation, which is asked once more before the invoice gets its next key. */
  readonly earlier?: EarlierGeneration;
}

/** Bytes of the POST of one generation. They are committed before the first POST and never change. */
export interface FreezeInvoice {
  readonly invoiceId: number;
  readonly generation: number;
  readonly body: string;
  /** As in `SendableInvoice`; left out or null: no POST of it can have left before. */
  readonly mayExistSince?: number | null;
  /** When its bytes were frozen before, for an earlier generation; left out or null: now. */
  readonly frozenAt?: number | null;
}

/** An invoice that its attempt has not POSTed, with the key that the attempt had for it; left out: that of the generation. */
type PutBack = Pick<FreezeInvoice, 'invoiceId' | 'generation'> & { readonly idempotencyKey?: string | undefined };

/** What is held, and why. */
export interface Hold {
  readonly reason: Reason;
  /** Owned ones that were handed out, and of which no POST is known that may have created a document, become `unknown` with it; left out: they stay `sending`. */
  readonly unanswered?: Reason | undefined;
  readonly merchantNif?: string | undefined;
  readonly page?: number | undefined;
  readonly now: number;
  /** Those that are held already get the reason, too, unless theirs says what else an operator must do. */
  readonly andHeld?: boolean;
}

interface SendableRow extends Omit<SendableInvoice, 'invoice' | 'lost' | 'errorKept' | 'earlier'> {
  /** JSON as text: a cast to JSON costs the server more than to read the row. */
  readonly content: string;
  readonly lost: 'same-key' | 'other-key' | null;
  readonly errorKept: boolean;
  readonly earlier: EarlierGeneration | null;
}

/**
 * batchId, from, to. Only an exposure `lost` says that the service may have it. An operator's accepted risk starts the retention window anew. Of the times
 * since when a POST with its key may have reached the service, the earliest.
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
 * Arrays by rising invoice id: invoiceId, generation, place of its batch among the next, batchIds, body; now; arrays: since when it may exist, when it was
 * frozen before. One statement, so that no invoice is ever `sending` without its bytes. Bytes of the same generation that were there before belong to a send
 * that never reached the service. IS TRUE keeps the planner from comparing each of the moved with each of the bytes.
 */
const FREEZE = `/* freeze */
WITH moved AS (
  UPDATE invoice i SET state = 'sending', exposure = CASE WHEN ${ofItem('$7::bigint[]', 'i.invoice_id')} IS NULL THEN 'open' ELSE 'lost' END,
    reason_code = NULL, reason_message = NULL, changed_at = $6
  WHERE i.invoice_id = ANY($1::bigint[]) AND ${isItem('i.invoice_id')} AND i.generation = ${ofItem('$2::integer[]', 'i.invoice_id')}
    AND i.owner_batch = ($4::text[])[${ofItem('$3::integer[]', 'i.invoice_id')}] AND i.state = 'staged'
  RETURNING i.invoice_id, i.identity
), heard AS (
  DELETE FROM lost_send WHERE identity IN (SELECT identity FROM moved)
)
INSERT INTO invoice_body (invoice_id, generation, body, frozen_at)
SELECT u.invoice_id, u.generation, u.body, coalesce(u.since, u.frozen_at, $6)
FROM unnest($1::bigint[], $2::integer[], $5::text[], $7::bigint[], $8::bigint[]) AS u(invoice_id, generation, body, since, frozen_at)
WHERE (u.invoice_id IN (SELECT invoice_id FROM moved)) IS TRUE
ON CONFLICT (invoice_id, generation) DO UPDATE SET body = excluded.body, frozen_at = excluded.frozen_at
RETURNING invoice_id`;

/** invoiceId, generation, key. An event about an earlier document counts as soon as it is stored. */
const IS_BEING_SENT = `/* is-being-sent */
SELECT i.invoice_id FROM invoice i
WHERE i.invoice_id = $1 AND i.generation = $2 AND i.idempotency_key = $3 AND i.state = 'sending'
  AND NOT EXISTS (
    SELECT FROM invoice_generation g JOIN delivery d ON d.service_id = g.service_id
    WHERE g.invoice_id = $1 AND g.state <> 'issued' AND d.verdict = 'issued' OFFSET 0)`;

/** batchId, repeats. */
const ADD_REPEATS = `/* add-repeats */
UPDATE batch SET repeats = repeats + $2 WHERE batch_id = $1 RETURNING repeats`;

/** An answer's record holds up nothing but its own lane, and each statement costs as much as a dozen of its rows. */
const ANSWERS_WINDOW_MS = 50;

interface FreezeItem extends FreezeInvoice {
  readonly batchId: string;
  readonly now: number;
}

/** The invoices of a batch that are still to be sent: handing out, freezing, recording answers, holding. */
export function createSending(database: Database) {
  const freeze = createBatcher<FreezeItem, number>({
    keyOf: (item) => item.invoiceId,
    isOutage: isLedgerAway,
    write: (items) => writeFrozen(database, items),
  });
  const recordSends = createBatcher<RecordSend, RecordedSends>({
    keyOf: (item) => item.invoiceId,
    isOutage: isLedgerAway,
    write: (items) => recordAnswers(database, items),
    windowMs: ANSWERS_WINDOW_MS,
  });

  return {
    /**
     * Owned by this batch, `staged` or `sending`, ordinal in [from, to], in ordinal order; that they are handed out is written down. One found `sending` has
     * `mayExist` unless each of its tries is proved not to have reached the service.
     */
    sendable: (batchId: string, from: number, to: number) => sendable(database, [batchId, from, to]),

    /** staged -> sending with frozen bytes, only where this batch owns it and the generation still holds. Returns the invoiceIds that moved. */
    freeze: (batchId: string, items: readonly FreezeInvoice[], now: number): Promise<readonly number[]> =>
      freeze.submit(items.map((item) => ({ ...item, batchId, now }))),

    /** sending -> staged, by the very attempt that froze these invoices and POSTed nothing of them. Returns how many moved. */
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
     * Records answers; then, in a new snapshot, applies events that came before. With a serviceId of another invoice, the invoice becomes `unknown`
     * (`service-id-taken`), and the other one is flagged. They may wait `patienceMs` for others to be written with them, unless one `isLast`.
     */
    async recordSends(
      items: readonly RecordSend[],
      company?: { readonly patienceMs?: number; readonly isLast?: boolean },
    ): Promise<RecordedSends> {
      const recorded = await recordSends.submit(items, company);
      return {
        settled: recorded.flatMap(({ settled }) => settled),
        idsTaken: Math.max(0, ...recorded.map(({ idsTaken }) => idsTaken)),
      };
    },

    /** Counts POSTs that were repeated in this run of the batch, or since an operator last had some sent again in it; returns their number so far. */
    async addRepeats(batchId: string, repeats: number): Promise<number> {
      const [row] = await database.query<{ repeats: number }>(ADD_REPEATS, [batchId, repeats]);
      return row?.repeats ?? 0;
    },

    /** It is `sending` with this generation and key at this moment, and no stored event calls an earlier document of it issued. */
    async isBeingSent(invoiceId: number, generation: number, idempotencyKey: string): Promise<boolean> {
      return (await database.query(IS_BEING_SENT, [invoiceId, generation, idempotencyKey])).length > 0;
    },

    /** staged -> held (or sending -> held when nothing reached the service) for owned invoices of the batch. Returns how many. */
    holdUnsent: (batchId: string, { fencingToken, ...hold }: Hold & { readonly fencingToken?: FencingToken }) =>
      database.transaction(async (queries) => {
        await shareUnderToken(queries, batchId, fencingToken);
        return holdUnsent(queries, batchId, hold);
      }),
  };
}

/** batchId, merchant's NIF or null, page or null, states. */
const OWN_IN_STATES = invoicesOfBatch(`i.owner_batch = $1 AND i.state = ANY($4::text[])
    AND ($2::text IS NULL OR i.merchant_nif = $2) AND ($3::integer IS NULL OR ${onPage('$3::integer')})`);

/** Holds what cannot have reached the service. Returns how many. */
export async function holdUnsent(queries: Queries, batchId: string, hold: Hold): Promise<number> {
  const { reason, unanswered = null, merchantNif = null, page = null, now, andHeld = false } = hold;
  const states = arrayLiteral(['staged', 'sending', ...(andHeld ? ['held'] : [])]);
  const selection = { name: 'hold-unsent', ids: OWN_IN_STATES, params: [batchId, merchantNif, page, states] };
  const command = { kind: 'hold', batchId, reason, unanswered, andHeld, now } as const;
  const changes = await changeInvoices(queries, selection, () => command);
  return changes.filter(({ before, decision }) => before.state !== 'held' && decision.invoice.state === 'held').length;
}

/** batchId, from, to. */
const INTERRUPTED = invoicesOfBatch(`i.ordinal BETWEEN $2 AND $3 AND i.owner_batch = $1 AND i.state = 'sending'`);

/** What is `sending` is written down before it is handed out again. */
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
  return rows.map((row) =>
    sendableInvoice(row.state === 'sending' && !ids.has(row.invoiceId) ? frozenMeanwhile(row) : row),
  );
}

/**
 * An earlier attempt that Temporal has given up froze it after the note: its POST may leave at any moment. It is handed out as it was before, so that this
 * attempt cannot freeze it either; the next round notes it.
 */
function frozenMeanwhile(row: SendableRow): SendableRow {
  return { ...row, state: 'staged', body: null, mayExist: false, mayExistSince: null, errorKept: false };
}

async function writeFrozen(database: Database, given: readonly FreezeItem[]): Promise<ReadonlyMap<number, number>> {
  const items = given.toSorted((a, b) => a.invoiceId - b.invoiceId);
  const batchIds = [...new Set(items.map((item) => item.batchId))];
  const moved = await database.query<{ invoiceId: number }>(FREEZE, [
    column(items, (item) => item.invoiceId),
    column(items, (item) => item.generation),
    column(items, (item) => batchIds.indexOf(item.batchId) + 1),
    arrayLiteral(batchIds),
    column(items, (item) => item.body),
    Math.max(...items.map((item) => item.now)),
    column(items, (item) => item.mayExistSince ?? null),
    column(items, (item) => item.frozenAt ?? null),
  ]);
  return new Map(moved.map((row) => [row.invoiceId, row.invoiceId]));
}

function sendableInvoice({ content, lost, errorKept, earlier, ...row }: SendableRow): SendableInvoice {
  return {
    ...row,
    invoice: JSON.parse(content) as Invoice,
    ...(lost === null ? {} : { lost }),
    ...(errorKept ? { errorKept } : {}),
    ...(earlier === null ? {} : { earlier }),
  };
}
