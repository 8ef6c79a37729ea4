import { z } from 'zod';
import { LoteError } from '../domain/errors.ts';
import { isJsonPointer } from '../domain/json-pointer.ts';
import { isPlainObject } from './plain-object.ts';

const pointer = z
  .string()
  .refine(isJsonPointer, { error: 'must be a JSON Pointer such as "/data/id" ("" is the whole document)' });
const words = z.array(z.string().min(1));
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

const ServiceProfile = z.strictObject({
  environment: z.enum(['test', 'live']).nullable(),
  /** A key that is not a test key may go over plain http to another machine: whoever is on the way can read it. */
  allowPlainHttp: z.boolean(),
  signature: z.strictObject({
    header: z.string().regex(HEADER_NAME, { error: 'must be a header name' }),
    algorithm: z.enum(['sha1', 'sha256', 'sha384', 'sha512']),
    encoding: z.enum(['hex', 'base64']),
    prefix: z.string().max(64),
  }),
  event: z.strictObject({
    type: pointer,
    invoiceId: pointer,
    eventId: pointer,
    reasonCode: pointer,
    reasonMessage: pointer,
  }),
  invoice: z.strictObject({
    id: pointer,
    status: pointer,
    issued: words.min(1),
    failed: words.min(1),
    reasonCode: pointer,
    reasonMessage: pointer,
  }),
  merchants: z.strictObject({
    createdId: pointer,
    items: pointer,
    id: pointer,
    nif: pointer,
    nextCursor: pointer,
    cursorParameter: z.string().min(1),
    /** Keys of a list's answer that look like paging and are not. */
    notPaging: words,
  }),
  webhook: z.strictObject({ secret: pointer }),
  error: z.strictObject({ code: pointer, message: pointer }),
  idempotency: z.strictObject({
    retentionHours: z.number().positive(),
    mismatchCodes: words,
    /** A POST under a key that has created an invoice is answered with that invoice, never with a refusal. */
    refusedRepeatIsProof: z.boolean(),
  }),
  limits: z.strictObject({
    requestsPerSecond: z.number().positive().nullable(),
    maxConcurrency: z.number().int().min(1).max(1_000),
  }),
  retry: z.strictObject({
    failedReasonCodes: words,
    maxGenerations: z.number().int().min(1).max(100),
    /** POSTs that a batch may repeat for each of its invoices, on average. */
    repeatsPerInvoice: z.number().positive().max(1_000),
  }),
});

/** Everything that the service's interface document does not show, in one place. */
export type ServiceProfile = z.infer<typeof ServiceProfile>;

/** The built-in sandbox's shape; a file named by SERVICE_PROFILE is merged over it. */
export const DEFAULT_PROFILE: ServiceProfile = {
  environment: null,
  allowPlainHttp: false,
  signature: { header: 'X-Service-Signature', algorithm: 'sha256', encoding: 'hex', prefix: '' },
  event: {
    type: '/type',
    invoiceId: '/data/id',
    eventId: '/id',
    reasonCode: '/data/error/code',
    reasonMessage: '/data/error/message',
  },
  invoice: {
    id: '/id',
    status: '/status',
    issued: ['issued'],
    failed: ['failed'],
    reasonCode: '/error/code',
    reasonMessage: '/error/message',
  },
  merchants: {
    createdId: '/id',
    items: '/data',
    id: '/id',
    nif: '/nif',
    nextCursor: '/next_cursor',
    cursorParameter: 'cursor',
    notPaging: [],
  },
  webhook: { secret: '/secret' },
  error: { code: '/error/code', message: '/error/message' },
  idempotency: { retentionHours: 24, mismatchCodes: ['idempotency_mismatch'], refusedRepeatIsProof: false },
  limits: { requestsPerSecond: null, maxConcurrency: 64 },
  retry: { failedReasonCodes: [], maxGenerations: 3, repeatsPerInvoice: 10 },
};

/**
 * The profile in force: the JSON text merged deeply over the default (lists replace lists).
 * @throws LoteError `configuration-invalid`, naming each wrong place.
 */
export function loadProfile(text: string | undefined): ServiceProfile {
  if (text === undefined || text.trim() === '') return DEFAULT_PROFILE;
  const parsed = ServiceProfile.safeParse(merged(DEFAULT_PROFILE, parse(text)));
  if (!parsed.success) throw invalid(parsed.error.issues.map(describeIssue).join('; '), parsed.error);
  const overlap = parsed.data.invoice.issued.find((word) => parsed.data.invoice.failed.includes(word));
  if (overlap !== undefined)
    throw invalid(`invoice.issued and invoice.failed: no word may stand in both, found ${JSON.stringify(overlap)}`);
  return parsed.data;
}

function parse(text: string): Record<string, unknown> {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch (cause) {
    throw invalid(
      `expected JSON, found a syntax error (${cause instanceof Error ? cause.message : 'unreadable'})`,
      cause,
    );
  }
  if (!isPlainObject(document)) throw invalid('expected a JSON object at the top level');
  return document;
}

/** Object.fromEntries defines own properties, so that a `__proto__` in the file is an unknown key and nothing more. */
function merged(base: Record<string, unknown>, over: Record<string, unknown>): Record<string, unknown> {
  const entries = new Map<string, unknown>(Object.entries(base));
  for (const [key, value] of Object.entries(over)) {
    const below = entries.get(key);
    entries.set(key, isPlainObject(below) && isPlainObject(value) ? merged(below, value) : value);
  }
  return Object.fromEntries(entries);
}

function describeIssue(issue: z.core.$ZodIssue): string {
  const where = issue.path.length === 0 ? 'top level' : issue.path.map(String).join('.');
  return `${where}: ${issue.message}`;
}

function invalid(problem: string, cause?: unknown): LoteError {
  return new LoteError(
    'configuration-invalid',
    `Reading the service profile: ${problem}. Correct the file named by SERVICE_PROFILE; what it leaves out keeps its default.`,
    { cause },
  );
}
