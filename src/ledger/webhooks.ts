import type { DeliveryResult, RecordDelivery, SettledInvoice, WebhookLedger } from '../domain/ports/ledger.ts';
import type { Database } from './database.ts';
import { createGroupCommit } from './group-commit.ts';
import { reasonOf } from './reason-of.ts';
import { applyEvents, applyPastEvents, settledInvoices } from './settled.ts';
import { column } from './sql/array-literal.ts';
import { INSERT_DELIVERIES } from './sql/insert-deliveries.ts';
import { PARKED_DELIVERIES } from './sql/parked-deliveries.ts';
import type { UnconfirmedRow } from './sql/unconfirmed-failures.ts';
import { UNCONFIRMED_FAILURES } from './sql/unconfirmed-failures.ts';
import type { EndpointRow } from './sql/webhook-endpoints.ts';
import { FIND_ENDPOINT, SAVE_ENDPOINT, WEBHOOK_SECRETS } from './sql/webhook-endpoints.ts';

/** What one delivery did. */
interface DeliveryOutcome {
  readonly stored: boolean;
  readonly settled: readonly SettledInvoice[];
  readonly toConfirm: { readonly invoiceId: number; readonly serviceId: string } | null;
}

/** Deliveries of the service, and where they are sent to. */
export function createWebhooks(database: Database): WebhookLedger {
  const recordDeliveries = createGroupCommit<RecordDelivery, DeliveryOutcome>({
    keyOf: (delivery) => delivery.sha256,
    write: (deliveries) => writeDeliveries(database, deliveries),
  });

  return {
    async recordDeliveries(deliveries) {
      return summary(await recordDeliveries(deliveries));
    },

    async unconfirmedFailures(batchId, page, limit) {
      const rows = await database.query<UnconfirmedRow>(UNCONFIRMED_FAILURES, [batchId, page, limit]);
      return rows.map((row) => ({ invoiceId: row.invoice_id, serviceId: row.service_id, reason: reasonOf(row) }));
    },

    async parkedDeliveries() {
      const [row] = await database.query<{ parked: number }>(PARKED_DELIVERIES);
      return row?.parked ?? 0;
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

/** Store and commit; then apply in a new snapshot. A repeated delivery applies again: the first may have died in between. */
async function writeDeliveries(
  database: Database,
  deliveries: readonly RecordDelivery[],
): Promise<ReadonlyMap<string, DeliveryOutcome>> {
  const stored = new Set((await insertDeliveries(database, deliveries)).map((row) => row.sha256));
  const serviceIds = [
    ...new Set(
      deliveries.flatMap(({ event }) => (event?.verdict && event.serviceId !== null ? [event.serviceId] : [])),
    ),
  ];
  const applied = new Map((await applyEvents(database, serviceIds)).map((row) => [row.service_id, row]));
  const past = await applyPastEvents(
    database,
    serviceIds.filter((id) => !applied.has(id)),
  );
  const settled = await settledInvoices(
    database,
    [...applied.values()].filter((row) => row.state !== 'accepted').map((row) => row.invoice_id),
  );

  return new Map(deliveries.map((delivery) => [delivery.sha256, outcomeOf(delivery)]));

  function outcomeOf({ sha256, event }: RecordDelivery): DeliveryOutcome {
    const isStored = stored.has(sha256);
    if (!event?.verdict || event.serviceId === null) return { stored: isStored, settled: [], toConfirm: null };
    const row = applied.get(event.serviceId);
    if (row === undefined) return { stored: isStored, settled: past.get(event.serviceId) ?? [], toConfirm: null };
    const toConfirm = row.to_confirm ? { invoiceId: row.invoice_id, serviceId: row.service_id } : null;
    return { stored: isStored, settled: row.to_confirm ? [] : (settled.get(row.invoice_id) ?? []), toConfirm };
  }
}

function insertDeliveries(
  database: Database,
  deliveries: readonly RecordDelivery[],
): Promise<readonly { readonly sha256: string }[]> {
  return database.query<{ sha256: string }>(INSERT_DELIVERIES, [
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
}

/** Several deliveries about one invoice settle it, and ask for its confirmation, once. */
function summary(outcomes: readonly DeliveryOutcome[]): DeliveryResult {
  const stored = outcomes.filter((outcome) => outcome.stored).length;
  const settled = new Map(
    outcomes.flatMap((outcome) => outcome.settled).map((one) => [`${one.ordinal} ${one.batchId}`, one]),
  );
  const toConfirm = new Map(
    outcomes.flatMap(({ toConfirm: one }) => (one === null ? [] : [[one.invoiceId, one] as const])),
  );
  return {
    stored,
    duplicates: outcomes.length - stored,
    settled: [...settled.values()],
    toConfirm: [...toConfirm.values()],
  };
}
