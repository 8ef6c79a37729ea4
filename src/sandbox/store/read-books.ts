import { z } from 'zod';
import { EVENT_TYPES } from '../records.ts';
import type { StoredBooks } from './sandbox-store.ts';
import type { Row, SqlSession } from './sql-session.ts';

/** Reads everything that a starting sandbox must know. */
export async function readBooks(session: SqlSession, schema: string): Promise<StoredBooks> {
  async function read<T>(text: string, row: z.ZodType<T>): Promise<readonly T[]> {
    const rows: readonly Row[] = await session.query({ text: text.replaceAll('$schema', schema), values: [] });
    return rows.map((each) => row.parse(each));
  }
  const processing = await read(PROCESSING_BODIES, z.object({ id: z.string(), body: z.string() }));
  return {
    merchants: await read(MERCHANTS, merchantRow),
    invoices: await read(INVOICES, invoiceRow),
    processingBodies: new Map(processing.map(({ id, body }) => [id, body])),
    webhooks: await read(WEBHOOKS, webhookRow),
    storedErrors: await read(STORED_ERRORS, storedErrorRow),
    deliveries: await read(DELIVERIES, deliveryRow),
  };
}

// float8: a bigint would arrive as a string from one driver and as a number from the other; milliseconds fit exactly.
const MERCHANTS = `
  select id, application_id as "applicationId", nif, position, idempotency_key as "idempotencyKey", body,
    body_sha256 as "bodySha256", created_at::float8 as "createdAt"
  from $schema.merchant order by application_id, position`;
const INVOICES = `
  select id, application_id as "applicationId", merchant_id as "merchantId", idempotency_key as "idempotencyKey",
    body_sha256 as "bodySha256", created_at::float8 as "createdAt", status, error_code as "errorCode",
    error_message as "errorMessage", settled_at::float8 as "settledAt"
  from $schema.invoice order by created_at, id`;
const PROCESSING_BODIES = `select id, body from $schema.invoice where status = 'processing'`;
const WEBHOOKS = `
  select id, application_id as "applicationId", url, events, secret, created_at::float8 as "createdAt"
  from $schema.webhook order by created_at, id`;
const STORED_ERRORS = `
  select application_id as "applicationId", idempotency_key as "idempotencyKey", path,
    body_sha256 as "bodySha256", created_at::float8 as "createdAt"
  from $schema.stored_error order by created_at`;
const DELIVERIES = `
  select id, application_id as "applicationId", webhook_id as "webhookId", invoice_id as "invoiceId", body, forged,
    attempts, next_attempt_at::float8 as "nextAttemptAt"
  from $schema.delivery order by next_attempt_at, id`;

const merchantRow = z.object({
  id: z.string(),
  applicationId: z.string(),
  nif: z.string(),
  position: z.number(),
  idempotencyKey: z.string().nullable(),
  body: z.string(),
  bodySha256: z.string(),
  createdAt: z.number(),
});

const invoiceRow = z
  .object({
    id: z.string(),
    applicationId: z.string(),
    merchantId: z.string(),
    idempotencyKey: z.string().nullable(),
    bodySha256: z.string(),
    createdAt: z.number(),
    status: z.enum(['processing', 'issued', 'failed']),
    errorCode: z.string().nullable(),
    errorMessage: z.string().nullable(),
    settledAt: z.number().nullable(),
  })
  .transform(({ errorCode, errorMessage, ...invoice }) => ({
    ...invoice,
    error: errorCode === null ? null : { code: errorCode, message: errorMessage ?? '' },
  }));

const webhookRow = z
  .object({
    id: z.string(),
    applicationId: z.string(),
    url: z.string(),
    events: z.string(),
    secret: z.string(),
    createdAt: z.number(),
  })
  .transform((webhook) => ({ ...webhook, events: z.array(z.enum(EVENT_TYPES)).parse(JSON.parse(webhook.events)) }));

const storedErrorRow = z.object({
  applicationId: z.string(),
  idempotencyKey: z.string(),
  path: z.string(),
  bodySha256: z.string(),
  createdAt: z.number(),
});

const deliveryRow = z.object({
  id: z.string(),
  applicationId: z.string(),
  webhookId: z.string(),
  invoiceId: z.string(),
  body: z.string(),
  forged: z.boolean(),
  attempts: z.number(),
  nextAttemptAt: z.number(),
});
