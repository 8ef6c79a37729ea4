import type { ExchangeResult } from '../../../../src/service/exchange-result.ts';
import { readMerchantList } from '../../../../src/service/merchants/merchant-list.ts';
import type { ServiceProfile } from '../../../../src/service-profile/profile.ts';
import {
  RECORDING_FORMAT,
  type DeliveryRecording,
  type ExchangeRecording,
  type Recording,
} from '../../../../src/wiring/recordings/recording.ts';
import { recordedEnd } from '../../../../src/wiring/replay/recorded-end.ts';
import type { BookedInvoice, BookedMerchant, Family, Problem, Reply } from '../../../services/fake/family.ts';

const BASE = 'http://127.0.0.1:1';
const SECRET = 'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA';

type Operation = ExchangeRecording['operation'];

/** Content of an invoice that nobody may find in a recording. */
export const PRIVATE = ['501964843', '243210987', 'Padaria Central', 'Joaquina Ferreira', 'joaquina@padaria.example'];

/** What a family answers and delivers for a few invoices, as Lote would have recorded it without masking. */
export async function familyRecordings(family: Family, profile: ServiceProfile): Promise<readonly Recording[]> {
  const recorder = new Recorder(profile, family);
  await recorder.list(250);
  recorder.merchant();
  for (const [number, status] of [
    [1, 'issued'],
    [2, 'failed'],
    [3, 'issued'],
  ] as const)
    recorder.invoice(number, status);
  recorder.problem({
    kind: 'refused',
    code: 'tax_code_unknown',
    message: 'The tax code is unknown',
    field: 'tax_code',
  });
  recorder.problem({ kind: 'too-fast', code: 'too_many_requests', message: 'Too many requests', field: 'rate' });
  recorder.problem({
    kind: 'mismatch',
    code: 'idempotency_mismatch',
    message: 'The key is known',
    field: 'idempotency_key',
  });
  recorder.deliveries();
  return recorder.recordings;
}

class Recorder {
  readonly recordings: Recording[] = [];
  readonly #profile: ServiceProfile;
  readonly #family: Family;

  constructor(profile: ServiceProfile, family: Family) {
    this.#profile = profile;
    this.#family = family;
  }

  /** The pages that a client asks for. */
  async list(count: number): Promise<void> {
    const merchants = Array.from({ length: count }, (_, at) => this.#merchant(at + 1));
    const fetchPage = (path: string): ExchangeResult => {
      const url = new URL(path, BASE);
      const reply = this.#family.list(merchants, { query: url.searchParams, address: `${BASE}${url.pathname}` });
      return recordedEnd(this.#answer('list-merchants', { method: 'GET', path }, reply));
    };
    await readMerchantList((path) => Promise.resolve(fetchPage(path)), { profile: this.#profile, baseUrl: BASE });
  }

  merchant(): void {
    const { merchantCreated, merchantRepeated } = this.#family.answers;
    const request = { method: 'POST', path: this.#profile.requests.createMerchant.path };
    const merchant = this.#merchant(9);
    this.#answer('create-merchant', request, merchantCreated(merchant, BASE));
    this.#answer('create-merchant', request, (merchantRepeated ?? merchantCreated)(merchant, BASE));
  }

  invoice(number: number, status: 'issued' | 'failed'): void {
    const { created, shown, repeated } = this.#family.answers;
    const { createInvoice, getInvoice } = this.#profile.requests;
    const post = { method: 'POST', path: createInvoice.path };
    const get = { method: 'GET', path: getInvoice.path.replaceAll('{id}', this.#family.answers.invoiceId(number)) };
    this.#answer('create-invoice', post, created(this.#invoice(number, 'processing'), BASE));
    this.#answer('create-invoice', post, (repeated ?? created)(this.#invoice(number, 'processing'), BASE));
    this.#answer('get-invoice', get, shown(this.#invoice(number, 'processing'), BASE));
    this.#answer('get-invoice', get, shown(this.#invoice(number, status), BASE));
  }

  problem(problem: Problem): void {
    const post = { method: 'POST', path: this.#profile.requests.createInvoice.path };
    this.#answer('create-invoice', post, this.#family.answers.problem(problem));
  }

  deliveries(): void {
    const { events } = this.#family;
    if (events === null) return;
    for (const [number, outcome] of [
      [1, 'issued'],
      [2, 'failed'],
    ] as const) {
      const event = { id: `evt_${number}`, number, outcome, invoice: this.#invoice(number, outcome) };
      const url = 'http://lote:secret@127.0.0.1:2/webhooks';
      const { headers, body } = events.message({ id: `d${number}`, events: [event], url, secret: SECRET, now: 1 });
      const { signature } = this.#profile;
      const recording: DeliveryRecording = {
        ...{ format: RECORDING_FORMAT, kind: 'delivery', name: this.#name(), at: this.recordings.length },
        headers: Object.entries(headers).flat(),
        body: { kind: 'json', value: JSON.parse(body) as unknown },
        signature: { scheme: signature, refusal: null },
      };
      this.recordings.push(recording);
    }
  }

  #answer(
    operation: Operation,
    request: { readonly method: string; readonly path: string },
    reply: Reply,
  ): ExchangeRecording {
    const { status, headers = {}, body, text } = reply;
    const parsed =
      body === undefined
        ? text === undefined
          ? ({ kind: 'unreadable', why: 'empty' } as const)
          : ({ kind: 'text', text } as const)
        : ({ kind: 'json', value: JSON.parse(JSON.stringify(body)) as unknown } as const);
    const recording: ExchangeRecording = {
      ...{ format: RECORDING_FORMAT, kind: 'exchange', name: this.#name(), at: this.recordings.length, operation },
      request: { ...request, base: BASE },
      answer: { status, headers: Object.entries(headers).flat(), body: parsed },
    };
    this.recordings.push(recording);
    return recording;
  }

  #name(): string {
    return `${String(this.recordings.length).padStart(4, '0')}.json`;
  }

  #merchant(number: number): BookedMerchant {
    const id = this.#family.answers.merchantId(number);
    const nif = String(501_964_842 + number);
    return { number, id, key: null, nif, legalName: 'Padaria Central', email: 'joaquina@padaria.example' };
  }

  #invoice(number: number, status: BookedInvoice['status']): BookedInvoice {
    const failure = status === 'failed' ? { code: 'series_closed', message: 'The series is closed' } : null;
    const customer = { customerName: 'Joaquina Ferreira', customerTaxId: '243210987' };
    const content = { merchantId: 'mrc_1', ...customer, currency: 'EUR', lines: [] };
    return { number, id: this.#family.answers.invoiceId(number), key: 'k', content, status, failure };
  }
}
