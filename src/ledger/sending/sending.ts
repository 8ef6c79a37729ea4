import type { AnswerCounts } from '../../domain/answer-counts.ts';
import type { Invoice } from '../../domain/invoice.ts';
import type {
  FreezeInvoice,
  RecordSend,
  SendableInvoice,
  SendingLedger,
  UnsentInvoice,
} from '../../domain/ports/ledger/sending-ledger.ts';
import type { SettledInvoice } from '../../domain/ports/ledger/settling-ledger.ts';
import { FLAGS_AGAINST_POLICY } from '../../domain/retry-decision.ts';
import { shareUnderToken } from '../batches/claim-proof.ts';
import { INVOICE_OF_LINE, SLICE_INVOICES } from '../batches/page-of-sql.ts';
import { HOLD_OTHERWISE, HOLD_UNSENT, LEAVE_UNANSWERED } from './hold-unsent-sql.ts';
import { arrayLiteral, column } from '../database/array-literal.ts';
import { createBatcher } from '../database/batcher.ts';
import type { Database } from '../database/database.ts';
import { isItem, ofItem } from '../database/of-item.ts';
import { fromStates } from '../database/states.ts';
import { applicationOfPastDocument, isOfApplication } from '../settling/same-application-sql.ts';
import { applyPastEvents } from '../settling/settled.ts';
import { holdDoubtful } from './hold-doubtful.ts';
import { recordAnswers } from './record-answers.ts';

const DAY_MS = 86_400_000;

interface SendableRow {
  readonly invoice_id: number;
  readonly ordinal: number;
  readonly generation: number;
  readonly content: string;
  readonly idempotency_key: string;
  readonly state: 'staged' | 'sending';
  readonly body: string | null;
  readonly merchant_id: string | null;
  readonly attempts: number;
  readonly first_sent_at: number | null;
  readonly may_exist: boolean;
  readonly may_exist_since: number | null;
  readonly error_kept: boolean;
}

/**
 * batchId, from, to. Only an exposure `lost` says that the service may have it: tries that were all refused for now
 * prove that it has not. An operator's accepted risk starts the retention window anew.
 */
const SENDABLE = `/* sendable */
SELECT i.invoice_id, bi.ordinal, i.generation, c.content, i.idempotency_key, i.state, body.body, m.merchant_id, i.attempts, i.first_sent_at,
  i.state = 'sending' AND i.exposure = 'lost' AS may_exist,
  CASE WHEN i.state = 'sending' AND i.exposure = 'lost' THEN greatest(body.frozen_at, body.risk_accepted_at) END AS may_exist_since,
  i.state = 'sending' AND coalesce(i.reason_code = 'stored-error', false) AS error_kept
FROM batch_invoice bi
JOIN ${INVOICE_OF_LINE}
JOIN LATERAL (
  SELECT own.content FROM invoice_content own WHERE own.invoice_id = i.invoice_id AND own.generation = i.generation OFFSET 0
) c ON true
LEFT JOIN LATERAL (
  SELECT * FROM invoice_body own
  WHERE i.state = 'sending' AND own.invoice_id = i.invoice_id AND own.generation = i.generation OFFSET 0
) body ON true
LEFT JOIN merchant m ON m.application = i.application AND m.nif = i.merchant_nif
WHERE bi.batch_id = $1 AND bi.ordinal BETWEEN $2 AND $3 AND bi.outcome IS NULL AND i.owner_batch = $1 AND i.state IN ('staged', 'sending')
ORDER BY bi.ordinal`;

/**
 * Arrays by rising invoice id: invoiceId, generation, place of its batch among the next, batchIds, body; now; array: since when it may exist. State
 * and bytes in one statement: no invoice is ever `sending` without its bytes. Bytes of the same generation that were
 * there before belong to a send that is proved never to have reached the service. IS TRUE keeps the planner from joining
 * the moved with the bytes: it takes both for a few rows, and would compare each with each.
 */
const FREEZE = `/* freeze */
WITH moved AS (
  UPDATE invoice i SET state = 'sending', exposure = CASE WHEN ${ofItem('$7::bigint[]', 'i.invoice_id')} IS NULL THEN 'open' ELSE 'lost' END,
    reason_code = NULL, reason_message = NULL, changed_at = $6
  WHERE i.invoice_id = ANY($1::bigint[]) AND ${isItem('i.invoice_id')} AND i.generation = ${ofItem('$2::integer[]', 'i.invoice_id')}
    AND i.owner_batch = ($4::text[])[${ofItem('$3::integer[]', 'i.invoice_id')}] AND i.state IN ${fromStates('freeze')}
  RETURNING i.invoice_id
)
INSERT INTO invoice_body (invoice_id, generation, body, frozen_at)
SELECT u.invoice_id, u.generation, u.body, coalesce(u.since, $6)
FROM unnest($1::bigint[], $2::integer[], $5::text[], $7::bigint[]) AS u(invoice_id, generation, body, since)
WHERE (u.invoice_id IN (SELECT invoice_id FROM moved)) IS TRUE
ON CONFLICT (invoice_id, generation) DO UPDATE SET body = excluded.body, frozen_at = excluded.frozen_at
RETURNING invoice_id`;

