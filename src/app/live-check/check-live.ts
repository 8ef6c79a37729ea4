import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { LoteError } from '../../domain/errors.ts';
import type { Invoice } from '../../domain/invoice.ts';
import type {
  CreateAnswer,
  MerchantAnswer,
  MerchantListAnswer,
  StatusAnswer,
} from '../../domain/records/service-answers.ts';
import { createInvoicingService } from '../../service/client.ts';
import { documentOf, type ExchangeResult } from '../../service/exchange-result.ts';
import { is2xx, isOneOf, readId, wordAt, type Document, type Place } from '../../service/profile/place.ts';
import type { ServiceProfile } from '../../service/profile/profile.ts';
import { textOf } from '../../service/profile/exact-json.ts';
import { createEventReader, parseJson } from '../../webhooks/event-reader.ts';
import { createSignatureCheck } from '../../webhooks/signature-check.ts';
import type { ServiceAccount } from '../account/open-service.ts';
import {
  codeOf,
  hasValue,
  placeRow,
  placesOf,
  row,
  shown,
  unseen,
  valueAt,
  withPlaces,
  type LiveRow,
} from './setting-rows.ts';
import type { KeptDelivery } from './temporary-receiver.ts';

/** Pages of the list of merchants; a check reads the list twice. */
const MOST_PAGES = 4;
/** Most GETs of the invoice. */
const MOST_LOOKS = 8;
/** Most requests of one check: those above and four more. */
export const MOST_REQUESTS = 2 * MOST_PAGES + MOST_LOOKS + 4;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 10_000;
/** A GET of a missing invoice shows how the service writes errors, and creates nothing. */
const NO_INVOICE = 'lote-check-no-such-invoice';

/** Input of a check. */
export interface LiveCheckRequest {
  readonly account: ServiceAccount;
  readonly application: string;
  readonly profile: ServiceProfile;
  /** `merchantId` is the id of an existing merchant; if null, the check creates one. */
  readonly subject: {
    readonly merchantId: string | null;
    readonly nif: string;
    readonly currency: string;
    readonly taxCode: string;
  };
  /** `url` is the address for the service. Null if the service cannot reach this machine. */
  readonly receiver: { readonly url: string; deliveries(): readonly KeptDelivery[] } | null;
  readonly secrets: readonly string[];
  readonly waitMs: number;
}

/** Result of a check. */
export interface LiveCheck {
  readonly rows: readonly LiveRow[];
  readonly requests: number;
  /** True if no row `does not fit` and the invoice was issued. */
  readonly fits: boolean;
}

/** The answer to a request as Lote reads it, with the raw document; null if no answer came. */
interface Asked<Answer> {
  readonly answer: Answer;
  readonly document: Document | null;
}

/**
 * Creates a merchant and an invoice at a service, waits for its event, asks for it, and compares each setting of the
 * profile with what was received.
 * @throws LoteError `service-unreachable`, `service-unauthorized`: nothing was created.
 */
export async function checkLive(request: LiveCheckRequest): Promise<LiveCheck> {
  const calls = openCounted(request);
  try {
    const { rows, isIssued } = await compare(request, calls);
    return { rows, requests: calls.count(), fits: isIssued && rows.every(({ verdict }) => verdict !== 'does not fit') };
  } finally {
    await calls.service.close();
  }
}

type Counted = ReturnType<typeof openCounted>;

/** Opens the service as Lote uses it, counts its requests, and keeps the last raw answer. */
function openCounted({ account, application, profile }: LiveCheckRequest) {
  let requests = 0;
  let pages = 0;
  let over = new AbortController();
  let last: ExchangeResult | null = null;
  const service = createInvoicingService({
    ...{ ...account, application, profile },
    capture: (answer) => void (last = answer),
    measure: (operation) => () => {
      requests += 1;
      if (operation === 'list-merchants' && (pages += 1) === MOST_PAGES) over.abort();
    },
  });

  async function asked<Answer>(call: () => Promise<Answer>): Promise<Asked<Answer>> {
    last = null;
    const answer = await call();
    return { answer, document: last === null ? null : documentOf(last) };
  }

  /** `isCut` is true if the list has more pages than the check reads. */
  async function list() {
    pages = 0;
    over = new AbortController();
    const read = await asked(() => service.listMerchants(over.signal));
    return { ...read, isCut: over.signal.aborted && read.answer.kind === 'unreadable' };
  }

  return { service, asked, list, count: () => requests };
}

