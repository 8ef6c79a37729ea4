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
import { is2xx, isOneOf, readId, wordAt, type Document } from '../../service/profile/place.ts';
import type { ServiceProfile } from '../../service/profile/profile.ts';
import { textOf } from '../../service/profile/exact-json.ts';
import { createEventReader, parseJson } from '../../webhooks/event-reader.ts';
import { createSignatureCheck } from '../../webhooks/signature-check.ts';
import type { ServiceAccount } from '../account/open-service.ts';
import {
  codeOf,
  leavesOf,
  placeRow,
  row,
  shown,
  unseen,
  valueAt,
  withCandidates,
  type Known,
  type LiveRow,
} from './setting-rows.ts';
import type { KeptDelivery } from './temporary-receiver.ts';

/** Most GETs of the invoice. */
const MOST_LOOKS = 8;
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
  /** Secrets of WEBHOOK_SECRET. */
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
  let last: ExchangeResult | null = null;
  const service = createInvoicingService({
    ...{ ...account, application, profile },
    capture: (answer) => void (last = answer),
    measure: () => () => void (requests += 1),
  });

  async function asked<Answer>(call: () => Promise<Answer>): Promise<Asked<Answer>> {
    last = null;
    const answer = await call();
    return { answer, document: last === null ? null : documentOf(last) };
  }

  return { service, asked, list: () => asked(() => service.listMerchants()), count: () => requests };
}

