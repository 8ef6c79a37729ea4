import type { RecordDelivery, StoredDeliveries, WebhookLedger, WebhookPlace } from '../../domain/ports/ledger.ts';
import { column } from '../database/array-literal.ts';
import { CLOCK } from '../database/clock.ts';
import type { Database } from '../database/database.ts';
import { reasonOf } from '../database/reason-of.ts';
import { applyDeliveries } from './apply-deliveries.ts';
import {
  REPORTED_FAILURES,
  type ReportedRow,
  UNCONFIRMED_FAILURES,
  type UnconfirmedRow,
} from './unconfirmed-failures-sql.ts';

interface EndpointRow {
  readonly base_url: string;
  readonly application: string;
  readonly url: string;
  readonly secret: string | null;
}

/** baseUrl, application, url. */
const FIND_ENDPOINT = `/* find-endpoint */
SELECT base_url, application, url, secret FROM webhook_endpoint WHERE base_url = $1 AND application = $2 AND url = $3
ORDER BY registered_at DESC, seq DESC LIMIT 1`;

/** baseUrl, application, url, secret, now. The same secret again is the same endpoint. */
const RENEW_ENDPOINT = `/* renew-endpoint */
UPDATE webhook_endpoint SET registered_at = $5
WHERE base_url = $1 AND application = $2 AND url = $3 AND secret IS NOT DISTINCT FROM $4::text
RETURNING seq`;

/** baseUrl, application, url, secret, now. */
const INSERT_ENDPOINT = `/* insert-endpoint */
INSERT INTO webhook_endpoint (base_url, application, url, secret, registered_at) VALUES ($1, $2, $3, $4, $5)`;

/** baseUrl, application; newest first. */
const WEBHOOK_SECRETS = `/* webhook-secrets */
SELECT secret FROM webhook_endpoint
WHERE base_url = $1 AND application = $2 AND secret IS NOT NULL
ORDER BY registered_at DESC, seq DESC`;

/** baseUrl, application, url, claimant, time to live. A claim that ran out is one that a crash ended, before its POST or after. */
const CLAIM_ENDPOINT = `/* claim-endpoint */
INSERT INTO webhook_claim AS c (base_url, application, url, claimant, expires_at, unanswered)
VALUES ($1, $2, $3, $4, ${CLOCK} + $5::integer, 1)
ON CONFLICT (base_url, application, url) DO UPDATE SET claimant = excluded.claimant, expires_at = excluded.expires_at,
  unanswered = c.unanswered + 1
WHERE c.claimant IS NULL OR c.expires_at < ${CLOCK}
RETURNING unanswered - 1 AS before`;

/** baseUrl, application, url, claimant, time to live. */
const KEEP_CLAIM = `/* keep-endpoint-claim */
UPDATE webhook_claim SET expires_at = ${CLOCK} + $5::integer
WHERE base_url = $1 AND application = $2 AND url = $3 AND claimant = $4`;

/** baseUrl, application, url, claimant, answered. A claimant that was given up for dead has its answer counted all the same. */
const END_CLAIM = `/* end-endpoint-claim */
UPDATE webhook_claim SET unanswered = unanswered - $5::integer,
  claimant = CASE WHEN claimant = $4 THEN NULL ELSE claimant END
WHERE base_url = $1 AND application = $2 AND url = $3`;

/** A service that delivers for others too may bring millions: more than this many need not be counted. */
const MOST_COUNTED = 10_000;

/** Since. Correctly signed bytes that could not be read, and final words about service ids that no invoice has, nor ever had. */
const DELIVERY_TROUBLE = `/* delivery-trouble */
SELECT
  (SELECT count(*) FROM (
    SELECT FROM delivery WHERE received_at >= $1 AND event_type IS NULL LIMIT ${MOST_COUNTED}
  ) unreadable) AS unreadable,
  (SELECT count(*) FROM (
    SELECT FROM delivery d
    WHERE d.received_at >= $1 AND d.verdict IS NOT NULL
      AND NOT EXISTS (SELECT FROM invoice i WHERE i.service_id = d.service_id)
      AND NOT EXISTS (SELECT FROM invoice_generation g WHERE g.service_id = d.service_id)
    LIMIT ${MOST_COUNTED}
  ) strange) AS unknown_ids`;

