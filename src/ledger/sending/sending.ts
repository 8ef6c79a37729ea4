import type { AnswerCounts } from '../../domain/answer-counts.ts';
import type { Invoice } from '../../domain/invoice.ts';
import type {
  FreezeInvoice,
  RecordSend,
  SendableInvoice,
  SendingLedger,
  SettledInvoice,
} from '../../domain/ports/ledger.ts';
import type { Database } from '../database/database.ts';
import { shareUnderToken } from '../batches/claim-proof.ts';
import { createGroupCommit } from '../database/batcher.ts';
import { applyEvents, settledInvoices } from '../settling/settled.ts';
import { arrayLiteral, column } from '../database/array-literal.ts';
import { ADD_REPEATS } from './add-repeats-sql.ts';
import { COUNT_ANSWERS } from './count-answers-sql.ts';
import { FIRST_UNSENT } from './first-unsent-sql.ts';
import { FREEZE } from './freeze-sql.ts';
import { HOLD_UNSENT } from './hold-unsent-sql.ts';
import { NOTE_INTERRUPTED_SENDS } from './note-interrupted-sends-sql.ts';
import type { RecordedSend } from './record-sends-sql.ts';
import { RECORD_SENDS } from './record-sends-sql.ts';
import type { SendableRow } from './sendable-sql.ts';
import { SENDABLE } from './sendable-sql.ts';
import { UNFREEZE } from './unfreeze-sql.ts';
import { isUniqueViolation } from '../database/statement-failure.ts';

/** A writer that took the same service id first is visible to the next try; more than a few such races in a row do not happen. */
const UNIQUE_TRIES = 3;

/** An answer's record holds up nothing but its own lane, and each statement costs as much as a dozen of its rows. */
const ANSWERS_WINDOW_MS = 25;

/** The largest integer of the database: no file has so many invoices. */
const LAST_ORDINAL = 2_147_483_647;

interface FreezeItem extends FreezeInvoice {
  readonly batchId: string;
  readonly now: number;
}

/** What leaves for the service, and what came back. */
export function createSending(database: Database): SendingLedger {
  const freeze = createGroupCommit<FreezeItem, number>({
    keyOf: (item) => item.invoiceId,
    write: (items) => writeFrozen(database, items),
  });
  const recordSends = createGroupCommit<RecordSend, readonly SettledInvoice[]>({
    keyOf: (item) => item.invoiceId,
    write: (items) => writeSends(database, items),
    windowMs: ANSWERS_WINDOW_MS,
  });

  return {
    async sendable(batchId, from, to) {
      await database.query(NOTE_INTERRUPTED_SENDS, [batchId, from, to]);
      return (await database.query<SendableRow>(SENDABLE, [batchId, from, to])).map(sendableInvoice);
    },

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

    async recordSends(items) {
      return (await recordSends(items)).flat();
    },

    async addRepeats(batchId, repeats) {
      const [row] = await database.query<{ repeats: number }>(ADD_REPEATS, [batchId, repeats]);
      return row?.repeats ?? 0;
    },

    async firstUnsent(batchId, limit) {
      return (await database.query<{ ordinal: number }>(FIRST_UNSENT, [batchId, limit])).map(({ ordinal }) => ordinal);
    },

    async countAnswers(batchId, { retryableCodes, maxGenerations, from = 1, to = LAST_ORDINAL }) {
      const codes = arrayLiteral(retryableCodes);
      const [row] = await database.query<AnswerCounts>(COUNT_ANSWERS, [batchId, from, to, codes, maxGenerations]);
      if (row === undefined) throw new Error('A count has one row');
      return row;
    },

    async holdUnsent(batchId, { reason, merchantNif, page, now, fencingToken }) {
      const params = [batchId, reason.code, reason.message, now, merchantNif ?? null, page ?? null];
      return database.transaction(async (queries) => {
        await shareUnderToken(queries, batchId, fencingToken);
        return (await queries.query(HOLD_UNSENT, params)).length;
      });
    },
  };
}

async function writeFrozen(database: Database, items: readonly FreezeItem[]): Promise<ReadonlyMap<number, number>> {
  const moved = await database.query<{ invoice_id: number }>(FREEZE, [
    column(items, (item) => item.invoiceId),
    column(items, (item) => item.generation),
    column(items, (item) => item.batchId),
    column(items, (item) => item.body),
    Math.max(...items.map((item) => item.now)),
  ]);
  return new Map(moved.map((row) => [row.invoice_id, row.invoice_id]));
}

/** Write and commit; then, in a new snapshot, the events that came before the answers; then who must hear of it. */
async function writeSends(
  database: Database,
  items: readonly RecordSend[],
): Promise<ReadonlyMap<number, readonly SettledInvoice[]>> {
  const recorded = await updateSends(database, items);
  const waiting = new Set(
    recorded.filter(({ state }) => state === 'accepted' || state === 'sending').map((row) => row.invoice_id),
  );
  const applied = await applyEvents(
    database,
    items.flatMap(({ outcome }) => (outcome.kind === 'accepted' ? [outcome.serviceId] : [])),
  );
  for (const event of applied) if (event.state !== 'accepted') waiting.delete(event.invoice_id);
  const ids = items.map((item) => item.invoiceId).filter((id) => !waiting.has(id));
  return settledInvoices(database, ids);
}

async function updateSends(database: Database, items: readonly RecordSend[]): Promise<readonly RecordedSend[]> {
  const params = [
    column(items, (item) => item.invoiceId),
    column(items, (item) => item.generation),
    column(items, ({ outcome }) => outcome.kind),
    column(items, ({ outcome }) => (outcome.kind === 'accepted' ? outcome.serviceId : null)),
    column(items, ({ outcome }) => (outcome.kind === 'accepted' ? null : outcome.reason.code)),
    column(items, ({ outcome }) => (outcome.kind === 'accepted' ? null : outcome.reason.message)),
    column(items, (item) => item.attempts),
    column(items, (item) => item.sentAt),
    column(items, ({ outcome }) => outcome.kind === 'unknown' || (outcome.kind === 'pending' && outcome.mayExist)),
    column(items, (item) => item.answeredAt ?? item.sentAt),
    column(items, ({ outcome }) => outcome.kind === 'rejected' && outcome.proven === true),
  ];
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await database.query<RecordedSend>(RECORD_SENDS, params);
    } catch (error) {
      if (attempt >= UNIQUE_TRIES || !isUniqueViolation(error)) throw error;
    }
  }
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
