import { readMerchantList } from '../../../../src/service/merchants/merchant-list.ts';
import { invoiceBody } from '../../../../src/service/invoice-body.ts';
import type { AnswerBody, ExchangeResult } from '../../../../src/service/exchange-result.ts';
import type { ServiceProfile } from '../../../../src/service-profile/profile.ts';
import type { CapturedExchange } from '../../../../src/service/service-connection.ts';
import { createMasker, type RawDelivery } from '../../../../src/wiring/recordings/mask/masker.ts';
import type { Recording } from '../../../../src/wiring/recordings/recording.ts';
import type { BookedInvoice, BookedMerchant, Family, Problem, Reply } from '../../../services/fake/family.ts';

const BASE = 'http://127.0.0.1:1';
const API_KEY = 'sk_test_4242';
const SECRET = 'whsec_c2VjcmV0IG9mIHRoZSBmYW1pbGllcw==';
const CUSTOMER = { name: 'Joaquina Ferreira', taxId: '243210987' };
const MERCHANT = { legalName: 'Padaria Central, Lda', email: 'joaquina@padaria.example' };
const FIRST_NIF = 501_964_843;

/** What nobody may find in a recording. */
export const PRIVATE: readonly string[] = [
  ...[API_KEY, SECRET, CUSTOMER.name, CUSTOMER.taxId, MERCHANT.legalName, MERCHANT.email, String(FIRST_NIF)],
  ...['Joaquina', 'Ferreira', 'Padaria'],
];

type Raw = CapturedExchange | RawDelivery;

/** What a family answers and delivers for a few invoices, as Lote records it by the profile in force. */
export async function familyRecordings(
  family: Family,
  profile: ServiceProfile,
  inForce: ServiceProfile = profile,
  merchants = 41,
): Promise<readonly Recording[]> {
  const masker = createMasker({ profile: inForce, key: Buffer.alloc(32, 7), secrets: [API_KEY] });
  const recordings: Recording[] = [];
  for (const raw of await familyTraffic(family, profile, merchants)) {
    const name = `${String(recordings.length).padStart(6, '0')}.json`;
    // What was seen before decides what is private.
    // oxlint-disable-next-line no-await-in-loop
    recordings.push({ name, ...('answer' in raw ? await masker.exchange(raw) : await masker.delivery(raw)) });
  }
  return recordings;
}

/** The same before anything is masked. */
async function familyTraffic(family: Family, profile: ServiceProfile, merchants: number): Promise<readonly Raw[]> {
  const traffic = new Traffic(family, profile);
  await traffic.list(merchants);
  traffic.register();
  traffic.merchant();
  traffic.invoice(1, 'issued');
  traffic.invoice(2, 'failed');
  traffic.invoice(3, 'issued');
  const message = `The customer ${CUSTOMER.name} (${CUSTOMER.taxId}) is unknown`;
  traffic.problem({ kind: 'refused', code: 'tax_code_unknown', message, field: 'tax_code' });
  traffic.problem({ kind: 'too-fast', code: 'too_many_requests', message: 'Too many requests', field: 'rate' });
  const mismatch = { code: 'idempotency_mismatch', message: 'The key is known', field: 'idempotency_key' };
  traffic.problem({ kind: 'mismatch', ...mismatch });
  traffic.deliveries();
  return traffic.raw;
}

class Traffic {
  readonly raw: Raw[] = [];
  readonly #family: Family;
  readonly #profile: ServiceProfile;

  constructor(family: Family, profile: ServiceProfile) {
    this.#family = family;
    this.#profile = profile;
  }

