import type { RecordDelivery, StoredDeliveries, WebhookLedger } from '../domain/ports/ledger.ts';
import { applyDeliveries } from './apply-deliveries.ts';
import type { Database } from './database.ts';
import { reasonOf } from './reason-of.ts';
import { column } from './sql/array-literal.ts';
import { DELIVERY_TROUBLE } from './sql/delivery-trouble.ts';
import { INSERT_DELIVERIES } from './sql/insert-deliveries.ts';
import { PARKED_DELIVERIES } from './sql/parked-deliveries.ts';
import type { UnconfirmedRow } from './sql/unconfirmed-failures.ts';
import { UNCONFIRMED_FAILURES } from './sql/unconfirmed-failures.ts';
import type { EndpointRow } from './sql/webhook-endpoints.ts';
import { FIND_ENDPOINT, SAVE_ENDPOINT, WEBHOOK_SECRETS } from './sql/webhook-endpoints.ts';

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

    async saveEndpoint({ baseUrl, application, url, secret }, now) {
      await database.query(SAVE_ENDPOINT, [baseUrl, application, url, secret, now]);
    },

    async webhookSecrets(baseUrl, application) {
      const rows = await database.query<{ secret: string }>(WEBHOOK_SECRETS, [baseUrl, application]);
      return [...new Set(rows.map((row) => row.secret))];
    },
  };
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
