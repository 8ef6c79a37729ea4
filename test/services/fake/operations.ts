import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { readBody, type Found, type Shape } from './body-shape.ts';
import type { Books } from './books.ts';
import type { Deliveries } from './deliveries.ts';
import {
  type BookedInvoice,
  type Family,
  type InvoiceContent,
  type Problem,
  type Reply,
  meets,
  type Faults,
} from './family.ts';
import { contentOf } from './published.ts';

/** The service refuses an invoice with this tax code, and fails one with the other later. */
export const REFUSED_TAX_CODE = 'IVA_98';
export const FAILING_TAX_CODE = 'IVA_99';

export interface Parts {
  readonly family: Family;
  readonly books: Books;
  readonly deliveries: Deliveries;
  readonly faults: Faults;
  readonly key: string;
  afterSettling(work: () => void): void;
}

export interface ReceivedRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** An answer, or a connection that is cut. */
export type Outcome = Reply | 'cut';

type Operation = (request: ReceivedRequest) => Promise<Outcome> | Outcome;

/** Finds the operation of a request and carries it out. */
export function routed(parts: Parts): Operation {
  const { family, key } = parts;
  const { createInvoice, createMerchant, registerWebhook, listMerchants } = family.requests;
  const posts: Readonly<Record<string, Operation>> = {
    [createInvoice.path]: (request) => postInvoice(parts, request),
    [createMerchant.path]: (request) => postMerchant(parts, request),
    [registerWebhook.path]: (request) => postWebhook(parts, request),
  };
  return (request) => {
    const { method, url, headers } = request;
    if (headers.authorization !== `Bearer ${key}`) return refuse(parts, 'access', 'the key is not known');
    const wrong = wrongHeader(parts, request);
    if (wrong !== null) return mistaken(parts, request, wrong);
    if (method === 'POST') return posts[url.pathname]?.(request) ?? mistaken(parts, request, 'no such path');
    if (method !== 'GET') return mistaken(parts, request, 'no such method');
    if (url.pathname === listMerchants)
      return family.list(parts.books.merchants, { query: url.searchParams, address: url.origin + url.pathname });
    return getInvoice(parts, request);
  };
}

function wrongHeader({ family }: Parts, { method, headers }: ReceivedRequest): string | null {
  const { requests } = family;
  if (method === 'POST' && headers['content-type'] !== requests.contentType)
    return `the media type must be ${requests.contentType}, found ${headers['content-type']}`;
  const missing = Object.entries(requests.headers).find(([name, value]) => headers[name.toLowerCase()] !== value);
  return missing === undefined ? null : `the header ${missing[0]} must be ${missing[1]}`;
}

function getInvoice(parts: Parts, request: ReceivedRequest): Reply {
  const { family, books } = parts;
  const [before = '', after = ''] = family.requests.getInvoice.split('{id}');
  const { pathname, origin } = request.url;
  if (!pathname.startsWith(before) || !pathname.endsWith(after)) return mistaken(parts, request, 'no such path');
  const id = decodeURIComponent(pathname.slice(before.length, pathname.length - after.length));
  const invoice = books.invoice(id);
  if (invoice === null) return refuse(parts, 'not-found', `no invoice ${id}`);
  return family.answers.shown(invoice, origin);
}

async function postInvoice(parts: Parts, request: ReceivedRequest): Promise<Outcome> {
  const { family, books, faults, deliveries } = parts;
  const read = readPost(parts, request, family.requests.createInvoice.shape);
  if (read.kind === 'no') return read.reply;
  const { key } = read;
  const content = contentOf(read.found);
  const { origin } = request.url;
  const known = books.invoiceOfKey(key);
  if (known !== null) return (family.answers.repeated ?? family.answers.created)(known, origin);
  const refused = content.lines.some(({ taxCode }) => taxCode === REFUSED_TAX_CODE);
  const isFirst = books.triesOf(key) === 1;
  if (isFirst && meets(faults, 'tooFast', key)) return refuse(parts, 'too-fast', 'slow down');
  if (isFirst && !refused && meets(faults, 'trouble', key)) return refuse(parts, 'trouble', 'try again');
  if (refused) return refuse(parts, 'refused', 'the tax code is not known');
  if (!books.merchants.some(({ id }) => id === content.merchantId))
    return mistaken(parts, request, `no merchant ${content.merchantId}`);
  const invoice = books.addInvoice(key, request.body, content);
  if (meets(faults, 'earlyEvents', key)) {
    const settled = settle(parts, invoice, content);
    if (settled !== null) await deliveries.addNow(settled);
  } else {
    parts.afterSettling(() => {
      const settled = settle(parts, invoice, content);
      if (settled !== null) deliveries.add(settled);
    });
  }
  if (meets(faults, 'lostAnswers', key)) return 'cut';
  return family.answers.created(invoice, origin);
}