  /** The pages that a client asks for. */
  async list(count: number): Promise<void> {
    const merchants = Array.from({ length: count }, (_, at) => merchant(this.#family, at + 1));
    const fetchPage = (path: string): ExchangeResult => {
      const url = new URL(path, BASE);
      const reply = this.#family.list(merchants, { query: url.searchParams, address: `${BASE}${url.pathname}` });
      return this.#answer('GET', path, reply);
    };
    await readMerchantList((path) => Promise.resolve(fetchPage(path)), { profile: this.#profile, baseUrl: BASE });
  }

  register(): void {
    if (!this.#profile.webhook.register) return;
    const registered = this.#family.answers.registered({ id: '7', url: 'http://127.0.0.1:2/webhooks', secret: SECRET });
    const body = JSON.stringify({ url: `http://lote:${SECRET}@127.0.0.1:2/webhooks`, events: ['invoice.issued'] });
    this.#answer('POST', this.#profile.requests.registerWebhook.path, registered, body);
  }

  merchant(): void {
    const { merchantCreated, merchantRepeated } = this.#family.answers;
    const { path } = this.#profile.requests.createMerchant;
    const created = merchant(this.#family, 900);
    const body = JSON.stringify({ legal_name: created.legalName, nif: created.nif, email: created.email });
    this.#answer('POST', path, merchantCreated(created, BASE), body);
    this.#answer('POST', path, (merchantRepeated ?? merchantCreated)(created, BASE), body);
  }

  invoice(number: number, status: 'issued' | 'failed'): void {
    const { created, shown, repeated, invoiceId } = this.#family.answers;
    const get = this.#profile.requests.getInvoice.path.replaceAll('{id}', invoiceId(number));
    this.#create(created(invoice(this.#family, number, 'processing'), BASE));
    this.#create((repeated ?? created)(invoice(this.#family, number, 'processing'), BASE));
    this.#answer('GET', get, shown(invoice(this.#family, number, 'processing'), BASE));
    this.#answer('GET', get, shown(invoice(this.#family, number, status), BASE));
  }

  problem(problem: Problem): void {
    this.#create(this.#family.answers.problem(problem));
  }

  deliveries(): void {
    const { events } = this.#family;
    if (events === null) return;
    const { signature: scheme } = this.#profile;
    for (const [number, outcome] of [
      [1, 'issued'],
      [2, 'failed'],
    ] as const) {
      const event = { id: `evt_${number}`, number, outcome, invoice: invoice(this.#family, number, outcome) };
      const url = `http://lote:${encodeURIComponent(SECRET)}@127.0.0.1:2/webhooks`;
      const { headers, body } = events.message({ id: `d${number}`, events: [event], url, secret: SECRET, now: 1 });
      const signature = { scheme, refusal: null };
      const rawHeaders = Object.entries(headers).flat();
      this.raw.push({ at: this.raw.length, rawHeaders, raw: Buffer.from(body), signature });
    }
  }

  #create(reply: Reply): void {
    const { path, body } = this.#profile.requests.createInvoice;
    const line = { description: 'Pastel de nata', quantity: '3', unitPrice: '1.2', taxCode: 'IVA_23' };
    const content = { ref: 'F-1', customer: CUSTOMER, currency: 'EUR', lines: [line] };
    const full = { ...content, merchant: { nif: String(FIRST_NIF), ...MERCHANT } };
    this.#answer('POST', path, reply, invoiceBody(full, this.#family.answers.merchantId(1), body));
  }

  #answer(method: string, path: string, reply: Reply, body: string | null = null): CapturedExchange['answer'] {
    const { status, headers = {} } = reply;
    const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
    const answer = { kind: 'answer', status, retryAfterMs: null, headers: lower, body: answerBody(reply) } as const;
    this.raw.push({ at: this.raw.length, method, base: BASE, path, body, answer });
    return answer;
  }
}

function answerBody({ body, text }: Reply): AnswerBody {
  if (body !== undefined) return { kind: 'json', value: JSON.parse(JSON.stringify(body)) as unknown };
  return text === undefined ? { kind: 'unreadable', why: 'empty' } : { kind: 'unreadable', why: 'not-json', text };
}

function merchant({ answers }: Family, number: number): BookedMerchant {
  return { number, id: answers.merchantId(number), key: null, nif: String(FIRST_NIF - 1 + number), ...MERCHANT };
}

function invoice({ answers }: Family, number: number, status: BookedInvoice['status']): BookedInvoice {
  const message = `The series of ${CUSTOMER.name} is closed`;
  const failure = status === 'failed' ? { code: 'series_closed', message } : null;
  const customer = { customerName: CUSTOMER.name, customerTaxId: CUSTOMER.taxId };
  const content = { merchantId: answers.merchantId(1), ...customer, currency: 'EUR', lines: [] };
  return { number, id: answers.invoiceId(number), key: 'k', content, status, failure };
}
