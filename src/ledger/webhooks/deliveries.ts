import type { DeliveryLedger, RecordDelivery, StoredDeliveries } from '../../domain/ports/ledger/delivery-ledger.ts';
import { column } from '../database/array-literal.ts';
import type { Database } from '../database/database.ts';
import { reasonOf } from '../database/reason-of.ts';
import { applyDeliveries, applyDeliveriesOf } from './apply-deliveries.ts';
import { IS_OF_KNOWN_DOCUMENT } from './known-document-sql.ts';
import {
  REPORTED_FAILURES,
  type ReportedRow,
  UNCONFIRMED_FAILURES,
  type UnconfirmedRow,
} from './unconfirmed-failures-sql.ts';

/** A service that delivers for others too may bring millions: more than this many need not be counted. */
const MOST_COUNTED = 10_000;

/**
 * Since, application (null: of whatever receiver). Correctly signed bytes that could not be read, and final words about
 * service ids that no invoice has, nor ever had.
 */
const DELIVERY_TROUBLE = `/* delivery-trouble */
SELECT
  (SELECT count(*) FROM (
    SELECT FROM delivery WHERE received_at >= $1 AND event_type IS NULL AND ($2::text IS NULL OR application = $2) LIMIT ${MOST_COUNTED}
  ) unreadable) AS unreadable,
  (SELECT count(*) FROM (
    SELECT FROM delivery d
    WHERE d.received_at >= $1 AND d.verdict IS NOT NULL AND ($2::text IS NULL OR d.application = $2) AND NOT ${IS_OF_KNOWN_DOCUMENT}
    LIMIT ${MOST_COUNTED}
  ) strange) AS unknown_ids`;

/** Arrays: sha256, raw (base64), receivedAt, type, eventId, serviceId, verdict, reason code, reason message, application. Known bytes are left out. */
const INSERT_DELIVERIES = `/* insert-deliveries */
INSERT INTO delivery (sha256, raw, received_at, event_type, event_id, service_id, verdict, reason_code, reason_message, application)
SELECT u.sha256, decode(u.raw, 'base64'), u.received_at, u.event_type, u.event_id, u.service_id, u.verdict, u.reason_code, u.reason_message, u.application
FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[]) WITH ORDINALITY
  AS u(sha256, raw, received_at, event_type, event_id, service_id, verdict, reason_code, reason_message, application, place)
ORDER BY u.place
ON CONFLICT (sha256) DO NOTHING
RETURNING sha256`;

/** Arrays: sha256, type, eventId, serviceId, verdict, reason code, reason message. What the profile did not understand when it came first is read now. */
const REREAD_DELIVERIES = `/* reread-deliveries */
UPDATE delivery d SET event_type = u.event_type, event_id = u.event_id, service_id = u.service_id, verdict = u.verdict,
  reason_code = u.reason_code, reason_message = u.reason_message
FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[])
  AS u(sha256, event_type, event_id, service_id, verdict, reason_code, reason_message)
WHERE d.sha256 = ANY($1::text[]) AND d.sha256 = u.sha256 AND d.verdict IS NULL`;

/** Events about service ids that no invoice has, nor ever had. */
const UNMATCHED_DELIVERIES = `/* unmatched-deliveries */
SELECT count(*) AS unmatched FROM delivery d
WHERE d.service_id IS NOT NULL AND d.verdict IS NOT NULL AND NOT ${IS_OF_KNOWN_DOCUMENT}`;

/** Deliveries of the service. */
export function createDeliveries(database: Database): DeliveryLedger {
  return {
    storeDeliveries: (deliveries) => storeDeliveries(database, deliveries),
    applyDeliveries: (serviceIds, application = null) =>
      application === null
        ? applyDeliveries(database, serviceIds)
        : applyDeliveriesOf(database, serviceIds, application),

    async recordDeliveries(deliveries) {
      const stored = await storeDeliveries(database, deliveries);
      return { ...stored, ...(await applyDeliveries(database, serviceIdsOf(deliveries))) };
    },

    async unconfirmedFailures(batchId, page, limit) {
      const rows = await database.query<UnconfirmedRow>(UNCONFIRMED_FAILURES, [batchId, page, limit]);
      return rows.map((row) => ({ invoiceId: row.invoice_id, serviceId: row.service_id, reason: reasonOf(row) }));
    },

    async reportedFailures(batchId, limit) {
      const rows = await database.query<ReportedRow>(REPORTED_FAILURES, [batchId, limit]);
      const invoices = rows.map((row) => ({
        invoiceId: row.invoice_id,
        serviceId: row.service_id,
        reason: reasonOf(row),
        asks: row.asks,
      }));
      return { reported: rows[0]?.reported ?? 0, invoices };
    },

    async unmatchedDeliveries() {
      const [row] = await database.query<{ unmatched: number }>(UNMATCHED_DELIVERIES);
      return row?.unmatched ?? 0;
    },

    async deliveryTrouble(since, application = null) {
      const [row] = await database.query<{ unreadable: number; unknown_ids: number }>(DELIVERY_TROUBLE, [
        since,
        application,
      ]);
      return { unreadable: row?.unreadable ?? 0, unknownIds: row?.unknown_ids ?? 0 };
    },
  };
}

/** The receiver gathers deliveries into groups already: one statement a call. */
async function storeDeliveries(database: Database, deliveries: readonly RecordDelivery[]): Promise<StoredDeliveries> {
  if (deliveries.length === 0) return { stored: 0, duplicates: 0 };
  const stored = await database.query<{ sha256: string }>(INSERT_DELIVERIES, [
    column(deliveries, (one) => one.sha256),
    column(deliveries, (one) => Buffer.from(one.raw).toString('base64')),
    column(deliveries, (one) => one.receivedAt),
    ...eventColumns(deliveries),
    column(deliveries, ({ application }) => application ?? null),
  ]);
  if (stored.length < deliveries.length) await readAgain(database, deliveries, stored);
  return { stored: stored.length, duplicates: deliveries.length - stored.length };
}

/** A sender repeats what was answered when somebody asks it to, such as after the correction of a profile. */
async function readAgain(
  database: Database,
  deliveries: readonly RecordDelivery[],
  stored: readonly { readonly sha256: string }[],
): Promise<void> {
  const fresh = new Set(stored.map(({ sha256 }) => sha256));
  const known = deliveries.filter(({ sha256, event }) => event?.verdict && !fresh.has(sha256));
  if (known.length === 0) return;
  await database.query(REREAD_DELIVERIES, [column(known, (one) => one.sha256), ...eventColumns(known)]);
}

function eventColumns(deliveries: readonly RecordDelivery[]): readonly string[] {
  return [
    column(deliveries, ({ event }) => event?.type ?? null),
    column(deliveries, ({ event }) => event?.eventId ?? null),
    column(deliveries, ({ event }) => event?.serviceId ?? null),
    column(deliveries, ({ event }) => event?.verdict ?? null),
    column(deliveries, ({ event }) => event?.reason?.code ?? null),
    column(deliveries, ({ event }) => event?.reason?.message ?? null),
  ];
}

function serviceIdsOf(deliveries: readonly RecordDelivery[]): readonly string[] {
  return deliveries.flatMap(({ event }) => (event?.verdict && event.serviceId !== null ? [event.serviceId] : []));
}
