import { z } from 'zod';
import { templateMistake } from './body-template.ts';
import { mismatchIsNoRefusal, possiblePaging, reachableRules, wordsOfOneMeaning } from './contradictions.ts';
import { expressionMistake } from './expression.ts';
import { expressionOf, isHeaderName, isPlace } from './place.ts';

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

/** Words of a service. Lote compares them without case, and numbers and true/false by their text. */
const words = z.array(z.string().min(1).max(200));

/** A header's name. */
const headerName = z.string().refine(isHeaderName, { error: 'must be a header name' });

/** The places of the parts of a delivery. */
const EventSection = z
  .strictObject({
    payload: z
      .strictObject({
        at: place.describe('place of that JSON'),
        encoding: z.enum(['base64', 'text']).describe('`base64` or `text`'),
      })
      .nullable()
      .describe('the event is JSON inside the delivery; `null`: the delivery is the event'),
    items: optionalPlace.describe('the list of events of one delivery, at most 1,000; `null`: a delivery is one event'),
    type: place.describe('the word that says what happened'),
    issued: words.min(1).describe('types that say that the invoice is issued'),
    failed: words.min(1).describe('types that say that the invoice failed'),
    invoiceId: place.describe('id of the invoice; of an address the last step counts; begins with `invoice.idPrefix`'),
    eventId: place.describe('id of the event'),
    reasonCode: place.describe('why it failed: the word for programs'),
    reasonMessage: place.describe('why it failed: the sentence for people'),
  })
  .check(wordsOfOneMeaning)
  .describe('where the parts of a delivery stand');