/**
 * batchId, now, reason code, reason message, then arrays: invoiceId, generation. Only the attempt that froze an invoice
 * may put it back, and only while nobody else has been handed it: whoever finds it `sending` makes its exposure `lost`,
 * and this statement then passes it over.
 */
const UNFREEZE = `/* unfreeze */
WITH item AS (
  SELECT * FROM unnest($5::bigint[], $6::integer[]) AS u(invoice_id, generation)
), target AS (
  SELECT i.invoice_id
  FROM invoice i JOIN item u ON u.invoice_id = i.invoice_id AND u.generation = i.generation
  WHERE i.invoice_id = ANY($5::bigint[]) AND i.owner_batch = $1 AND i.state IN ${fromStates('unfreeze')} AND i.exposure = 'open'
  ORDER BY i.invoice_id
  FOR UPDATE OF i
)
UPDATE invoice i SET state = 'staged', exposure = 'none', reason_code = $3, reason_message = $4, changed_at = $2
FROM target t
WHERE i.invoice_id = t.invoice_id AND i.state IN ${fromStates('unfreeze')} AND i.exposure = 'open'
RETURNING i.invoice_id`;

/**
 * batchId, first ordinal, last ordinal, reason codes of the retry policy, generations that it allows. What the policy
 * sends again is counted apart: not what only an event called failed, nor what may have another document, nor what has
 * its last generation. Invoices that another batch sends are not counted.
 */
const COUNT_ANSWERS = `/* count-answers */
WITH own AS (
  SELECT i.state, i.state = 'failed' AND i.reason_code = ANY($4::text[]) AND i.generation < $5::integer
    AND NOT i.flags && '{${FLAGS_AGAINST_POLICY.join(',')}}' AS retryable
  FROM batch_invoice bi JOIN ${INVOICE_OF_LINE}
  WHERE bi.batch_id = $1 AND bi.ordinal BETWEEN $2 AND $3 AND bi.outcome IS NULL AND i.owner_batch = $1
)
SELECT
  count(*) FILTER (WHERE state = 'rejected') AS refused,
  count(*) FILTER (WHERE state IN ('accepted', 'issued', 'failed', 'unsettled')) AS accepted,
  count(*) FILTER (WHERE state = 'issued') AS issued,
  count(*) FILTER (WHERE state = 'failed' AND NOT retryable) AS failed,
  count(*) FILTER (WHERE retryable) AS retryable,
  count(*) FILTER (WHERE state = 'accepted') AS pending,
  count(*) FILTER (WHERE state IN ('sending', 'unknown', 'unsettled')) AS unanswered
FROM own`;

/**
 * batchId: by the indexes of what has a reason, and of `failed` events. An event that came a day before its batch began is
 * about none of its invoices, but for one that was sent before that and is tried again: it counts when its page confirms the failure.
 */
const MOST_FAILURES = `/* most-failures */
SELECT count(*) FILTER (WHERE state = 'rejected') AS refused,
  count(*) FILTER (WHERE state = 'failed') + (
    SELECT count(*) FROM batch b
    CROSS JOIN LATERAL (
      SELECT d.service_id FROM delivery d WHERE d.verdict = 'failed' AND d.received_at > b.started_at - ${DAY_MS} OFFSET 0
    ) d
    WHERE b.batch_id = $1 AND (SELECT i.owner_batch FROM invoice i WHERE i.service_id = d.service_id AND i.state = 'accepted') = $1
  ) AS failed
FROM invoice WHERE owner_batch = $1 AND reason_code IS NOT NULL`;

/**
 * batchId, from, to, start of the sending gap or null. An invoice found `sending` was left so: where no answer was written since, a crash may
 * have lost one; where every answer was written, the POST that comes now is open again, unless the ledger does not know all answers. Each leaves its trace in changed_at: what a
 * reconciler that took it before has heard proves nothing any more.
 */