function settle({ books }: Parts, { id }: BookedInvoice, { lines }: InvoiceContent): BookedInvoice | null {
  const fails = lines.some(({ taxCode }) => taxCode === FAILING_TAX_CODE);
  return books.settle(id, fails ? { code: 'series_closed', message: 'The series is closed' } : null);
}

function postMerchant(parts: Parts, request: ReceivedRequest): Outcome {
  const { family, books, faults } = parts;
  const read = readPost(parts, request, family.requests.createMerchant.shape);
  if (read.kind === 'no') return read.reply;
  const { key, found } = read;
  const { origin } = request.url;
  const { answers } = family;
  const known = books.merchantOfKey(key);
  if (known !== null) return (answers.merchantRepeated ?? answers.merchantCreated)(known, origin);
  const { nif, legalName, email } = found;
  const merchant = books.addMerchant(key, request.body, {
    nif: String(nif),
    legalName: String(legalName),
    email: String(email),
  });
  return meets(faults, 'lostMerchantAnswers', key) ? 'cut' : answers.merchantCreated(merchant, origin);
}

function postWebhook(parts: Parts, request: ReceivedRequest): Outcome {
  const { family, books, deliveries } = parts;
  books.post({ path: request.url.pathname, key: null, body: request.body, at: Date.now() });
  const found = readBody(request.body, family.requests.registerWebhook.shape);
  if (typeof found === 'string') return mistaken(parts, request, found);
  if (family.events === null || family.registersByHand)
    return mistaken(parts, request, 'endpoints are registered by hand here');
  const endpoint = { id: randomUUID(), url: String(found['url']), secret: family.events.newSecret() };
  deliveries.endpoints.push(endpoint);
  return family.answers.registered(endpoint);
}

type ReadPost =
  | { readonly kind: 'yes'; readonly key: string; readonly found: Found }
  | { readonly kind: 'no'; readonly reply: Reply };

/** A creation that the family understands, under a key that is new or known with these bytes. */
function readPost(parts: Parts, request: ReceivedRequest, shape: Shape): ReadPost {
  const { books } = parts;
  const given = request.headers['idempotency-key'];
  const key = typeof given === 'string' && given !== '' ? given : null;
  books.post({ path: request.url.pathname, key, body: request.body, at: Date.now() });
  if (key === null) return { kind: 'no', reply: mistaken(parts, request, 'Idempotency-Key is missing') };
  const found = readBody(request.body, shape);
  if (typeof found === 'string') return { kind: 'no', reply: mistaken(parts, request, found) };
  if (books.mismatches(key, request.body))
    return { kind: 'no', reply: refuse(parts, 'mismatch', 'the key is known with other bytes') };
  return { kind: 'yes', key, found };
}

const CODES: Readonly<Record<Problem['kind'], Pick<Problem, 'code' | 'field'>>> = {
  refused: { code: 'tax_code_unknown', field: 'tax_code' },
  mismatch: { code: 'idempotency_mismatch', field: 'idempotency_key' },
  'too-fast': { code: 'too_many_requests', field: 'rate' },
  trouble: { code: 'unavailable', field: 'service' },
  access: { code: 'unauthorized', field: 'key' },
  'not-found': { code: 'not_found', field: 'id' },
};

function refuse({ family }: Parts, kind: Problem['kind'], message: string): Reply {
  return family.answers.problem({ kind, message, ...CODES[kind] });
}

/** The client has not understood the family: the test looks at the books. */
function mistaken(parts: Parts, { method, url }: ReceivedRequest, mistake: string): Reply {
  parts.books.mistakes.push(`${method} ${url.pathname}: ${mistake}`);
  return parts.family.answers.problem({ kind: 'refused', code: 'malformed', message: mistake, field: 'body' });
}