const TEMPLATE = /^(?:[^{}]|\{(?:body|timestamp|url|header:[!#$%&'*+.^_`|~0-9A-Za-z-]+)\})*$/;
const TIMESTAMP = /^(?:header:[!#$%&'*+.^_`|~0-9A-Za-z-]+|part:.{1,32})$/;

/** How a delivery proves that it comes from the service. */
const SignatureSection = z
  .strictObject({
    kind: z.literal('hmac').describe('`hmac`, the only proof that the interface publishes'),
    header: headerName.describe('the header that holds the signature'),
    algorithm: z.enum(['sha1', 'sha256', 'sha384', 'sha512']).describe('`sha1`, `sha256`, `sha384` or `sha512`'),
    encoding: z
      .enum(['hex', 'base64', 'base64url'])
      .describe('how the signature is written: `hex`, `base64` or `base64url`'),
    prefix: z.string().max(64).describe('stands before each signature, such as `sha256=`'),
    separator: z
      .enum(['', ',', ';', ' '])
      .describe('`,`, `;` or a space between several parts of the header; `""`: one signature alone'),
    signed: z
      .string()
      .max(500)
      .refine((text) => TEMPLATE.test(text) && text.includes('{body}'), {
        error: 'must hold {body}, and beside text only {timestamp}, {url} and {header:NAME}',
      })
      .describe(
        'template of what is signed: `{body}`, `{timestamp}`, `{url}` (the registered address) and `{header:NAME}` stand for what was received',
      ),
    timestamp: z
      .string()
      .regex(TIMESTAMP, { error: 'must be "header:NAME" or "part:PREFIX", such as "part:t="' })
      .nullable()
      .describe(
        'where the time of signing stands: `header:NAME`, or `part:PREFIX` for a part of the signature header; `null`: nowhere',
      ),
    toleranceSeconds: z
      .number()
      .int()
      .min(1)
      .max(86_400)
      .describe('a delivery whose timestamp is further away is refused'),
    secret: z
      .strictObject({
        prefix: z.string().max(64).describe('taken off the secret before it is used, such as `whsec_`'),
        encoding: z.enum(['text', 'base64', 'base64url', 'hex']).describe('`text`, `base64`, `base64url` or `hex`'),
      })
      .describe('how the secret is written'),
  })
  .describe('how deliveries prove where they come from');

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

/** How Lote writes requests, beyond the published interface. */
const RequestsSection = z
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
        carriesId: z
          .boolean()
          .describe(
            'the answer names the id of the invoice at `invoice.id`; `false`: an answer without one speaks for the invoice whose address was asked',
          ),
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
const AnswersSection = z
  .strictObject({
    success: z
      .strictObject({ at: place.describe('place of the word'), is: words.min(1).describe('the words') })
      .nullable()
      .describe('a 2xx is a success only if one of these words stands there; `null`: every 2xx is'),
    status: optionalPlace.describe(
      'place at which an envelope says the status that counts, instead of the HTTP status of an answer that is no success',
    ),
    wait: z
      .strictObject({
        at: place.describe('place of the time'),
        unit: z
          .enum(['seconds', 'epoch-seconds'])
          .describe('what the number there is: how long to wait (`seconds`), or when the wait ends (`epoch-seconds`)'),
      })
      .nullable()
      .describe('where an answer without `Retry-After` says how long to wait; `null`: nowhere'),
    rules: z.array(Rule).max(100).describe('rules for answers, read in order; the first that fits decides'),
  })
  .check(reachableRules)
  .describe('which answers mean what, where the status alone does not say it');

/** The prefix with which every id of the service begins. */
const idPrefix = z
  .string()
  .regex(/^[A-Za-z0-9_-]{0,64}$/, { error: 'must be at most 64 letters, digits, "_" and "-"' });

/** The places of the parts of an invoice in the answers to POST and GET. */
const InvoiceSection = z
  .strictObject({
    id: place.describe('the id; of an address the last step counts, so `header:Location` is possible'),
    idPrefix: idPrefix.describe('what every id begins with; `""`: anything'),
    status: place.describe('the word that says how far it is'),
    issued: words.min(1).describe('words that say that it is issued'),
    failed: words.min(1).describe('words that say that it failed for good'),
    reasonCode: place.describe('why it failed: the word for programs'),
    reasonMessage: place.describe('why it failed: the sentence for people'),
  })
  .check(wordsOfOneMeaning)
  .describe('where the parts of an invoice stand in the answers to POST and GET');

const parameter = z.string().min(1).max(100);

/** The places of the parts of a merchant, and the paging of the list of merchants. */
const MerchantsSection = z
  .strictObject({
    createdId: place.describe('the id in the answer to the creation'),
    idPrefix: idPrefix.describe('what every id begins with; `""`: anything'),
    items: place.describe(
      'the merchants in a page of the list; an expression writes `[ ]` around them, so that one alone is a list too',
    ),
    id: place.describe('the id, from one of the items'),
    nif: place.describe(
      'the tax number, from one of the items; a list in which none of them is all digits cannot be read',
    ),
    paging: z
      .enum(['cursor', 'link', 'page', 'offset'])
      .describe('how the next page is asked for: `cursor`, `link`, `page` or `offset`'),
    nextCursor: place.describe('`cursor`: what to send for the next page; nothing there: the last page'),
    cursorParameter: parameter.describe('`cursor`: its query parameter'),
    nextLink: place.describe(
      '`link`: address of the next page, absolute or relative; of a `Link` header the one with `rel="next"`',
    ),
    pageParameter: parameter.describe(
      '`page`: query parameter of the page number; the list without a number is the first page, whether the service calls it 0 or 1',
    ),
    offsetParameter: parameter.describe('`offset`: query parameter of the number of merchants to skip'),
    sizeParameter: parameter.nullable().describe('query parameter of the page size; `null`: none is sent'),
    pageSize: z.number().int().min(1).max(10_000).nullable().describe('merchants a page; `null`: as the service likes'),
    total: optionalPlace.describe('how many merchants there are in all'),
    more: optionalPlace.describe('the flag that says whether there are more'),
    notPaging: words.describe("keys and headers of a list's answer that look like paging and are not"),
  })
  .check(possiblePaging)
  .describe('where the parts of a merchant stand, and how the list of them goes on');

/** All settings that the service's interface document leaves open, in the order of docs/service-profile.md. */
export const ServiceProfile = z
  .strictObject({
    environment: z
      .enum(['test', 'live'])
      .nullable()
      .describe(
        '`test` or `live`: the API key must begin with `sk_test_` or `sk_live_`, else nothing is sent; `null`: not checked',
      ),
    allowPlainHttp: z
      .boolean()
      .describe(
        'lets a key that is no test key go over plain HTTP to another machine, so that a reader on the way can see it',
      ),
    requests: RequestsSection,
    answers: AnswersSection,
    error: z
      .strictObject({
        code: place.describe('the word for programs'),
        message: place.describe('the sentence for people; a 4xx with text at neither place refuses nothing'),
      })
      .describe('where an error says what is wrong'),
    invoice: InvoiceSection,
    merchants: MerchantsSection,
    webhook: z
      .strictObject({
        register: z.boolean().describe('Lote registers `WEBHOOK_URL`; `false`: a person does so by hand'),
        secret: place.describe('place of the secret in the answer to the registration'),
      })
      .describe('the registration of the receiver'),
    signature: SignatureSection,
    event: EventSection,
    idempotency: z
      .strictObject({
        retentionHours: z.number().positive().describe('how long the service remembers a key'),
        mismatchCodes: words.describe('words at `error.code` of a 4xx that say that the key is known with other bytes'),
        refusedRepeatIsProof: z
          .boolean()
          .describe(
            'a key that created an invoice is always answered with that invoice, so that a refusal of a repeat proves that none exists',
          ),
      })
      .describe('what the service does with a key that it knows'),
    limits: z
      .strictObject({
        requestsPerSecond: z
          .number()
          .positive()
          .nullable()
          .describe('over all processes of a ledger; `null`: no limit'),
        maxConcurrency: z.number().int().min(1).max(1_000).describe('requests at a time, of each process'),
        pollEverySeconds: z
          .number()
          .min(1)
          .max(86_400)
          .nullable()
          .describe(
            "each invoice without a final word is asked for by GET after so many seconds, again and again, after 60 times more and more rarely; `null`: at Lote's own times, at most six, of which the first ones ask for a sample",
          ),
      })
      .describe('what the service allows'),
    retry: z
      .strictObject({
        failedReasonCodes: words.describe('failures that are sent again under a new key without an operator'),
        maxGenerations: z.number().int().min(1).max(100).describe('most keys of one invoice'),
      })
      .describe('what is sent again'),
  })
  .check(mismatchIsNoRefusal);

/** The service profile in force; see docs/service-profile.md. */
export type ServiceProfile = z.infer<typeof ServiceProfile>;