const NOTE_INTERRUPTED_SENDS = `/* note-interrupted-sends */
WITH target AS (
  SELECT i.invoice_id
  FROM invoice i
  WHERE i.invoice_id = ANY(${SLICE_INVOICES})
    AND i.owner_batch = $1 AND i.state = 'sending'
  ORDER BY i.invoice_id
  FOR UPDATE OF i
)
UPDATE invoice i SET exposure = CASE WHEN i.exposure = 'none' AND $4::bigint IS NULL THEN 'open' ELSE 'lost' END, changed_at = i.changed_at + 1
FROM target t
WHERE i.invoice_id = t.invoice_id AND i.state = 'sending'
RETURNING i.invoice_id`;

/**
 * invoiceIds: documents of their earlier generations that a stored event calls issued, and no invoice shows it: who stored it died before it applied it,
 * or has not come to it yet.
 */
const ISSUED_BEFORE = `/* issued-before */
SELECT g.service_id FROM invoice_generation g
WHERE g.invoice_id = ANY($1::bigint[]) AND g.service_id IS NOT NULL AND g.state <> 'issued'
  AND EXISTS (SELECT FROM delivery d WHERE d.service_id = g.service_id AND d.verdict = 'issued'
    AND ${isOfApplication(applicationOfPastDocument('g.service_id'))} OFFSET 0)`;

/** invoiceId, generation. An event about an earlier document counts as soon as it is stored. */
const IS_BEING_SENT = `/* is-being-sent */
SELECT i.invoice_id FROM invoice i
WHERE i.invoice_id = $1 AND i.generation = $2 AND i.state = 'sending'
  AND NOT EXISTS (
    SELECT FROM invoice_generation g JOIN delivery d ON d.service_id = g.service_id
    WHERE g.invoice_id = $1 AND g.state <> 'issued' AND d.verdict = 'issued' AND ${isOfApplication('i.application')} OFFSET 0)`;

/** batchId, limit, first ordinal, merchant's NIF or null: where the first of its unsent invoices stand, but for those of that merchant. */
const FIRST_UNSENT = `/* first-unsent */
SELECT bi.ordinal, i.merchant_nif AS "merchantNif"
FROM batch_invoice bi JOIN ${INVOICE_OF_LINE}
WHERE bi.batch_id = $1 AND bi.ordinal >= $3 AND bi.outcome IS NULL AND i.owner_batch = $1 AND i.state IN ('staged', 'sending')
  AND ($4::text IS NULL OR i.merchant_nif <> $4)
ORDER BY bi.ordinal
LIMIT $2`;

/** batchId, repeats. */
const ADD_REPEATS = `/* add-repeats */
UPDATE batch SET repeats = repeats + $2 WHERE batch_id = $1 RETURNING repeats`;

/** An answer's record holds up nothing but its own lane, and each statement costs as much as a dozen of its rows. */
const ANSWERS_WINDOW_MS = 50;

/** The largest integer of the database: no file has so many invoices. */
const LAST_ORDINAL = 2_147_483_647;

interface FreezeItem extends FreezeInvoice {
  readonly batchId: string;
  readonly now: number;
}

/** What leaves for the service, and what came back. */
export function createSending(database: Database): SendingLedger {
  const freeze = createBatcher<FreezeItem, number>({
    keyOf: (item) => item.invoiceId,
    write: (items) => writeFrozen(database, items),
  });
  const recordSends = createBatcher<RecordSend, readonly SettledInvoice[]>({
    keyOf: (item) => item.invoiceId,
    write: (items) => recordAnswers(database, items),
    windowMs: ANSWERS_WINDOW_MS,
  });

  return {
    sendable: (batchId, from, to, gapSince = null) => sendable(database, [batchId, from, to], gapSince),

    freeze: (batchId, items, now) => freeze(items.map((item) => ({ ...item, batchId, now }))),

    async unfreeze(batchId, invoices, { reason, now }) {
      if (invoices.length === 0) return 0;
      const moved = await database.query(UNFREEZE, [
        ...[batchId, now, reason.code, reason.message],
        column(invoices, (one) => one.invoiceId),
        column(invoices, (one) => one.generation),
      ]);
      return moved.length;
    },

    async recordSends(items, company) {
      return (await recordSends(items, company)).flat();
    },

    async addRepeats(batchId, repeats) {
      const [row] = await database.query<{ repeats: number }>(ADD_REPEATS, [batchId, repeats]);
      return row?.repeats ?? 0;
    },

    async isBeingSent(invoiceId, generation) {
      return (await database.query(IS_BEING_SENT, [invoiceId, generation])).length > 0;
    },

    firstUnsent: (batchId, { limit, from = 1, butOf = null }) =>
      database.query<UnsentInvoice>(FIRST_UNSENT, [batchId, limit, from, butOf]),

    async countAnswers(batchId, { retryableCodes, maxGenerations, from = 1, to = LAST_ORDINAL }) {
      const codes = arrayLiteral(retryableCodes);
      const [row] = await database.query<AnswerCounts>(COUNT_ANSWERS, [batchId, from, to, codes, maxGenerations]);
      if (row === undefined) throw new Error('A count has one row');
      return row;
    },

    async mostFailures(batchId) {
      const [row] = await database.query<{ refused: number; failed: number }>(MOST_FAILURES, [batchId]);
      if (row === undefined) throw new Error('A count has one row');
      return row;
    },

    async holdUnsent(batchId, { reason, unanswered, merchantNif, page, now, fencingToken, andHeld }) {
      const params = [batchId, reason.code, reason.message, now, merchantNif ?? null, page ?? null];
      return database.transaction(async (queries) => {
        await shareUnderToken(queries, batchId, fencingToken);
        if (andHeld === true) await queries.query(HOLD_OTHERWISE, [batchId, reason.code, reason.message, now]);
        if (unanswered !== undefined)
          await queries.query(LEAVE_UNANSWERED, [batchId, unanswered.code, unanswered.message, now]);
        return (await queries.query(HOLD_UNSENT, params)).length;
      });
    },

    holdDoubtful: (...hold) => holdDoubtful(database, ...hold),
  };
}