async function compare(request: LiveCheckRequest, calls: Counted) {
  const { profile, subject } = request;
  const { service, asked } = calls;
  const first = await calls.list();
  requireAnswer(first);
  const registered = await register(request, calls);
  const details = { nif: subject.nif, legalName: 'Lote check', email: 'lote-check@example.com' };
  const create = () => service.createMerchant(details, `lote_check_${randomUUID()}`);
  const merchant = subject.merchantId === null ? await asked(create) : null;
  const created = merchant?.answer.kind === 'created' ? merchant.answer.merchantId : null;
  const known: Known = { nif: subject.nif, profile, invoiceId: null };
  const rows = [
    // A new merchant must be in the list, else Lote would create it again in the next run.
    ...(await listRows(merchant === null ? first : await calls.list(), created !== null, known)),
    ...(merchant === null ? [] : await createdRows(merchant, 'createMerchant', known)),
    ...(await secretRows(registered.document, known)),
  ];
  const merchantId = subject.merchantId ?? created;
  if (merchantId === null) {
    rows.push(unseen('invoice.id', profile.invoice.id), unseen('invoice.status', profile.invoice.status));
    rows.push(...(await errorRows([merchant], known)), ...(await deliveryRows(request, null, known)));
    return { rows, isIssued: false };
  }
  const body = service.invoiceBody(invoiceOf(subject), merchantId);
  const invoice = await asked(() => service.createInvoice(body, `lote_check_${randomUUID()}`));
  const id = invoice.answer.kind === 'created' ? invoice.answer.serviceId : null;
  const knownNow = { ...known, invoiceId: id };
  const status = id === null ? null : await follow(id, request, calls);
  const error = await asked(() => service.getInvoice(`${profile.invoice.idPrefix}${NO_INVOICE}`));
  rows.push(...(await createdRows(invoice, 'createInvoice', knownNow)), ...(await statusRows(status, knownNow)));
  rows.push(...(await errorRows([error, invoice, merchant], knownNow)));
  rows.push(...(await deliveryRows(request, registered.secret, knownNow)));
  return { rows, isIssued: status?.answer.kind === 'status' && status.answer.status === 'issued' };
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

async function listRows(
  { answer, document }: Asked<MerchantListAnswer>,
  wasCreated: boolean,
  known: Known,
): Promise<readonly LiveRow[]> {
  const { merchants, requests } = known.profile;
  if (document === null) return [unseen('merchants.items', merchants.items)];
  const isOwn = (value: unknown): boolean => wordAt(value) === known.nif;
  const isMissing = answer.kind === 'list' && wasCreated && !answer.merchants.some(({ nif }) => isOwn(nif));
  const count = answer.kind === 'list' ? `${answer.merchants.length} merchants` : codeOf(answer.reason);
  const { path } = requests.listMerchants;
  const says = isMissing ? `${count}, not the new one` : count;
  const items = await valueAt(document, merchants.items);
  const entries: readonly unknown[] = Array.isArray(items) ? items : [];
  const own = entries.find((item) => leavesOf(item).some(({ value }) => isOwn(value)));
  const item = entries.length === 0 ? null : { body: own ?? entries[0] };
  const isNif = (value: unknown): boolean => (own === undefined ? wordAt(value) !== null : isOwn(value));
  return [
    row('requests.listMerchants.path', path, says, answer.kind === 'list' && !isMissing),
    await placeRow(['merchants.items', merchants.items], document, known, Array.isArray),
    await placeRow(['merchants.id', merchants.id], item, known, isIdWith(merchants.idPrefix)),
    await placeRow(['merchants.nif', merchants.nif], item, known, isNif),
  ];
}

async function createdRows(
  { answer, document }: Asked<MerchantAnswer | CreateAnswer>,
  request: 'createMerchant' | 'createInvoice',
  known: Known,
): Promise<readonly LiveRow[]> {
  const { merchants, invoice, requests } = known.profile;
  const isMerchant = request === 'createMerchant';
  const says = 'reason' in answer ? `${answer.kind}: ${codeOf(answer.reason)}` : answer.kind;
  const creation = row(`requests.${request}`, requests[request].path, says, answer.kind === 'created');
  if (document === null || !is2xx(document)) return [creation];
  const setting = isMerchant
    ? (['merchants.createdId', merchants.createdId] as const)
    : (['invoice.id', invoice.id] as const);
  return [creation, await placeRow(setting, document, known, isIdWith((isMerchant ? merchants : invoice).idPrefix))];
}

async function secretRows(registration: Document | null, known: Known): Promise<readonly LiveRow[]> {
  const { webhook } = known.profile;
  if (registration === null) return [];
  const isSecret = (value: unknown): boolean => typeof value === 'string' && value !== '';
  return [await placeRow(['webhook.secret', webhook.secret], registration, known, isSecret)];
}

async function statusRows(status: Asked<StatusAnswer> | null, known: Known): Promise<readonly LiveRow[]> {
  const { invoice, requests } = known.profile;
  if (status === null) return [unseen('invoice.status', invoice.status)];
  const { answer, document } = status;
  const { path } = requests.getInvoice;
  if (answer.kind === 'not-now' || document === null || !is2xx(document)) {
    const says = answer.reason === null ? `status ${document?.status ?? 'none'}` : codeOf(answer.reason);
    return [row('requests.getInvoice.path', path, says, false), unseen('invoice.status', invoice.status)];
  }
  const isOwn = (value: unknown): boolean => readId(value, invoice.idPrefix) === known.invoiceId;
  const isIssued = (value: unknown): boolean => isOneOf(value, invoice.issued);
  return [
    row('requests.getInvoice.path', path, `status ${document.status ?? ''}`, true),
    await placeRow(['invoice.id (GET)', invoice.id], document, known, isOwn),
    await placeRow(['invoice.status', invoice.status], document, known, isIssued),
  ];
}

async function errorRows(answers: readonly (Asked<unknown> | null)[], known: Known): Promise<readonly LiveRow[]> {
  const { error } = known.profile;
  const documents = answers.flatMap((one) => one?.document ?? []);
  const document = documents.find((one) => one.body !== undefined && !is2xx(one)) ?? null;
  const isWord = (value: unknown): boolean => wordAt(value) !== null;
  return [
    await placeRow(['error.code', error.code], document, known, isWord),
    await placeRow(['error.message', error.message], document, known, isWord),
  ];
}

async function deliveryRows(
  request: LiveCheckRequest,
  secret: string | null,
  known: Known,
): Promise<readonly LiveRow[]> {
  const { signature, event } = known.profile;
  const { receiver } = request;
  const where = `${signature.header} ${signature.algorithm} ${signature.encoding} of ${signature.signed}`;
  const isAboutIt = (one: { readonly serviceId: string | null } | null): boolean => one?.serviceId === known.invoiceId;
  const came = known.invoiceId === null ? [] : (receiver?.deliveries() ?? []);
  const deliveries = await Promise.all(came.map(deliveryReader(request, secret)));
  const best = deliveries.find(({ events }) => events.some(isAboutIt)) ?? deliveries[0];
  if (best === undefined) {
    const received = receiver === null ? 'no receiver: name --webhook-url' : 'no delivery came';
    const parts = ['type', 'invoiceId', 'eventId'] as const;
    return [unseen('signature', where, received), ...parts.map((part) => unseen(`event.${part}`, event[part]))];
  }
  const read = best.events.find(isAboutIt) ?? best.events[0] ?? null;
  const leaves = leavesOf(best.body);
  const signatures = best.headerNames.filter((name) => /sign|hmac|digest|token/.test(name));
  const rowOf = (part: 'type' | 'invoiceId' | 'eventId', value: unknown, fits: boolean): LiveRow =>
    withCandidates(row(`event.${part}`, event[part], shown(`event.${part}`, value), fits), leaves, known);
  return [
    best.refusal === null
      ? row('signature', where, 'it holds', true)
      : { ...row('signature', where, best.refusal, false), candidates: signatures.slice(0, MOST_SIGNATURES) },
    rowOf('type', read?.type, read !== null && read.verdict !== null),
    rowOf('invoiceId', read?.serviceId, read !== null && isAboutIt(read)),
    rowOf('eventId', read?.eventId, (read?.eventId ?? null) !== null),
  ];
}

const MOST_SIGNATURES = 3;

/** Reads a delivery as the receiver does. Also reads a refused delivery, so that the check can show its places. */
function deliveryReader({ profile, receiver, secrets }: LiveCheckRequest, registered: string | null) {
  const check = createSignatureCheck({ shape: profile.signature, url: () => receiver?.url ?? null });
  const read = createEventReader({ ...profile, idPrefix: profile.invoice.idPrefix });
  const known = registered === null ? secrets : [registered, ...secrets];
  return async ({ rawHeaders, raw, unpacked }: KeptDelivery) => {
    const now = Date.now();
    const plain = unpacked.kind === 'unpacked' ? unpacked.bytes : raw;
    const rows = await read({ raw: plain, rawHeaders, receivedAt: now });
    return {
      body: parseJson(textOf(plain) ?? ''),
      headerNames: rawHeaders.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase()),
      refusal: check.verify({ rawHeaders, now }, known, raw, unpacked),
      events: rows.map(({ event }) => event),
    };
  };
}

function isIdWith(prefix: string): (value: unknown) => boolean {
  return (value) => readId(value, prefix) !== null;
}
