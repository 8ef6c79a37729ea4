import { createHash, createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { givenInput, notify, untilLetGo } from './parent.ts';

export interface FakeInput {
  readonly latencyMs: number;
  /** From the POST to its webhook. */
  readonly settleMs: number;
  readonly secret: string;
  readonly warmUpInvoices: number;
}

export interface FakeUp {
  readonly url: string;
}

/** What the fake has seen since it was last asked to forget; times on one clock of its own. */
export interface FakeCounts {
  readonly posts: number;
  readonly created: number;
  /** Contents that were created a second time, under another key. */
  readonly duplicates: number;
  /** Invoices whose webhook was answered with 2xx. */
  readonly answered: number;
  readonly firstPostMs: number;
  readonly lastAnswerMs: number;
}

interface FakeInvoice {
  readonly id: string;
  answered: boolean;
}

/** How many webhooks are on the wire at a time, and how long the next try of one waits. */
const DELIVERIES_AT_ONCE = 128;
const RETRY_MS = 1_000;

const input = givenInput<FakeInput>();
const books = {
  byKey: new Map<string, FakeInvoice>(),
  contents: new Set<string>(),
  byId: new Map<string, FakeInvoice>(),
};
const merchants = new Map<string, object>();
let counts = nothing();
let hook: { readonly pool: Pool; readonly path: string } | null = null;
let lastId = 0;

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => respond(request, response, Buffer.concat(chunks)));
});
server.keepAliveTimeout = 120_000;
await new Promise<void>((resolve) => server.listen({ port: 0, host: '127.0.0.1', backlog: 511 }, resolve));
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
await warmUp();
notify({ url } satisfies FakeUp);
await untilLetGo();
process.exit(0);

function respond(request: IncomingMessage, response: ServerResponse, body: Buffer): void {
  const [path = ''] = (request.url ?? '').split('?');
  const key = String(request.headers['idempotency-key'] ?? '');
  switch (`${request.method} ${path}`) {
    case 'POST /v1/invoices':
      return createInvoice(response, body, key);
    case 'POST /v1/merchants':
      return send(response, 201, createMerchant(JSON.parse(body.toString()) as { nif: string }));
    case 'GET /v1/merchants':
      return send(response, 200, { data: [...merchants.values()], next_cursor: null });
    case 'POST /v1/webhooks':
      return send(response, 201, register((JSON.parse(body.toString()) as { url: string }).url));
    case 'POST /sink':
      return send(response, 200, {});
    case 'GET /counts':
      return send(response, 200, counts);
    case 'POST /forget':
      counts = nothing();
      return send(response, 200, {});
    default:
      return sendStatus(response, request.method === 'GET' ? path.replace('/v1/invoices/', '') : '');
  }
}

/** The one of the published operations that costs nothing: no body is validated. */
function createInvoice(response: ServerResponse, body: Buffer, key: string): void {
  counts.posts += 1;
  if (counts.firstPostMs === 0) counts.firstPostMs = performance.now();
  let invoice = books.byKey.get(key);
  if (invoice === undefined) {
    const content = createHash('sha1').update(body).digest('base64');
    if (books.contents.has(content)) counts.duplicates += 1;
    lastId += 1;
    invoice = { id: `inv_${lastId.toString(36).padStart(9, '0')}`, answered: false };
    counts.created += 1;
    books.contents.add(content);
    books.byId.set(invoice.id, invoice);
    if (key !== '') books.byKey.set(key, invoice);
    deliverAfter(input.settleMs, invoice);
  }
  setTimeout(send, input.latencyMs, response, 201, { id: invoice.id, status: 'processing' });
}

function createMerchant(given: { readonly nif: string }): object {
  const merchant = merchants.get(given.nif) ?? { id: `mrc_${merchants.size + 1}`, ...given };
  merchants.set(given.nif, merchant);
  return merchant;
}

function register(address: string): object {
  const { origin, pathname } = new URL(address);
  hook = { pool: new Pool(origin, { connections: DELIVERIES_AT_ONCE, pipelining: 1 }), path: pathname };
  return { id: 'whk_1', url: address, secret: input.secret };
}

function deliverAfter(delayMs: number, invoice: FakeInvoice): void {
  setTimeout(() => void deliver(invoice), delayMs);
}

async function deliver(invoice: FakeInvoice): Promise<void> {
  if (hook === null) return;
  const { pool, path } = hook;
  const event = { id: `evt_${invoice.id}`, type: 'invoice.issued', data: { id: invoice.id, status: 'issued' } };
  const body = JSON.stringify(event);
  const headers = {
    'content-type': 'application/json',
    'x-service-signature': createHmac('sha256', input.secret).update(body).digest('hex'),
  };
  const status = await pool.request({ method: 'POST', path, headers, body }).then(
    async (answer) => {
      await answer.body.dump();
      return answer.statusCode;
    },
    () => 0,
  );
  if (status < 200 || status > 299) {
    deliverAfter(RETRY_MS, invoice);
    return;
  }
  if (invoice.answered) return;
  invoice.answered = true;
  counts.answered += 1;
  counts.lastAnswerMs = performance.now();
}

function sendStatus(response: ServerResponse, id: string): void {
  if (books.byId.has(id)) send(response, 200, { id, status: 'issued' });
  else send(response, 404, { error: { code: 'not_found', message: 'there is no such resource' } });
}

function send(response: ServerResponse, status: number, document: object): void {
  const body = JSON.stringify(document);
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
  response.end(body);
}

/** Cold, this process would be everybody's ceiling: its own paths run first, and everything is forgotten. */
async function warmUp(): Promise<void> {
  register(`${url}/sink`);
  const pool = new Pool(url, { connections: DELIVERIES_AT_ONCE, pipelining: 1 });
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < input.warmUpInvoices) {
      next += 1;
      const headers = { 'content-type': 'application/json', 'idempotency-key': `warm-${next}` };
      const answer = await pool.request({ method: 'POST', path: '/v1/invoices', headers, body: `{"warm":${next}}` });
      await answer.body.dump();
    }
  };
  await Promise.all(Array.from({ length: DELIVERIES_AT_ONCE }, lane));
  while (counts.answered < input.warmUpInvoices) await sleep(10);
  await pool.close();
  await hook?.pool.close();
  hook = null;
  for (const book of Object.values(books)) book.clear();
  counts = nothing();
}

function nothing(): { -readonly [Name in keyof FakeCounts]: number } {
  return { posts: 0, created: 0, duplicates: 0, answered: 0, firstPostMs: 0, lastAnswerMs: 0 };
}
