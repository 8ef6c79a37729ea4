import { z } from 'zod';
import { templateMistake } from './body-template.ts';
import { expressionMistake } from './expression.ts';
import { expressionOf, isHeaderName, isPlace, sameWord } from './place.ts';

const PLACE_FORMS =
  'a JSON Pointer such as "/data/id" ("" is the whole document), "header:NAME", "text" or "jsonata:EXPRESSION"';

const onePlace = z
  .string()
  .max(4_000)
  .check((context) => {
    const expression = expressionOf(context.value);
    const mistake = expression === null ? null : expressionMistake(expression);
    if (mistake !== null) context.issues.push(wrong(context.value, `must hold a JSONata expression: ${mistake}`));
    else if (!isPlace(context.value)) context.issues.push(wrong(context.value, `must be ${PLACE_FORMS}`));
  });

function wrong(input: string, message: string): z.core.$ZodRawIssue {
  return { code: 'custom', input, message };
}

/** A place, or a list of places of which the first that has a value counts. */
const place = z.union([onePlace, z.array(onePlace).min(1).max(20)], {
  error: `must be a place (${PLACE_FORMS}) or a list of places`,
});

/** A place or a list of places, or null for none. */
const optionalPlace = place.nullable();

/** A setting with its default, and its description for people. */
function setting<Schema extends z.ZodType>(schema: Schema, byDefault: z.output<Schema>, words: string) {
  return z._default(schema.describe(words), byDefault as z.core.util.NoUndefined<z.output<Schema>>);
}

/** A group of settings, all of which a file may leave out. */
function section<Shape extends z.ZodRawShape>(words: string, shape: Shape) {
  return z.prefault(z.strictObject(shape).describe(words), {} as z.input<z.ZodObject<Shape>>);
}

/** Words of a service. Lote compares them without case, and numbers and true/false by their text. */
const words = z.array(z.string().min(1).max(200));

/** Reports a word that means both issued and failed. */
function wordsOfOneMeaning({ value, issues }: z.core.ParsePayload<{ issued: string[]; failed: string[] }>): void {
  for (const [index, word] of value.failed.entries()) {
    if (!value.issued.some((other) => sameWord(word, other))) continue;
    const message = `no word may stand in both issued and failed, found ${JSON.stringify(word)}`;
    issues.push({ code: 'custom', input: word, path: ['failed', index], message });
  }
}

/** A header's name. */
const headerName = z.string().refine(isHeaderName, { error: 'must be a header name' });

/** The places of the parts of a delivery. */
const EventSection = section('where the parts of a delivery stand', {
  payload: setting(
    z
      .strictObject({
        at: place.describe('place of that JSON'),
        encoding: z.enum(['base64', 'text']).describe('`base64` or `text`'),
      })
      .nullable(),
    null,
    'the event is JSON inside the delivery; `null`: the delivery is the event',
  ),
  items: setting(
    optionalPlace,
    null,
    'the list of events of one delivery, at most 1,000; `null`: a delivery is one event',
  ),
  type: setting(place, '/type', 'the word that says what happened'),
  issued: setting(words.min(1), ['invoice.issued'], 'types that say that the invoice is issued'),
  failed: setting(words.min(1), ['invoice.failed'], 'types that say that the invoice failed'),
  invoiceId: setting(
    place,
    '/data/id',
    'id of the invoice; of an address the last step counts; begins with `invoice.idPrefix`',
  ),
  eventId: setting(place, '/id', 'id of the event'),
  reasonCode: setting(place, '/data/error/code', 'why it failed: the word for programs'),
  reasonMessage: setting(place, '/data/error/message', 'why it failed: the sentence for people'),
}).check(wordsOfOneMeaning);

