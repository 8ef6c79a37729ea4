import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { LoteError } from '../../domain/errors.ts';
import type { Invoice } from '../../domain/invoice.ts';
import type { MerchantListAnswer } from '../../domain/records/service-answers.ts';
import { createInvoicingService } from '../../service/client.ts';
import { documentOf, type ExchangeResult } from '../../service/exchange-result.ts';
import type { Document } from '../../service/profile/place.ts';
import type { ServiceProfile } from '../../service/profile/profile.ts';
import { parseJson, textOf } from '../../webhooks/event-document.ts';
import { createEventReader } from '../../webhooks/event-reader.ts';
import { createSignatureCheck } from '../../webhooks/signature-check.ts';
import type { ServiceAccount } from '../account/open-service.ts';
import { deliveryAddress } from '../receiver/webhook-address.ts';
import { type Asked, LIST_CUT, type JudgedDelivery, type LiveRecord, liveRows, type LiveRow } from './live-rows.ts';
import type { KeptDelivery } from './temporary-receiver.ts';

/** Pages of the list of merchants, which is read twice. */
const MOST_PAGES = 4;
/** GETs of the invoice. */
const MOST_LOOKS = 8;
/** Requests of one check, whatever happens: four more than these. */
export const MOST_REQUESTS = 2 * MOST_PAGES + MOST_LOOKS + 4;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 10_000;
/** A GET of an invoice that does not exist shows how the service writes an error, and creates nothing. */
const NO_INVOICE = 'lote-check-no-such-invoice';

/** What a check is made with. */
export interface LiveCheckRequest {
  readonly account: ServiceAccount;
  readonly application: string;
  readonly profile: ServiceProfile;
  /** `merchantId`: id of an existing merchant; null: one is created. */
  readonly subject: {
    readonly merchantId: string | null;
    readonly nif: string;
    readonly currency: string;
    readonly taxCode: string;
  };
  /** `url`: the address by which the service reaches it. Null: the service cannot reach any. */
  readonly receiver: { readonly url: string; deliveries(): readonly KeptDelivery[] } | null;
  /** Of WEBHOOK_SECRET. */
  readonly secrets: readonly string[];
  readonly waitMs: number;
}

/** What a check found. */
export interface LiveCheck {
  readonly rows: readonly LiveRow[];
  readonly requests: number;
  /** Nothing was found that does not fit, and the invoice was read to its end. */
  readonly fits: boolean;
}

/**
 * Creates a merchant and an invoice at a service, waits for its event, asks for it, and compares each setting of the profile with what was received.
 * @throws LoteError `service-unreachable`, `service-unauthorized`: nothing was created.
 */
export async function checkLive(request: LiveCheckRequest): Promise<LiveCheck> {
  const calls = openCounted(request);
  try {
    const record = await recordOf(request, calls);
    const rows = await liveRows(record);
    const settled = record.status?.answer.kind === 'status' && record.status.answer.status === 'issued';
    return { rows, requests: calls.count(), fits: settled && rows.every(({ verdict }) => verdict !== 'does not fit') };
  } finally {
    await calls.service.close();
  }
}

type Counted = ReturnType<typeof openCounted>;

/** The service as Lote uses it, which counts its requests and keeps the last answer as it came. */
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

  return {
    service,
    asked,
    count: () => requests,
    list: () =>
      asked(async (): Promise<MerchantListAnswer> => {
        pages = 0;
        over = new AbortController();
        const answer = await service.listMerchants(over.signal);
        const isCut = over.signal.aborted && answer.kind === 'unreadable';
        return isCut ? { kind: 'unreadable', reason: { ...answer.reason, code: LIST_CUT } } : answer;
      }),
  };
}