async function sendable(
  database: Database,
  slice: readonly [batchId: string, from: number, to: number],
  gapSince: number | null,
): Promise<readonly SendableInvoice[]> {
  let rows = await database.query<SendableRow>(SENDABLE, slice);
  if (await applyIssuedBefore(database, rows)) rows = await database.query<SendableRow>(SENDABLE, slice);
  if (rows.some(({ state }) => state === 'sending')) {
    // Written down before they are handed out again, so they are read after that.
    const noted = await database.query<{ invoice_id: number }>(NOTE_INTERRUPTED_SENDS, [...slice, gapSince]);
    const ids = new Set(noted.map((row) => row.invoice_id));
    rows = await database.query<SendableRow>(SENDABLE, slice);
    rows = rows.map((row) => (row.state === 'sending' && !ids.has(row.invoice_id) ? frozenMeanwhile(row) : row));
  }
  const found = rows.map(sendableInvoice);
  return gapSince === null ? found : found.map((one) => inGap(one, gapSince));
}

/**
 * An earlier attempt that Temporal has given up, and that goes on, froze it after the note: its POST may leave at any moment. It is handed out as it was
 * before, so that this attempt cannot freeze it either, and counts it as left: the next round notes it.
 */
function frozenMeanwhile(row: SendableRow): SendableRow {
  return { ...row, state: 'staged', body: null, may_exist: false, may_exist_since: null, error_kept: false };
}

/** Who sent it in the gap froze it then at the earliest. */
function inGap(invoice: SendableInvoice, gapSince: number): SendableInvoice {
  return invoice.state === 'staged' ? { ...invoice, mayExist: true, mayExistSince: gapSince } : invoice;
}

/** A new key makes a second document where the service has issued the first after all. True: something was applied. */
async function applyIssuedBefore(database: Database, rows: readonly SendableRow[]): Promise<boolean> {
  const later = rows.filter(({ generation }) => generation > 1);
  if (later.length === 0) return false;
  const ids = column(later, (row) => row.invoice_id);
  const issued = await database.query<{ service_id: string }>(ISSUED_BEFORE, [ids]);
  await applyPastEvents(
    database,
    issued.map((row) => row.service_id),
  );
  return issued.length > 0;
}

async function writeFrozen(database: Database, given: readonly FreezeItem[]): Promise<ReadonlyMap<number, number>> {
  const items = given.toSorted((a, b) => a.invoiceId - b.invoiceId);
  const batchIds = [...new Set(items.map((item) => item.batchId))];
  const moved = await database.query<{ invoice_id: number }>(FREEZE, [
    column(items, (item) => item.invoiceId),
    column(items, (item) => item.generation),
    column(items, (item) => batchIds.indexOf(item.batchId) + 1),
    arrayLiteral(batchIds),
    column(items, (item) => item.body),
    Math.max(...items.map((item) => item.now)),
    column(items, (item) => item.mayExistSince ?? null),
  ]);
  return new Map(moved.map((row) => [row.invoice_id, row.invoice_id]));
}

function sendableInvoice(row: SendableRow): SendableInvoice {
  return {
    invoiceId: row.invoice_id,
    ordinal: row.ordinal,
    generation: row.generation,
    invoice: JSON.parse(row.content) as Invoice,
    idempotencyKey: row.idempotency_key,
    state: row.state,
    body: row.body,
    merchantId: row.merchant_id,
    attempts: row.attempts,
    firstSentAt: row.first_sent_at,
    mayExist: row.may_exist,
    mayExistSince: row.may_exist_since,
    ...(row.error_kept ? { errorKept: true } : {}),
  };
}
