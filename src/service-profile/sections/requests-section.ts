import { z } from 'zod';
import { templateMistake } from '../body-template.ts';
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
    .describe('template of the body, with `{name}` for each value; `null`: as published');

/** How requests are written, beyond what is published. */
export const RequestsSection = z
  .strictObject({
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
      .describe(
        'headers of every request; not those that Lote sets itself, such as `Authorization` and `Idempotency-Key`',
      ),
    contentType: z
      .string()
      .regex(/^application\/(?:[a-z0-9.-]+\+)?json(?:;.*)?$/i, { error: 'must be a JSON media type' })
      .describe('media type of every body'),
    createInvoice: z
      .strictObject({ path: path.describe('path below `INVOICING_BASE_URL`'), body: body('invoice') })
      .describe('the request that creates an invoice'),
    getInvoice: z
      .strictObject({
        path: path.refine((text) => text.includes('{id}'), { error: 'must hold {id}' }).describe('path with `{id}`'),
      })
      .describe('the request that asks for an invoice'),
    createMerchant: z
      .strictObject({ path: path.describe('path below `INVOICING_BASE_URL`'), body: body('merchant') })
      .describe('the request that creates a merchant'),
    listMerchants: z
      .strictObject({ path: path.describe('path, with a query where one is needed') })
      .describe('the request for the list of merchants'),
    registerWebhook: z
      .strictObject({ path: path.describe('path below `INVOICING_BASE_URL`'), body: body('webhook') })
      .describe('the request that registers the receiver'),
  })
  .describe('how requests are written');