async function compare(request: LiveCheckRequest, calls: Counted) {
  const { subject } = request;
  const { service, asked, list } = calls;
  const first = await list();
  requireAnswer(first);
  const registered = await register(request, calls);
  const details = { nif: subject.nif, legalName: 'Lote check', email: 'lote-check@example.com' };
  const create = () => service.createMerchant(details, `lote_check_${randomUUID()}`);
  const merchant = subject.merchantId === null ? await asked(create) : null;
  // A new merchant must be in the list, else Lote would create it again in the next run.
  const listed = merchant === null ? first : await list();
  const merchantId = merchant?.answer.kind === 'created' ? merchant.answer.merchantId : subject.merchantId;
  const post = (id: string) =>
    service.createInvoice(service.invoiceBody(invoiceOf(subject), id), `lote_check_${randomUUID()}`);
  const invoice = merchantId === null ? null : await asked(() => post(merchantId));
  const invoiceId = invoice?.answer.kind === 'created' ? invoice.answer.serviceId : null;
  const status = invoiceId === null ? null : await follow(invoiceId, request, calls);
  const missing = await asked(() => service.getInvoice(`${request.profile.invoice.idPrefix}${NO_INVOICE}`));
  const answers = { listed, registered: registered.document, merchant, invoice, invoiceId, status, missing };
  const rows = [
    ...requestRows(request, answers),
    ...(await placeRows(request, answers)),
    ...(await deliveryRows(request, registered.secret, invoiceId)),
  ];
  return { rows, isIssued: status?.answer.kind === 'status' && status.answer.status === 'issued' };
}

/** What the service has answered; null for a request that was not sent. */
interface Answers {
  readonly listed: Asked<MerchantListAnswer> & { readonly isCut: boolean };
  readonly registered: Document | null;
  readonly merchant: Asked<MerchantAnswer> | null;
  readonly invoice: Asked<CreateAnswer> | null;
  readonly invoiceId: string | null;
  readonly status: Asked<StatusAnswer> | null;
  /** A GET of an invoice that does not exist. */
  readonly missing: Asked<StatusAnswer>;
}

function requireAnswer({ answer, document }: Asked<MerchantListAnswer>): void {
  if (answer.kind === 'list' || (document !== null && answer.reason.code !== 'service-unauthorized')) return;
  const code = answer.reason.code === 'service-unauthorized' ? 'service-unauthorized' : 'service-unreachable';
  throw new LoteError(code, `Checking the service profile: ${answer.reason.message}. Nothing was created.`);
}

async function register({ profile, receiver }: LiveCheckRequest, { service, asked }: Counted) {
  if (receiver === null || !profile.webhook.register) return { document: null, secret: null };
  const { answer, document } = await asked(() => service.registerWebhook(receiver.url));
  return { document, secret: answer.kind === 'registered' ? answer.secret : null };
}

function invoiceOf({ nif, currency, taxCode }: LiveCheckRequest['subject']): Invoice {
  return {
    ref: 'lote-check',
    merchant: { nif, legalName: null, email: null },
    customer: { name: 'Lote check', taxId: '999999990' },
    currency,
    lines: [{ description: 'Lote check', quantity: '1', unitPrice: '1.23', taxCode }],
  };
}

