import type { Reason } from '../../domain/invoice.ts';
import { OLDER_LEDGER } from '../../domain/retry-decision.ts';
import { arrayLiteral, column, recordset } from '../sql.ts';
import type { Database, Queries } from '../../database/database.ts';
import { changeFact, changeFactIn, listFacts } from '../facts.ts';
import { changeInvoices } from '../change-invoices.ts';

/** An invoice whose POST is about to leave: its identity in the ledger, and the key of the POST. */
export interface NotedSend {
  readonly identity: string;
  readonly idempotencyKey: string;
}

/** The last key that was used for an invoice without a record in the ledger. */
export interface LostSend extends NotedSend {
  /** When that key was used first, in epoch milliseconds. */
  readonly sentAt: number;
}

/** Number of sends that one statement writes. Lote may have sent for a long time without this ledger. */
const PORTION = 5_000;

/** Key prefix of the facts that say how far this ledger has sent, by scope. */
const POSITION = 'sent ';

/** Parameter: records. A key that was noted before keeps the time of its first use. */
const NOTE_LOST = `/* note-lost-sends */
INSERT INTO lost_send SELECT * FROM json_populate_recordset(NULL::lost_send, $1::text::json)
ON CONFLICT (identity) DO UPDATE SET idempotency_key = excluded.idempotency_key,
  sent_at = CASE WHEN lost_send.idempotency_key = excluded.idempotency_key THEN least(lost_send.sent_at, excluded.sent_at) ELSE excluded.sent_at END`;

/** Parameter: identities. Finds the invoices that the ledger knows. */
const KNOWN = `/* known-lost-sends */
SELECT i.invoice_id, l.idempotency_key
FROM invoice i JOIN lost_send l ON l.identity = i.identity WHERE i.identity = ANY($1::text[])`;

/** Parameter: identities. Forgets the sends of known invoices that are issued, or were sent with the same key: their state says enough, unless it is unsent. */
const FORGET_KNOWN = `/* forget-known-sends */
DELETE FROM lost_send l USING invoice i
WHERE l.identity = ANY($1::text[]) AND i.identity = l.identity
  AND (i.state = 'issued' OR (i.state NOT IN ('staged', 'held') AND i.idempotency_key = l.idempotency_key))`;

/** Parameters: invoiceIds, now. An operator accepts that Lote sends them with their present keys. A POST of an invoice that may exist is still a repeat. */
const ACCEPT_LOST = `/* accept-lost-sends */
UPDATE lost_send l SET idempotency_key = i.idempotency_key, sent_at = $2
FROM invoice i WHERE i.invoice_id = ANY($1::bigint[]) AND l.identity = i.identity`;

const FIND_LOST = `/* find-lost-sends */
SELECT identity, idempotency_key, sent_at FROM lost_send WHERE identity = ANY($1::text[])`;

const OTHER_KEY: Reason = {
  code: OLDER_LEDGER,
  message:
    'The ledger was restored from an older copy, and this invoice was sent under another key after the copy: with other content, or again after a refusal or failure. Look into the reports of that time, or ask the service. If it was not issued, retry it with the accepted risk of a duplicate.',
};

/** Sends of an account, or of invoices, without a record in the ledger. */
interface LostSends {
  readonly positions: ReadonlyMap<string, number>;
  readonly sends: readonly LostSend[];
  readonly now: number;
}

/**
 * The ledger's side of the send log in the reports folder. `scope` names the account (`sendingScope`). A ledger that is
 * behind the log was restored from an older copy, or is new.
 */
export function createSendLog(database: Database) {
  return {
    /** Returns how far this ledger has sent, by scope. */
    sendLogPositions: (): Promise<ReadonlyMap<string, number>> => listFacts<number>(database, POSITION),

    /** Takes the next position of the log, which has reached `reached`. Returns null if the ledger is behind: the caller must not send. */
    advanceSendLog: (scope: string, reached: number): Promise<number | null> =>
      changeFact<number, number | null>(database, POSITION + scope, (position) => {
        if ((position ?? 0) < reached) return [position, null];
        const next = (position ?? 0) + 1;
        return [next, next];
      }),

    /**
     * Records sends that the ledger missed, and the log's positions. Flags known invoices that were sent under another key (`older-ledger`): Lote sends them
     * only if an operator accepts the risk. Remembers the other sends until Lote freezes their invoices. Returns the number of flagged invoices.
     */
    takeLostSends: ({ positions, sends, now }: LostSends): Promise<number> =>
      database.transaction(async (queries) => {
        let flagged = 0;
        for (let from = 0; from < sends.length; from += PORTION) {
          const newly = await takePortion(queries, sends.slice(from, from + PORTION), now);
          flagged += newly;
        }
        for (const [scope, reached] of positions)
          await changeFactIn<number, void>(queries, POSITION + scope, (position) => [
            Math.max(position ?? 0, reached),
            undefined,
          ]);
        return flagged;
      }),

    /**
     * Holds staged invoices that the batch owns, with the flag `older-ledger`. The default reason is for invoices that
     * were sent with another key since the restored copy; give `reason` for invoices that were sent with the same key.
     */
    async holdLost(
      batchId: string,
      invoiceIds: readonly number[],
      { reason = OTHER_KEY, now }: { readonly reason?: Reason | undefined; readonly now: number },
    ): Promise<void> {
      if (invoiceIds.length === 0) return;
      const selection = { name: 'hold-lost-sends', ids: '$1::bigint[]', params: [arrayLiteral(invoiceIds)] };
      await database.transaction((queries) =>
        changeInvoices(queries, selection, () => ({ kind: 'doubt', batchId, reason, now })),
      );
    },
  };
}

async function takePortion(queries: Queries, sends: readonly LostSend[], now: number): Promise<number> {
  const identities = column(sends, (one) => one.identity);
  await queries.query(NOTE_LOST, [recordset(sends)]);
  const known = await queries.query<{ invoiceId: number; idempotencyKey: string }>(KNOWN, [identities]);
  const keys = new Map(known.map(({ invoiceId, idempotencyKey }) => [invoiceId, idempotencyKey]));
  const selection = { name: 'sent-without', ids: '$1::bigint[]', params: [arrayLiteral([...keys.keys()])] };
  const changes = await changeInvoices(queries, selection, (_, { invoiceId }) => {
    const idempotencyKey = keys.get(invoiceId);
    return idempotencyKey === undefined ? null : { kind: 'sent-without', idempotencyKey, reason: OTHER_KEY, now };
  });
  await queries.query(FORGET_KNOWN, [identities]);
  return changes.filter(({ decision }) => decision.invoice.flags.includes(OLDER_LEDGER)).length;
}

/** Returns the sends of these identities that the ledger missed, by identity. */
export async function findLostSends(
  queries: Queries,
  identities: readonly string[],
): Promise<ReadonlyMap<string, LostSend>> {
  if (identities.length === 0) return new Map();
  const rows = await queries.query<LostSend>(FIND_LOST, [arrayLiteral(identities)]);
  return new Map(rows.map((row) => [row.identity, row]));
}

/** Records that an operator accepts the risk that these invoices were sent before. */
export async function acceptLostSends(queries: Queries, invoiceIds: readonly number[], now: number): Promise<void> {
  if (invoiceIds.length > 0) await queries.query(ACCEPT_LOST, [arrayLiteral(invoiceIds), now]);
}