const TEMPLATE = /^(?:[^{}]|\{(?:body|timestamp|url|header:[!#$%&'*+.^_`|~0-9A-Za-z-]+)\})*$/;
const TIMESTAMP = /^(?:header:[!#$%&'*+.^_`|~0-9A-Za-z-]+|part:.{1,32})$/;

/** How a delivery proves that it comes from the service. */
const SignatureSection = section('how deliveries prove where they come from', {
  kind: setting(z.literal('hmac'), 'hmac', '`hmac`, the only proof that the interface publishes'),
  header: setting(headerName, 'X-Service-Signature', 'the header that holds the signature'),
  algorithm: setting(
    z.enum(['sha1', 'sha256', 'sha384', 'sha512']),
    'sha256',
    '`sha1`, `sha256`, `sha384` or `sha512`',
  ),
  encoding: setting(
    z.enum(['hex', 'base64', 'base64url']),
    'hex',
    'how the signature is written: `hex`, `base64` or `base64url`',
  ),
  prefix: setting(z.string().max(64), '', 'stands before each signature, such as `sha256=`'),
  separator: setting(
    z.enum(['', ',', ';', ' ']),
    '',
    '`,`, `;` or a space between several parts of the header; `""`: one signature alone',
  ),
  signed: setting(
    z
      .string()
      .max(500)
      .refine((text) => TEMPLATE.test(text) && text.includes('{body}'), {
        error: 'must hold {body}, and beside text only {timestamp}, {url} and {header:NAME}',
      }),
    '{body}',
    'template of what is signed: `{body}`, `{timestamp}`, `{url}` (the registered address) and `{header:NAME}` stand for what was received',
  ),
  timestamp: setting(
    z.string().regex(TIMESTAMP, { error: 'must be "header:NAME" or "part:PREFIX", such as "part:t="' }).nullable(),
    null,
    'where the time of signing stands: `header:NAME`, or `part:PREFIX` for a part of the signature header; `null`: nowhere',
  ),
  toleranceSeconds: setting(
    z.number().int().min(1).max(86_400),
    300,
    'a delivery whose timestamp is further away is refused',
  ),
  secret: section('how the secret is written', {
    prefix: setting(z.string().max(64), '', 'taken off the secret before it is used, such as `whsec_`'),
    encoding: setting(z.enum(['text', 'base64', 'base64url', 'hex']), 'text', '`text`, `base64`, `base64url` or `hex`'),
  }),
});

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
    .unknown()
    .check((context) => {
      const mistake = context.value === null ? null : templateMistake(context.value, kind);
      if (mistake !== null) context.issues.push({ code: 'custom', input: context.value, message: mistake });
    })
    .describe('template of the body, with `{name}` for each value; `null`: as published')
    .default(null);

/** How Lote writes requests, beyond the published interface. */
const RequestsSection = section('how requests are written', {
  headers: setting(
    z
      .record(
        headerName,
        z
          .string()
          .max(1_000)
          .regex(/^[\t\x20-\x7e]*$/, { error: 'must be printable ASCII' }),
      )
      .refine((headers) => Object.keys(headers).every((name) => !OWN_HEADERS.has(name.toLowerCase())), {
        error: 'must name no header that Lote sets itself (Authorization, Idempotency-Key, Content-Type …)',
      }),
    {},
    'headers of every request; not those that Lote sets itself, such as `Authorization` and `Idempotency-Key`',
  ),
  contentType: setting(
    z.string().regex(/^application\/(?:[a-z0-9.-]+\+)?json(?:;.*)?$/i, { error: 'must be a JSON media type' }),
    'application/json',
    'media type of every body',
  ),
  createInvoice: section('the request that creates an invoice', {
    path: setting(path, '/v1/invoices', 'path below `INVOICING_BASE_URL`'),
    body: body('invoice'),
  }),
  getInvoice: section('the request that asks for an invoice', {
    path: setting(
      path.refine((text) => text.includes('{id}'), { error: 'must hold {id}' }),
      '/v1/invoices/{id}',
      'path with `{id}`',
    ),
    carriesId: setting(
      z.boolean(),
      true,
      'the answer names the id of the invoice at `invoice.id`; `false`: an answer without one speaks for the invoice whose address was asked',
    ),
  }),
  createMerchant: section('the request that creates a merchant', {
    path: setting(path, '/v1/merchants', 'path below `INVOICING_BASE_URL`'),
    body: body('merchant'),
  }),
  listMerchants: section('the request for the list of merchants', {
    path: path.describe('path, with a query where one is needed').default('/v1/merchants'),
  }),
  registerWebhook: section('the request that registers the receiver', {
    path: setting(path, '/v1/webhooks', 'path below `INVOICING_BASE_URL`'),
    body: body('webhook'),
  }),
});

/** The possible meanings of an answer that is no plain success. */
const MEANINGS = ['refused', 'later', 'access', 'mismatch', 'exists', 'lost'] as const;

const status = z.number().int().min(200).max(599);

const Rule = z
  .strictObject({
    status: z.array(status).min(1).optional().describe('one of these statuses; left out: any'),
    code: words.min(1).optional().describe('one of these words stands at `error.code`; left out: any'),
    has: place.optional().describe('something stands at this place; left out: nothing is asked'),
    means: z
      .enum(MEANINGS)
      .describe(
        '`refused` (for good, and nothing was created), `later` (not now, and nothing was created), `access` (the service rejects this API key), `mismatch` (the key is known with other bytes), `exists` (this key has created it before, and the answer carries it) or `lost` (nothing is certain)',
      ),
    id: place.optional().describe('with `exists`: place of the id; left out: that of a creation'),
  })
  .check((context) => {
    const { status: statuses, code, has, means, id } = context.value;
    const say = (message: string): void => void context.issues.push({ code: 'custom', input: context.value, message });
    if (statuses === undefined && code === undefined && has === undefined)
      say('must ask for a status, a code or a place');
    if (means === 'refused' && statuses?.some((one) => one >= 500) === true)
      say('must not call a status from 500 on a refusal: it proves nothing');
    if (id !== undefined && means !== 'exists') say('may hold an id only where it means exists');
  });

/** The meaning of answers, if the status alone does not say it. */
const AnswersSection = section('which answers mean what, where the status alone does not say it', {
  success: setting(
    z.strictObject({ at: place.describe('place of the word'), is: words.min(1).describe('the words') }).nullable(),
    null,
    'a 2xx is a success only if one of these words stands there; `null`: every 2xx is',
  ),
  status: setting(
    optionalPlace,
    null,
    'place at which an envelope says the status that counts, instead of the HTTP status of an answer that is no success',
  ),
  wait: setting(
    z
      .strictObject({
        at: place.describe('place of the time'),
        unit: z
          .enum(['seconds', 'epoch-seconds'])
          .describe('what the number there is: how long to wait (`seconds`), or when the wait ends (`epoch-seconds`)'),
      })
      .nullable(),
    null,
    'where an answer without `Retry-After` says how long to wait; `null`: nowhere',
  ),
  rules: setting(z.array(Rule).max(100), [], 'rules for answers, read in order; the first that fits decides'),
});

/** The prefix with which every id of the service begins. */
const idPrefix = z
  .string()
  .regex(/^[A-Za-z0-9_-]{0,64}$/, { error: 'must be at most 64 letters, digits, "_" and "-"' });

/** The places of the parts of an invoice in the answers to POST and GET. */
const InvoiceSection = section('where the parts of an invoice stand in the answers to POST and GET', {
  id: setting(place, '/id', 'the id; of an address the last step counts, so `header:Location` is possible'),
  idPrefix: setting(idPrefix, 'inv_', 'what every id begins with; `""`: anything'),
  status: setting(place, '/status', 'the word that says how far it is'),
  issued: setting(words.min(1), ['issued'], 'words that say that it is issued'),
  failed: setting(words.min(1), ['failed'], 'words that say that it failed for good'),
  reasonCode: setting(place, '/error/code', 'why it failed: the word for programs'),
  reasonMessage: setting(place, '/error/message', 'why it failed: the sentence for people'),
}).check(wordsOfOneMeaning);

const parameter = z.string().min(1).max(100);

/** The places of the parts of a merchant, and the paging of the list of merchants. */
const MerchantsSection = section('where the parts of a merchant stand, and how the list of them goes on', {
  createdId: setting(place, '/id', 'the id in the answer to the creation'),
  idPrefix: setting(idPrefix, 'mrc_', 'what every id begins with; `""`: anything'),
  items: setting(
    place,
    '/data',
    'the merchants in a page of the list; an expression writes `[ ]` around them, so that one alone is a list too',
  ),
  id: setting(place, '/id', 'the id, from one of the items'),
  nif: setting(
    place,
    '/nif',
    'the tax number, from one of the items; a list in which none of them is all digits cannot be read',
  ),
  paging: setting(
    z.enum(['cursor', 'link', 'page', 'offset']),
    'cursor',
    'how the next page is asked for: `cursor`, `link`, `page` or `offset`',
  ),
  nextCursor: setting(place, '/next_cursor', '`cursor`: what to send for the next page; nothing there: the last page'),
  cursorParameter: setting(parameter, 'cursor', '`cursor`: its query parameter'),
  nextLink: setting(
    place,
    ['/links/next', 'header:Link'],
    '`link`: address of the next page, absolute or relative; of a `Link` header the one with `rel="next"`',
  ),
  pageParameter: setting(
    parameter,
    'page',
    '`page`: query parameter of the page number; the list without a number is the first page, whether the service calls it 0 or 1',
  ),
  offsetParameter: setting(parameter, 'offset', '`offset`: query parameter of the number of merchants to skip'),
  sizeParameter: setting(parameter.nullable(), null, 'query parameter of the page size; `null`: none is sent'),
  pageSize: setting(
    z.number().int().min(1).max(10_000).nullable(),
    null,
    'merchants a page; `null`: as the service likes',
  ),
  total: setting(optionalPlace, null, 'how many merchants there are in all'),
  more: setting(optionalPlace, null, 'the flag that says whether there are more'),
  notPaging: setting(words, [], "keys and headers of a list's answer that look like paging and are not"),
});

/** All settings that the service's interface document leaves open, in the order of docs/service-profile.md. */
export const ServiceProfile = z.strictObject({
  environment: setting(
    z.enum(['test', 'live']).nullable(),
    null,
    '`test` or `live`: the API key must begin with `sk_test_` or `sk_live_`, else nothing is sent; `null`: not checked',
  ),
  allowPlainHttp: setting(
    z.boolean(),
    false,
    'lets a key that is no test key go over plain HTTP to another machine, so that a reader on the way can see it',
  ),
  requests: RequestsSection,
  answers: AnswersSection,
  error: section('where an error says what is wrong', {
    code: setting(place, '/error/code', 'the word for programs'),
    message: setting(
      place,
      '/error/message',
      'the sentence for people; a 4xx with text at neither place refuses nothing',
    ),
  }),
  invoice: InvoiceSection,
  merchants: MerchantsSection,
  webhook: section('the registration of the receiver', {
    register: setting(z.boolean(), true, 'Lote registers `WEBHOOK_URL`; `false`: a person does so by hand'),
    secret: setting(place, '/secret', 'place of the secret in the answer to the registration'),
  }),
  signature: SignatureSection,
  event: EventSection,
  idempotency: section('what the service does with a key that it knows', {
    retentionHours: setting(z.number().positive(), 24, 'how long the service remembers a key'),
    mismatchCodes: setting(
      words,
      ['idempotency_mismatch'],
      'words at `error.code` of a 4xx that say that the key is known with other bytes',
    ),
    refusedRepeatIsProof: setting(
      z.boolean(),
      false,
      'a key that created an invoice is always answered with that invoice, so that a refusal of a repeat proves that none exists',
    ),
  }),
  limits: section('what the service allows', {
    requestsPerSecond: setting(
      z.number().positive().nullable(),
      null,
      'over all processes of a ledger; `null`: no limit',
    ),
    maxConcurrency: setting(z.number().int().min(1).max(1_000), 64, 'requests at a time, of each process'),
    pollEverySeconds: setting(
      z.number().min(1).max(86_400).nullable(),
      null,
      "each invoice without a final word is asked for by GET after so many seconds, again and again, after 60 times more and more rarely; `null`: at Lote's own times, at most six, of which the first ones ask for a sample",
    ),
  }),
  retry: section('what is sent again', {
    failedReasonCodes: setting(words, [], 'failures that are sent again under a new key without an operator'),
    maxGenerations: setting(z.number().int().min(1).max(100), 3, 'most keys of one invoice'),
  }),
});

/** The service profile in force; see docs/service-profile.md. */
export type ServiceProfile = z.infer<typeof ServiceProfile>;

/** The shape of the built-in sandbox. Lote merges the file named by SERVICE_PROFILE over this profile. */
export const DEFAULT_PROFILE: ServiceProfile = ServiceProfile.parse({});