/** GETs the invoice until it is final and its event has come, or until the time is over. */
async function follow(id: string, { receiver, waitMs }: LiveCheckRequest, { service, asked }: Counted) {
  const end = performance.now() + waitMs;
  let pauseMs = FIRST_PAUSE_MS;
  for (let looks = 1; ; looks += 1) {
    // oxlint-disable-next-line no-await-in-loop -- one request after another
    const seen = await asked(() => service.getInvoice(id));
    const isFinal = seen.answer.kind === 'status' && ['issued', 'failed'].includes(seen.answer.status);
    const hasCome = receiver === null || receiver.deliveries().length > 0;
    const leftMs = end - performance.now();
    if ((isFinal && hasCome) || looks >= MOST_LOOKS || leftMs <= 0) return seen;
    // oxlint-disable-next-line no-await-in-loop
    await sleep(Math.min(pauseMs, leftMs));
    pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
  }
}

/** Whether each request was answered as Lote expects. */
function requestRows({ profile, subject }: LiveCheckRequest, answers: Answers): readonly LiveRow[] {
  const { listMerchants, createMerchant, createInvoice, getInvoice } = profile.requests;
  const { listed, merchant, invoice, status } = answers;
  const list = listed.answer.kind === 'list' ? listed.answer.merchants : null;
  const isListed = merchant?.answer.kind !== 'created' || list?.some(({ nif }) => nif === subject.nif) === true;
  const count = 'reason' in listed.answer ? codeOf(listed.answer.reason) : `${list?.length ?? 0} merchants`;
  const says = list === null || isListed ? count : `${count}, not the new one`;
  const rows = [
    listed.isCut
      ? unseen('requests.listMerchants.path', listMerchants.path, 'list-has-more-pages')
      : row('requests.listMerchants.path', listMerchants.path, says, list !== null && isListed),
  ];
  if (merchant !== null) rows.push(creationRow('requests.createMerchant', createMerchant.path, merchant.answer));
  if (invoice !== null) rows.push(creationRow('requests.createInvoice', createInvoice.path, invoice.answer));
  if (status !== null) {
    const { answer } = status;
    const found = answer.reason === null ? `status ${status.document?.status ?? 'none'}` : codeOf(answer.reason);
    rows.push(row('requests.getInvoice.path', getInvoice.path, found, answer.kind === 'status' && isFound(status)));
  }
  return rows;
}

function creationRow(setting: string, path: Place, answer: MerchantAnswer | CreateAnswer): LiveRow {
  const says = 'reason' in answer ? `${answer.kind}: ${codeOf(answer.reason)}` : answer.kind;
  return row(setting, path, says, answer.kind === 'created');
}

function isFound(asked: Asked<unknown> | null): boolean {
  return asked !== null && asked.document !== null && is2xx(asked.document);
}

/** What each place of the profile holds in the answer to which it belongs. */
async function placeRows({ profile, subject }: LiveCheckRequest, answers: Answers): Promise<readonly LiveRow[]> {
  const { merchants, webhook, invoice, error } = profile;
  const documentIn = (asked: Asked<unknown> | null) => (isFound(asked) ? (asked?.document ?? null) : null);
  const list = answers.listed.document;
  const items = list === null ? null : await valueAt(list, merchants.items);
  const entries: readonly unknown[] = Array.isArray(items) ? items : [];
  const isOwnNif = (value: unknown): boolean => wordAt(value) === subject.nif;
  const own = entries.find((entry) => hasValue(entry, isOwnNif));
  const item = entries.length === 0 ? null : { body: own ?? entries[0] };
  const isWord = (value: unknown): boolean => wordAt(value) !== null;
  const isOwnId = (value: unknown): boolean => readId(value, invoice.idPrefix) === answers.invoiceId;
  const isSecret = (value: unknown): boolean => typeof value === 'string' && value !== '';
  const isIssued = (value: unknown): boolean => isOneOf(value, invoice.issued);
  const failed = [answers.missing, answers.invoice, answers.merchant]
    .flatMap((asked) => asked?.document ?? [])
    .find((document) => document.body !== undefined && !is2xx(document));
  const rows: (readonly [string, Place, Document | null, (value: unknown) => boolean])[] = [
    ['merchants.items', merchants.items, list, Array.isArray],
    ['merchants.id', merchants.id, item, isIdWith(merchants.idPrefix)],
    ['merchants.nif', merchants.nif, item, own === undefined ? isWord : isOwnNif],
    ['merchants.createdId', merchants.createdId, documentIn(answers.merchant), isIdWith(merchants.idPrefix)],
    ['invoice.id', invoice.id, documentIn(answers.invoice), isIdWith(invoice.idPrefix)],
    ['invoice.id (GET)', invoice.id, documentIn(answers.status), isOwnId],
    ['invoice.status', invoice.status, documentIn(answers.status), isIssued],
    ['error.code', error.code, failed ?? null, isWord],
    ['error.message', error.message, failed ?? null, isWord],
  ];
  if (answers.registered !== null) rows.push(['webhook.secret', webhook.secret, answers.registered, isSecret]);
  return Promise.all(rows.map(([setting, place, document, fits]) => placeRow([setting, place], document, fits)));
}