/** Arrays: sha256, raw (base64), receivedAt, type, eventId, serviceId, verdict, reason code, reason message. Known bytes are left out. */
const INSERT_DELIVERIES = `/* insert-deliveries */
INSERT INTO delivery (sha256, raw, received_at, event_type, event_id, service_id, verdict, reason_code, reason_message)
SELECT u.sha256, decode(u.raw, 'base64'), u.received_at, u.event_type, u.event_id, u.service_id, u.verdict, u.reason_code, u.reason_message
FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[]) WITH ORDINALITY
  AS u(sha256, raw, received_at, event_type, event_id, service_id, verdict, reason_code, reason_message, place)
ORDER BY u.place
ON CONFLICT (sha256) DO NOTHING
RETURNING sha256`;

/** Events about service ids that no invoice has, nor ever had. */
const UNMATCHED_DELIVERIES = `/* unmatched-deliveries */
SELECT count(*) AS unmatched FROM delivery d
WHERE d.service_id IS NOT NULL AND d.verdict IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM invoice i WHERE i.service_id = d.service_id)
  AND NOT EXISTS (SELECT 1 FROM invoice_generation g WHERE g.service_id = d.service_id)`;

/** Deliveries of the service, and where they are sent to. */
export function createWebhooks(database: Database): WebhookLedger {
  return {
    storeDeliveries: (deliveries) => storeDeliveries(database, deliveries),
    applyDeliveries: (serviceIds) => applyDeliveries(database, serviceIds),

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

    async deliveryTrouble(since) {
      const [row] = await database.query<{ unreadable: number; unknown_ids: number }>(DELIVERY_TROUBLE, [since]);
      return { unreadable: row?.unreadable ?? 0, unknownIds: row?.unknown_ids ?? 0 };
    },

    async findEndpoint(baseUrl, application, url) {
      const [row] = await database.query<EndpointRow>(FIND_ENDPOINT, [baseUrl, application, url]);
      return row === undefined
        ? null
        : { baseUrl: row.base_url, application: row.application, url: row.url, secret: row.secret };
    },

    async claimEndpoint(place, { claimant, ttlMs }) {
      return database.transaction(async (queries) => {
        const [claim] = await queries.query<{ before: number }>(CLAIM_ENDPOINT, [...idOf(place), claimant, ttlMs]);
        // Looked for after the claim: who had it before may have registered until then.
        const [known] = await queries.query<EndpointRow>(FIND_ENDPOINT, idOf(place));
        if (known !== undefined) {
          if (claim !== undefined) await queries.query(END_CLAIM, [...idOf(place), claimant, 1]);
          return { kind: 'registered' };
        }
        return claim === undefined ? { kind: 'taken' } : { kind: 'claimed', unanswered: claim.before };
      });
    },

    async keepEndpointClaim(place, { claimant, ttlMs }) {
      await database.query(KEEP_CLAIM, [...idOf(place), claimant, ttlMs]);
    },

    async endEndpointClaim(place, { claimant, answered }) {
      await database.query(END_CLAIM, [...idOf(place), claimant, answered ? 1 : 0]);
    },

    async saveEndpoint(endpoint, now) {
      const values = [...idOf(endpoint), endpoint.secret, now];
      await database.transaction(async (queries) => {
        const renewed = await queries.query(RENEW_ENDPOINT, values);
        if (renewed.length === 0) await queries.query(INSERT_ENDPOINT, values);
      });
    },

    async webhookSecrets(baseUrl, application) {
      const rows = await database.query<{ secret: string }>(WEBHOOK_SECRETS, [baseUrl, application]);
      return [...new Set(rows.map((row) => row.secret))];
    },
  };
}

function idOf({ baseUrl, application, url }: WebhookPlace): readonly [string, string, string] {
  return [baseUrl, application, url];
}

/** The receiver gathers deliveries into groups already: one statement a call. */
async function storeDeliveries(database: Database, deliveries: readonly RecordDelivery[]): Promise<StoredDeliveries> {
  if (deliveries.length === 0) return { stored: 0, duplicates: 0 };
  const stored = await database.query(INSERT_DELIVERIES, [
    column(deliveries, (one) => one.sha256),
    column(deliveries, (one) => Buffer.from(one.raw).toString('base64')),
    column(deliveries, (one) => one.receivedAt),
    column(deliveries, ({ event }) => event?.type ?? null),
    column(deliveries, ({ event }) => event?.eventId ?? null),
    column(deliveries, ({ event }) => event?.serviceId ?? null),
    column(deliveries, ({ event }) => event?.verdict ?? null),
    column(deliveries, ({ event }) => event?.reason?.code ?? null),
    column(deliveries, ({ event }) => event?.reason?.message ?? null),
  ]);
  return { stored: stored.length, duplicates: deliveries.length - stored.length };
}

function serviceIdsOf(deliveries: readonly RecordDelivery[]): readonly string[] {
  return deliveries.flatMap(({ event }) => (event?.verdict && event.serviceId !== null ? [event.serviceId] : []));
}
