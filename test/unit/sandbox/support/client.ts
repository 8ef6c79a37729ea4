import { DEFAULT_API_KEY } from '../../../../src/sandbox/sandbox.ts';

/** Whatever JSON a test expects to find; each test asserts what it needs of it. */
export type Json = Record<string, unknown>;

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly json: Json;
}

export interface Request {
  readonly key?: string;
  readonly apiKey?: string;
  readonly headers?: Record<string, string>;
  readonly body?: unknown;
}

/** One real HTTP request to a sandbox. */
export async function call(url: string, method: string, path: string, request: Request = {}): Promise<Reply> {
  const { key, apiKey = DEFAULT_API_KEY, headers = {}, body } = request;
  const response = await fetch(`${url}${path}`, {
    method,
    headers: {
      Authorization: `Bearer ${apiKey}`,
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...(key === undefined ? {} : { 'Idempotency-Key': key }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
  return {
    status: response.status,
    headers: response.headers,
    text,
    json: isJson ? (JSON.parse(text) as Json) : {},
  };
}

/** The `error` object of a reply. */
export function errorOf(reply: Pick<Reply, 'json'>): Json {
  return (reply.json['error'] ?? {}) as Json;
}

/** Creates a merchant and gives its identifier. */
export async function merchantIn(url: string, nif = '5000000001', apiKey = DEFAULT_API_KEY): Promise<string> {
  const body = { legal_name: `Merchant ${nif}`, nif, email: 'fiscal@example.test' };
  const reply = await call(url, 'POST', '/v1/merchants', { body, apiKey });
  if (reply.status !== 201) throw new Error(`Creating a merchant: expected 201, found ${reply.status} ${reply.text}`);
  return String(reply.json['id']);
}

export interface InvoiceChanges {
  readonly taxCode?: string;
  readonly customer?: string;
}

/** Posts an invoice. */
export function postInvoice(url: string, body: unknown, key?: string): Promise<Reply> {
  return call(url, 'POST', '/v1/invoices', { body, ...(key === undefined ? {} : { key }) });
}

/** A valid invoice request; give each a customer of its own, so that no two have the same bytes. */
export function invoiceFor(merchantId: string, { taxCode = 'IVA_14', customer = 'Buyer' }: InvoiceChanges = {}): Json {
  return {
    merchant_id: merchantId,
    customer: { name: customer, tax_id: '123456789' },
    currency: 'EUR',
    lines: [{ description: 'Service', quantity: 2, unit_price: 10.5, tax_code: taxCode }],
  };
}
