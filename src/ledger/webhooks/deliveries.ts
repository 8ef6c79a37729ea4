import type { Reason } from '../../domain/invoice.ts';
import { isOfPage, column } from '../sql.ts';
import { type Database, onlyRow } from '../../database/database.ts';
import { applyEvents, openDocuments, type OpenDocument, type SettledInvoice } from '../settling/settling.ts';

/** A stored webhook delivery with a valid signature. `receivedAt` is epoch milliseconds. */
export interface RecordDelivery {
  /** SHA-256 (hex) of the delivery and of the values that distinguish its events: duplicates are stored once. */
  readonly sha256: string;
  readonly raw: Uint8Array;
  readonly receivedAt: number;
  /** Null if correctly signed but unreadable: such a delivery is stored and causes an alert in the report. */
  readonly event: {
    readonly type: string;
    readonly eventId: string | null;
    readonly serviceId: string | null;
    /** From the profile; null for an event type without a final word. */
    readonly verdict: 'issued' | 'failed' | null;
    readonly reason: Reason | null;
  } | null;
}

/** The changes from stored deliveries, and the invoices to poll now. */
export interface AppliedDeliveries {
  readonly settled: readonly SettledInvoice[];
  readonly toConfirm: readonly OpenDocument[];
}

/** Deliveries that an operator should check. Each number is at most 10,000. */
export interface DeliveryTrouble {
  /** Correctly signed, but neither an event nor JSON. */
  readonly unreadable: number;
  /** Final words about service ids that no invoice has or had. */
  readonly unknownIds: number;
  /** True if an invoice of the batches since then has no answer or was refused: an event with an unknown id may be about it. */
  readonly isAnswerMissing: boolean;
}

/** A service with other customers may send millions; a higher count is not useful. */
const MOST_COUNTED = 10_000;

/** Parameter: since. Counts signed but unreadable deliveries, and final words about service ids that no invoice has or had. */
const DELIVERY_TROUBLE = `/* delivery-trouble */
SELECT
  (SELECT count(*) FROM (
    SELECT FROM delivery WHERE received_at >= $1 AND event_type IS NULL LIMIT ${MOST_COUNTED}
  ) unreadable) AS unreadable,
  (SELECT count(*) FROM (
    SELECT FROM delivery d
    WHERE d.received_at >= $1 AND d.verdict IS NOT NULL AND d.service_id IS NOT NULL
      AND NOT EXISTS (SELECT FROM document own WHERE own.service_id = d.service_id OFFSET 0)
    LIMIT ${MOST_COUNTED}
  ) strange) AS unknown_ids,
  EXISTS (
    SELECT FROM batch b JOIN invoice i ON i.owner_batch = b.batch_id AND i.reason_code IS NOT NULL
    WHERE b.started_at >= $1 AND i.state IN ('unknown', 'rejected')
  ) AS is_answer_missing`;

/**
 * Parameters (arrays): sha256, raw (base64, only unreadable ones), receivedAt, type, eventId, serviceId, verdict, reason code, reason message. If the
 * profile did not understand stored bytes before, a delivery with the same bytes replaces the reading: a sender repeats a delivery on request.
 */
const INSERT_DELIVERIES = `/* insert-deliveries */
INSERT INTO delivery AS known (sha256, raw, received_at, event_type, event_id, service_id, verdict, reason_code, reason_message)
SELECT u.sha256, decode(u.raw, 'base64'), u.received_at, u.event_type, u.event_id, u.service_id, u.verdict, u.reason_code, u.reason_message
FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[]) WITH ORDINALITY
  AS u(sha256, raw, received_at, event_type, event_id, service_id, verdict, reason_code, reason_message, place)
ORDER BY u.place
ON CONFLICT (sha256) DO UPDATE SET event_type = excluded.event_type, event_id = excluded.event_id, service_id = excluded.service_id,
  verdict = excluded.verdict, reason_code = excluded.reason_code, reason_message = excluded.reason_message
WHERE known.verdict IS NULL AND excluded.verdict IS NOT NULL`;

/** Parameters: batchId, limit. Takes a random sample, so that invoices that the service never confirms do not keep other invoices from being polled. */
const REPORTED_FAILURES = `/* reported-failures */${openDocuments('live_line i', 'i', ', i.asks, count(*) OVER () AS reported')}
WHERE i.batch_id = $1 AND i.owner_batch = $1 AND i.state = 'accepted' AND event.seq IS NOT NULL
ORDER BY random()
LIMIT $2`;

const UNCONFIRMED_FAILURES = `/* unconfirmed-failures */${openDocuments('live_line i', 'i')}
WHERE ${isOfPage()} AND i.state = 'accepted' AND event.seq IS NOT NULL
ORDER BY i.asks, i.ordinal
LIMIT $3`;

/** Stores deliveries of the service as they came, then applies them. */
export function createDeliveries(database: Database) {
  return {
    /** Stores the deliveries and commits. `pageProgress` applies those that are not applied afterwards. */
    storeDeliveries: (deliveries: readonly RecordDelivery[]) => storeDeliveries(database, deliveries),

    /** Applies stored events about these service ids, in a new snapshot. `recordSends` applies those about ids that are still unknown. */
    async applyDeliveries(serviceIds: readonly string[]): Promise<AppliedDeliveries> {
      const { settled, toConfirm } = await applyEvents(database, [...new Set(serviceIds)]);
      return { settled: [...settled.values()].flat(), toConfirm };
    },

    /** Returns accepted invoices with a stored `failed` event that no GET has confirmed. */
    unconfirmedFailures: (batchId: string, page: number, limit: number) =>
      database.query<OpenDocument>(UNCONFIRMED_FAILURES, [batchId, page, limit]),

    /** As `unconfirmedFailures` for all invoices that the batch owns: a random sample of at most `limit`. `reported` is their total number. */
    async reportedFailures(batchId: string, limit: number) {
      const rows = await database.query<OpenDocument & { asks: number; reported: number }>(REPORTED_FAILURES, [
        batchId,
        limit,
      ]);
      return { reported: rows[0]?.reported ?? 0, invoices: rows };
    },

    /** Counts deliveries received since `since` (epoch milliseconds) that an operator should check. */
    deliveryTrouble: async (since: number): Promise<DeliveryTrouble> =>
      onlyRow(await database.query<DeliveryTrouble>(DELIVERY_TROUBLE, [since])),
  };
}

/** Runs one statement for each call, because the receiver already groups deliveries. One statement must not touch a row twice. */
async function storeDeliveries(database: Database, deliveries: readonly RecordDelivery[]): Promise<void> {
  if (deliveries.length === 0) return;
  const different = [...new Map(deliveries.map((one) => [one.sha256, one])).values()];
  await database.query(INSERT_DELIVERIES, [
    column(different, (one) => one.sha256),
    column(different, (one) => (one.event === null ? Buffer.from(one.raw).toString('base64') : null)),
    column(different, (one) => one.receivedAt),
    column(different, ({ event }) => event?.type ?? null),
    column(different, ({ event }) => event?.eventId ?? null),
    column(different, ({ event }) => event?.serviceId ?? null),
    column(different, ({ event }) => event?.verdict ?? null),
    column(different, ({ event }) => event?.reason?.code ?? null),
    column(different, ({ event }) => event?.reason?.message ?? null),
  ]);
}