async function recordOf(request: LiveCheckRequest, calls: Counted): Promise<LiveRecord> {
  const { profile, subject, receiver } = request;
  const { service, asked } = calls;
  const first = await calls.list();
  requireAnswer(first.answer, first.document);
  const registered = await register(request, calls);
  const merchant = subject.merchantId === null ? await createMerchant(subject.nif, calls) : null;
  // A new merchant must stand in the list, else Lote would create it again in the next run.
  const list = merchant === null ? first : await calls.list();
  const base = { profile, nif: subject.nif, list, merchant, registration: registered.document };
  const createdId = merchant?.answer.kind === 'created' ? merchant.answer.merchantId : null;
  const merchantId = subject.merchantId ?? createdId;
  if (merchantId === null)
    return { ...base, invoice: null, status: null, error: null, deliveries: receiver === null ? null : [] };
  const body = service.invoiceBody(invoiceOf(subject), merchantId);
  const invoice = await asked(() => service.createInvoice(body, `lote_check_${randomUUID()}`));
  const judge = deliveryJudge(request, registered.secret);
  const deliveries = async () => (receiver === null ? null : Promise.all(receiver.deliveries().map(judge)));
  const id = invoice.answer.kind === 'created' ? invoice.answer.serviceId : null;
  const status = id === null ? null : await follow(request.waitMs, calls, { id, deliveries });
  const error = await asked(() => service.getInvoice(`${profile.invoice.idPrefix}${NO_INVOICE}`));
  return { ...base, invoice, status, error: error.document, deliveries: await deliveries() };
}

function requireAnswer(list: MerchantListAnswer, document: Document | null): void {
  if (list.kind === 'list' || (document !== null && list.reason.code !== 'service-unauthorized')) return;
  const code = list.reason.code === 'service-unauthorized' ? 'service-unauthorized' : 'service-unreachable';
  throw new LoteError(code, `Checking the service profile: ${list.reason.message}. Nothing was created.`);
}

async function register({ profile, receiver, secrets }: LiveCheckRequest, { service, asked }: Counted) {
  if (receiver === null || !profile.webhook.register) return { document: null, secret: null };
  const url = deliveryAddress(receiver.url, profile.signature.kind, secrets[0] ?? null) ?? receiver.url;
  const { answer, document } = await asked(() => service.registerWebhook(url));
  return { document, secret: answer.kind === 'registered' ? answer.secret : null };
}

function createMerchant(nif: string, { service, asked }: Counted) {
  const details = { nif, legalName: 'Lote check', email: 'lote-check@example.com' };
  return asked(() => service.createMerchant(details, `lote_check_${randomUUID()}`));
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

/** Asks for the invoice until it has a final word and its event has come, or the time is over. */
async function follow(
  waitMs: number,
  { service, asked }: Counted,
  { id, deliveries }: { readonly id: string; readonly deliveries: () => Promise<readonly JudgedDelivery[] | null> },
) {
  const end = performance.now() + waitMs;
  let pauseMs = FIRST_PAUSE_MS;
  for (let looks = 1; ; looks += 1) {
    // oxlint-disable-next-line no-await-in-loop -- one question after another
    const seen = await asked(() => service.getInvoice(id));
    // oxlint-disable-next-line no-await-in-loop
    const came = await deliveries();
    const isFinal = seen.answer.kind === 'status' && ['issued', 'failed'].includes(seen.answer.status);
    const leftMs = end - performance.now();
    if ((isFinal && (came === null || came.length > 0)) || looks >= MOST_LOOKS || leftMs <= 0) return seen;
    // oxlint-disable-next-line no-await-in-loop
    await sleep(Math.min(pauseMs, leftMs));
    pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
  }
}

/** Reads deliveries as the receiver does. One that is refused is read all the same, so that its places can be shown. */
function deliveryJudge({ profile, receiver, secrets }: LiveCheckRequest, registered: string | null) {
  const url = receiver?.url ?? null;
  const check = createSignatureCheck({ shape: profile.signature, url: () => url });
  const read = createEventReader({ ...profile, idPrefix: profile.invoice.idPrefix });
  const known = registered === null ? secrets : [registered, ...secrets];
  return async ({ rawHeaders, raw, unpacked, pathSecret }: KeptDelivery): Promise<JudgedDelivery> => {
    const now = Date.now();
    const head = { rawHeaders, now, pathSecret };
    const plain = unpacked.kind === 'unpacked' ? unpacked.bytes : raw;
    const rows = await read({ raw: plain, rawHeaders, receivedAt: now });
    return {
      body: parseJson(textOf(plain) ?? ''),
      headerNames: rawHeaders.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase()),
      refusal: check.verify(head, known, raw, unpacked),
      events: rows.map(({ event }) => event),
    };
  };
}
