// What every peer shares: the request, the receiver of webhooks, and the conversation with the bench. Only the engine differs between them.
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import { Pool } from 'undici';

/**
 * What the bench gave this process.
 * @type {{ batch: string, invoices: number, connections: number, serviceUrl: string, secret: string, storeUrl: string }}
 */
export const job = JSON.parse(process.argv[2] ?? 'null');

/** The invoices of the batch, by ordinal. */
export const ordinals = Array.from({ length: job.invoices }, (_, at) => at);

const PATH = '/webhooks';
const LOOK_EVERY_MS = 20;
const pool = new Pool(job.serviceUrl, { connections: job.connections, pipelining: 1 });
const headers = { authorization: 'Bearer sk_test_peer', 'content-type': 'application/json' };

/** POSTs one invoice under a key that its content gives, and returns the id that the service gave it. */
export async function postInvoice(ordinal) {
  const body = JSON.stringify({
    merchant_id: 'mrc_1',
    customer: { name: `Cliente ${ordinal} de ${job.batch}`, tax_id: String(200_000_000 + ordinal) },
    currency: 'EUR',
    lines: [{ description: `Artigo ${ordinal}`, quantity: 3, unit_price: 10.25, tax_code: 'IVA_23' }],
  });
  const key = createHash('sha256').update(job.batch).update(body).digest('hex');
  const { id } = await post('/v1/invoices', body, { 'idempotency-key': key });
  return id;
}

async function post(path, body, more = {}) {
  const answer = await pool.request({ method: 'POST', path, body, headers: { ...headers, ...more } });
  const document = await answer.body.json();
  if (answer.statusCode === 201) return document;
  throw new Error(`POST ${path}: expected 201, found ${answer.statusCode}`);
}

/** Receives webhooks: `record(id, body)` of each verified one is awaited before it is answered. */
export async function receive(record) {
  const server = createServer((request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      void answer(Buffer.concat(chunks), request.headers['x-service-signature'])
        .catch(() => 503)
        .then((status) => response.writeHead(status).end());
    });
  });
  async function answer(body, signature) {
    if (!isSigned(body, signature)) return 401;
    await record(JSON.parse(body.toString()).data.id, body);
    return 200;
  }
  await new Promise((resolve) => server.listen({ port: 0, host: '127.0.0.1', backlog: 511 }, resolve));
  const url = `http://127.0.0.1:${server.address().port}${PATH}`;
  await post('/v1/webhooks', JSON.stringify({ url, events: ['invoice.issued', 'invoice.failed'] }));
}

function isSigned(body, signature) {
  const expected = createHmac('sha256', job.secret).update(body).digest();
  const given = Buffer.from(String(signature), 'hex');
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** Starts the batch, waits until `countSettled()` says that all is settled, tells the bench, and leaves when the bench lets go. */
export async function work(start, countSettled) {
  const cpuBefore = process.cpuUsage();
  const started = performance.now();
  await start();
  while ((await countSettled()) < job.invoices) await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  const wallMs = performance.now() - started;
  const { user, system } = process.cpuUsage(cpuBefore);
  process.stdout.write(`${JSON.stringify({ wallMs, cpuMs: (user + system) / 1000 })}\n`);
  process.stdin.resume().once('end', () => process.exit(0));
}

/** Calls of one moment become one: `flush(items)` returns a result for each, in their order. */
export function batched(flush, most = 1_000) {
  let waiting = [];
  let isRunning = false;
  async function run() {
    isRunning = true;
    while (waiting.length > 0) {
      const now = waiting.slice(0, most);
      waiting = waiting.slice(most);
      await flush(now.map(({ item }) => item)).then(
        (results) => now.forEach(({ resolve }, at) => resolve(results?.[at])),
        (error) => now.forEach(({ reject }) => reject(error)),
      );
    }
    isRunning = false;
  }
  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (!isRunning) {
        isRunning = true;
        setImmediate(() => void run());
      }
    });
}
