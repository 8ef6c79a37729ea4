import { z } from 'zod';
import { templateMistake } from './body-template.ts';
import { headerName } from './section-types.ts';

const OWN_HEADERS = new Set([
  ...['authorization', 'idempotency-key', 'content-type', 'content-length', 'host', 'connection', 'expect'],
  ...['transfer-encoding', 'upgrade', 'keep-alive', 'te', 'trailer'],
]);

const path = z
  .string()
  .max(500)
  .regex(/^\/[^\s#]*$/, { error: 'must be a path such as "/v1/invoices", below INVOICING_BASE_URL' });

const body = (kind: 'invoice' | 'merchant' | 'webhook') =>
  z
    .json()
    .nullable()
    .check((context) => {
      const mistake = context.value === null ? null : templateMistake(context.value, kind);
      if (mistake !== null) context.issues.push({ code: 'custom', input: context.value, message: mistake });
    })
    .describe('The body as a template, with {name} for each value; null: as published');

/** How requests are written, beyond what is published. */
export const RequestsSection = z.strictObject({
  headers: z
    .record(
      headerName,
      z
        .string()
        .max(1_000)
        .regex(/^[\t\x20-\x7e]*$/, { error: 'must be printable ASCII' }),
    )
    .refine((headers) => Object.keys(headers).every((name) => !OWN_HEADERS.has(name.toLowerCase())), {
      error: 'must name no header that Lote sets itself (Authorization, Idempotency-Key, Content-Type …)',
    })
    .describe('Headers of every request'),
  contentType: z
    .string()
    .regex(/^application\/(?:[a-z0-9.-]+\+)?json(?:;.*)?$/i, { error: 'must be a JSON media type' })
    .describe('Media type of every body'),
  createInvoice: z.strictObject({ path, body: body('invoice') }),
  getInvoice: z.strictObject({ path: path.refine((text) => text.includes('{id}'), { error: 'must hold {id}' }) }),
  createMerchant: z.strictObject({ path, body: body('merchant') }),
  listMerchants: z.strictObject({ path }),
  registerWebhook: z.strictObject({ path, body: body('webhook') }),
});
