import { parse, type ParseError } from 'jsonc-parser';
import { z } from 'zod';
import { unspeakable, UnspeakableProfile } from './unspeakable.ts';

const place = z.union([z.string(), z.array(z.string()).min(1)]).readonly();
const noPlace = place.nullable().default(null);
const words = z.array(z.string());

/** Of a service profile: what a service must know to speak as it says, with the published shape as default. */
const SpokenProfile = z.object({
  requests: z
    .object({
      headers: z.record(z.string(), z.string()).default({}),
      contentType: z.string().default('application/json'),
      createInvoice: operation('/v1/invoices'),
      getInvoice: operation('/v1/invoices/{id}'),
      createMerchant: operation('/v1/merchants'),
      listMerchants: operation('/v1/merchants'),
      registerWebhook: operation('/v1/webhooks'),
    })
    .prefault({}),
  answers: z
    .object({
      success: z
        .object({ at: place, is: words.min(1) })
        .nullable()
        .default(null),
      status: noPlace,
      rules: z
        .array(
          z.object({
            status: z.array(z.number()).min(1).optional(),
            code: words.min(1).optional(),
            has: place.optional(),
            means: z.enum(['refused', 'later', 'access', 'mismatch', 'exists', 'lost']),
            id: place.optional(),
          }),
        )
        .default([]),
    })
    .prefault({}),
  error: z.object({ code: place.default('/error/code'), message: place.default('/error/message') }).prefault({}),
  invoice: z
    .object({
      id: place.default('/id'),
      idPrefix: z.string().default('inv_'),
      status: place.default('/status'),
      issued: words.min(1).default(['issued']),
      failed: words.min(1).default(['failed']),
      reasonCode: place.default('/error/code'),
      reasonMessage: place.default('/error/message'),
    })
    .prefault({}),
  merchants: z
    .object({
      createdId: place.default('/id'),
      idPrefix: z.string().default('mrc_'),
      items: place.default('/data'),
      id: place.default('/id'),
      nif: place.default('/nif'),
      paging: z.enum(['cursor', 'link', 'page', 'offset']).default('cursor'),
      nextCursor: place.default('/next_cursor'),
      cursorParameter: z.string().default('cursor'),
      nextLink: place.default(['/links/next', 'header:Link']),
      pageParameter: z.string().default('page'),
      firstPage: z.number().default(1),
      offsetParameter: z.string().default('offset'),
      sizeParameter: z.string().nullable().default(null),
      pageSize: z.number().int().positive().nullable().default(null),
      total: noPlace,
      pages: noPlace,
      more: noPlace,
    })
    .prefault({}),
  webhook: z.object({ register: z.boolean().default(true), secret: place.default('/secret') }).prefault({}),
  signature: z
    .object({
      kind: z.enum(['hmac', 'token', 'basic', 'path']).default('hmac'),
      header: z.string().default('X-Service-Signature'),
      algorithm: z.enum(['sha1', 'sha256', 'sha384', 'sha512']).default('sha256'),
      encoding: z.enum(['hex', 'base64', 'base64url']).default('hex'),
      prefix: z.string().default(''),
      separator: z.string().default(''),
      signed: z.string().default('{body}'),
      timestamp: z.string().nullable().default(null),
      secret: z
        .object({
          prefix: z.string().default(''),
          encoding: z.enum(['text', 'base64', 'base64url', 'hex']).default('text'),
        })
        .prefault({}),
    })
    .prefault({}),
  event: z
    .object({
      payload: z
        .object({ at: place, encoding: z.enum(['base64', 'text']) })
        .nullable()
        .default(null),
      items: noPlace,
      type: place.default('/type'),
      issued: words.min(1).default(['invoice.issued']),
      failed: words.min(1).default(['invoice.failed']),
      invoiceId: place.default('/data/id'),
      eventId: place.default('/id'),
      reasonCode: place.default('/data/error/code'),
      reasonMessage: place.default('/data/error/message'),
    })
    .prefault({}),
  idempotency: z.object({ mismatchCodes: words.default(['idempotency_mismatch']) }).prefault({}),
});

/** What the sandbox reads of a service profile. */
export type SpokenProfile = z.output<typeof SpokenProfile>;

/**
 * Reads a profile's text, with comments and trailing commas; keys that mean nothing to a service are passed over.
 * @throws UnspeakableProfile when it is no JSON, or holds something else than a profile.
 */
export function parseSpokenProfile(text: string): SpokenProfile {
  const errors: ParseError[] = [];
  const document: unknown = parse(text.replace(/^\u{feff}/u, ''), errors, { allowTrailingComma: true });
  const empty = text.trim() === '';
  if (errors.length > 0 && !empty)
    throw new UnspeakableProfile([unspeakable('it must be JSON, with comments allowed.')]);
  const result = SpokenProfile.safeParse(empty ? {} : document);
  if (result.success) return result.data;
  throw new UnspeakableProfile(
    result.error.issues.map(({ path, message }) => unspeakable(`${path.join('.') || 'The file'}: ${message}.`)),
  );
}

function operation(path: string) {
  return z.object({ path: z.string().default(path), body: z.json().default(null) }).prefault({});
}
