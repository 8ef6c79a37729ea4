import type { Change } from './sandbox-store.ts';
import type { Statement } from './sql-session.ts';

/**
 * One set statement for each kind of change that occurs, in the order of `KINDS`.
 *
 * A JSON recordset is one parameter whatever the size of the group, and both drivers read it alike.
 */
export function writeStatements(schema: string, changes: readonly Change[]): readonly Statement[] {
  const groups = new Map<Change['kind'], unknown[]>();
  for (const change of changes) {
    const rows = groups.get(change.kind);
    if (rows === undefined) groups.set(change.kind, [rowOf(change)]);
    else rows.push(rowOf(change));
  }
  return KINDS.flatMap((kind) => {
    const rows = groups.get(kind);
    if (rows === undefined) return [];
    return [{ text: SQL[kind].replaceAll('$schema', schema), values: [JSON.stringify(rows)] }];
  });
}

// A delivery may be planned and done in one group, so the order of these matters.
const KINDS = [
  'merchant',
  'invoice',
  'webhook',
  'stored-error',
  'settlement',
  'delivery',
  'delivery-failed',
  'delivery-done',
] as const satisfies readonly Change['kind'][];

function rowOf(change: Change): unknown {
  switch (change.kind) {
    case 'merchant':
      return change.merchant;
    case 'invoice':
      return { ...change.invoice, body: change.body };
    case 'webhook':
      return { ...change.webhook, events: JSON.stringify(change.webhook.events) };
    case 'stored-error':
      return change.storedError;
    case 'settlement':
      return {
        id: change.settlement.invoiceId,
        settledAt: change.settlement.settledAt,
        errorCode: change.settlement.error?.code ?? null,
        errorMessage: change.settlement.error?.message ?? null,
      };
    case 'delivery':
    case 'delivery-failed':
    case 'delivery-done':
      return change.delivery;
  }
}

const SQL: Readonly<Record<Change['kind'], string>> = {
  merchant: `
    insert into $schema.merchant
      (id, application_id, nif, position, idempotency_key, body, body_sha256, created_at)
    select id, "applicationId", nif, position, "idempotencyKey", body, "bodySha256", "createdAt"
    from json_to_recordset($1::text::json) as r (id text, "applicationId" text, nif text, position integer,
      "idempotencyKey" text, body text, "bodySha256" text, "createdAt" bigint)`,
  invoice: `
    insert into $schema.invoice
      (id, application_id, merchant_id, idempotency_key, body, body_sha256, created_at, status)
    select id, "applicationId", "merchantId", "idempotencyKey", body, "bodySha256", "createdAt", status
    from json_to_recordset($1::text::json) as r (id text, "applicationId" text, "merchantId" text,
      "idempotencyKey" text, body text, "bodySha256" text, "createdAt" bigint, status text)`,
  webhook: `
    insert into $schema.webhook (id, application_id, url, events, secret, created_at)
    select id, "applicationId", url, events, secret, "createdAt"
    from json_to_recordset($1::text::json) as r (id text, "applicationId" text, url text, events text,
      secret text, "createdAt" bigint)
    on conflict (id) do update set events = excluded.events, secret = excluded.secret`,
  'stored-error': `
    insert into $schema.stored_error (application_id, idempotency_key, path, body_sha256, created_at)
    select "applicationId", "idempotencyKey", path, "bodySha256", "createdAt"
    from json_to_recordset($1::text::json) as r ("applicationId" text, "idempotencyKey" text, path text,
      "bodySha256" text, "createdAt" bigint)
    on conflict (application_id, idempotency_key) do update
      set path = excluded.path, body_sha256 = excluded.body_sha256, created_at = excluded.created_at`,
  settlement: `
    update $schema.invoice as i
    set status = case when r."errorCode" is null then 'issued' else 'failed' end,
      error_code = r."errorCode", error_message = r."errorMessage", settled_at = r."settledAt"
    from json_to_recordset($1::text::json) as r (id text, "settledAt" bigint, "errorCode" text, "errorMessage" text)
    where i.id = r.id and i.status = 'processing'`,
  delivery: `
    insert into $schema.delivery
      (id, application_id, webhook_id, invoice_id, body, forged, attempts, next_attempt_at)
    select id, "applicationId", "webhookId", "invoiceId", body, forged, attempts, "nextAttemptAt"
    from json_to_recordset($1::text::json) as r (id text, "applicationId" text, "webhookId" text,
      "invoiceId" text, body text, forged boolean, attempts integer, "nextAttemptAt" bigint)`,
  'delivery-failed': `
    update $schema.delivery as d set attempts = r.attempts, next_attempt_at = r."nextAttemptAt"
    from json_to_recordset($1::text::json) as r (id text, attempts integer, "nextAttemptAt" bigint)
    where d.id = r.id`,
  'delivery-done': `
    delete from $schema.delivery as d
    using json_to_recordset($1::text::json) as r (id text)
    where d.id = r.id`,
};
