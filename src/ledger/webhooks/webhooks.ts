import type { RecordDelivery, StoredDeliveries, WebhookLedger, WebhookPlace } from '../../domain/ports/ledger.ts';
import { applyDeliveries } from './apply-deliveries.ts';
import type { Database } from '../database/database.ts';
import { reasonOf } from '../database/reason-of.ts';
import { column } from '../database/array-literal.ts';
import { DELIVERY_TROUBLE } from './delivery-trouble-sql.ts';
import { INSERT_DELIVERIES } from './insert-deliveries-sql.ts';
import { PARKED_DELIVERIES } from './unmatched-deliveries-sql.ts';
import type { ReportedRow } from './reported-failures-sql.ts';
import { REPORTED_FAILURES } from './reported-failures-sql.ts';
import type { UnconfirmedRow } from './unconfirmed-failures-sql.ts';
import { UNCONFIRMED_FAILURES } from './unconfirmed-failures-sql.ts';
import type { EndpointRow } from './webhook-endpoints-sql.ts';
import {
  CLAIM_ENDPOINT,
  END_CLAIM,
  FIND_ENDPOINT,
  INSERT_ENDPOINT,
  KEEP_CLAIM,
  RENEW_ENDPOINT,
  WEBHOOK_SECRETS,
} from './webhook-endpoints-sql.ts';

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

    async parkedDeliveries() {
      const [row] = await database.query<{ parked: number }>(PARKED_DELIVERIES);
      return row?.parked ?? 0;
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