async function deliveryRows(
  request: LiveCheckRequest,
  secret: string | null,
  invoiceId: string | null,
): Promise<readonly LiveRow[]> {
  const { receiver, profile } = request;
  const { signature, event } = profile;
  const where = `${signature.header} ${signature.algorithm} ${signature.encoding} of ${signature.signed}`;
  const isAboutIt = (one: { readonly serviceId: string | null } | null): boolean => one?.serviceId === invoiceId;
  const came = invoiceId === null ? [] : (receiver?.deliveries() ?? []);
  const deliveries = await Promise.all(came.map(deliveryReader(request, secret)));
  const best = deliveries.find(({ events }) => events.some(isAboutIt)) ?? deliveries[0];
  if (best === undefined) {
    const received = receiver === null ? 'no receiver: name --webhook-url' : 'no delivery came';
    const parts = ['type', 'invoiceId', 'eventId'] as const;
    return [unseen('signature', where, received), ...parts.map((part) => unseen(`event.${part}`, event[part]))];
  }
  const read = best.events.find(isAboutIt) ?? best.events[0] ?? null;
  const places = placesOf(best.body);
  const signatures = best.headerNames.filter((name) => /sign|hmac|digest|token/.test(name));
  const rowOf = (part: 'type' | 'invoiceId' | 'eventId', value: unknown, fits: boolean): LiveRow =>
    withPlaces(row(`event.${part}`, event[part], shown(`event.${part}`, value), fits), places);
  return [
    best.refusal === null
      ? row('signature', where, 'it holds', true)
      : { ...row('signature', where, best.refusal, false), places: signatures.slice(0, MOST_SIGNATURES) },
    rowOf('type', read?.type, read !== null && read.verdict !== null),
    rowOf('invoiceId', read?.serviceId, read !== null && isAboutIt(read)),
    rowOf('eventId', read?.eventId, (read?.eventId ?? null) !== null),
  ];
}

const MOST_SIGNATURES = 3;

/** Reads a delivery as the receiver does. Also reads a refused delivery, so that the check can show its places. */
function deliveryReader({ profile, receiver, secrets }: LiveCheckRequest, registered: string | null) {
  const check = createSignatureCheck(profile.signature, () => receiver?.url ?? '');
  const read = createEventReader({ ...profile, idPrefix: profile.invoice.idPrefix });
  const known = registered === null ? secrets : [registered, ...secrets];
  return async ({ rawHeaders, raw, plain }: KeptDelivery) => {
    const now = Date.now();
    const rows = await read({ raw: plain, rawHeaders, receivedAt: now });
    return {
      body: parseJson(textOf(plain) ?? ''),
      headerNames: rawHeaders.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase()),
      refusal: check({ rawHeaders, now, bodies: plain === raw ? [raw] : [raw, plain] }, known),
      events: rows.map(({ event }) => event),
    };
  };
}

function isIdWith(prefix: string): (value: unknown) => boolean {
  return (value) => readId(value, prefix) !== null;
}
