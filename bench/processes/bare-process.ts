import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Pool } from 'undici';
import { peakRssMb } from '../measures/peak-rss.ts';
import { givenInput, notify, untilLetGo } from './parent.ts';

export interface BareInput {
  readonly sandboxUrl: string;
  readonly apiKey: string;
  readonly invoices: number;
  /** As many connections as Lote's default profile has. */
  readonly connections: number;
  /** At most so many POSTs a second, evenly; left out: as many as the connections take. */
  readonly requestsPerSecond?: number;
}

export interface BareRun {
  /** From the first POST to the last webhook. */
  readonly wallMs: number;
  /** From the first POST to the last answer. */
  readonly sendingMs: number;
  readonly cpuMs: number;
  readonly peakRssMb: number;
}

const input = givenInput<BareInput>();
const pool = new Pool(input.sandboxUrl, { connections: input.connections, pipelining: 1 });
const headers = { authorization: `Bearer ${input.apiKey}`, 'content-type': 'application/json' };

const webhooks = await countWebhooks(input.invoices);
await post('/v1/webhooks', JSON.stringify({ url: webhooks.url, events: ['invoice.issued', 'invoice.failed'] }));
const { id: merchantId } = JSON.parse(
  await post('/v1/merchants', JSON.stringify({ legal_name: 'Bare', nif: '501964843', email: 'bare@bare.example' })),
) as { id: string };

const cpuBefore = process.cpuUsage();
const started = performance.now();
let next = 0;
await Promise.all(Array.from({ length: input.connections }, lane));
const sendingMs = performance.now() - started;
await webhooks.allCame;
const wallMs = performance.now() - started;
const { user, system } = process.cpuUsage(cpuBefore);
notify({
  wallMs,
  sendingMs,
  cpuMs: (user + system) / 1000,
  peakRssMb: peakRssMb(),
} satisfies BareRun);
await untilLetGo();
await pool.close();
webhooks.close();

/** Sends the next invoice until none is left; reads the answer, and keeps nothing of it. */
async function lane(): Promise<void> {
  while (next < input.invoices) {
    const ordinal = ++next;
    if (input.requestsPerSecond !== undefined) await turn(ordinal, input.requestsPerSecond);
    await post('/v1/invoices', invoiceText(ordinal), { 'idempotency-key': `bare_${process.pid}_${ordinal}` });
  }
}

async function turn(ordinal: number, requestsPerSecond: number): Promise<void> {
  const waitMs = started + (ordinal * 1_000) / requestsPerSecond - performance.now();
  if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
}

async function post(path: string, body: string, more: Record<string, string> = {}): Promise<string> {
  const answer = await pool.request({ method: 'POST', path, body, headers: { ...headers, ...more } });
  const text = await answer.body.text();
  if (answer.statusCode === 201) return text;
  throw new Error(`POST ${path}: expected 201, found ${answer.statusCode}`);
}

function invoiceText(ordinal: number): string {
  return JSON.stringify({
    merchant_id: merchantId,
    customer: { name: `Cliente Secreto ${ordinal}`, tax_id: String(200_000_000 + ordinal) },
    currency: 'EUR',
    lines: [{ description: `Artigo ${ordinal}`, quantity: 3, unit_price: 10.25, tax_code: 'IVA_23' }],
  });
}

async function countWebhooks(expected: number) {
  let came = 0;
  let resolveAll: () => void = () => undefined;
  const allCame = new Promise<void>((resolve) => (resolveAll = resolve));
  const server = createServer((request, response) => {
    request.resume().once('end', () => {
      came += 1;
      response.writeHead(204).end();
      if (came === expected) resolveAll();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`,
    allCame,
    close: () => server.close(),
  };
}
