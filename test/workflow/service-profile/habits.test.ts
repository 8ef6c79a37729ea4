import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { testInvoices } from '../../support/files/batch-file.ts';
import type { StackOptions } from '../../support/lote/stack-parts.ts';
import { withStack } from '../../support/lote/stack.ts';
import { ownPort } from '../../support/servers/own-port.ts';

const INVOICES = 3;
const SECRET = 'whsec_habits';
const MB = 1024 * 1024;

interface Habit {
  /** Byte-order marks before each answer. */
  readonly marks?: number;
  /** Bytes that each created invoice repeats. */
  readonly echo?: number;
  /** Its deliveries are gzip, signed over what it packs or over the packed bytes. */
  readonly packed?: 'signed-plain' | 'signed-packed';
  /** Path of WEBHOOK_URL; what the proxy before the receiver cuts off. */
  readonly path?: string;
  readonly cut?: string;
}

interface Books {
  posts: number;
  readonly deliveries: number[];
}

/** A service in the default shape with one habit; it delivers once, so that only a delivery that is taken counts. */
async function serviceWith({ marks = 0, echo = 0, packed, cut = '' }: Habit): Promise<{ url: string; books: Books }> {
  const books: Books = { posts: 0, deliveries: [] };
  const created = new Map<string, object>();
  let hook = '';
  async function deliver(id: string): Promise<void> {
    const json = Buffer.from(JSON.stringify({ id: `evt_${id}`, type: 'invoice.issued', data: { id } }));
    const body = packed === undefined ? json : gzipSync(json);
    const signed = packed === 'signed-packed' ? body : json;
    const headers = {
      'content-type': 'application/json',
      'x-service-signature': createHmac('sha256', SECRET).update(signed).digest('hex'),
      ...(packed !== undefined && { 'content-encoding': 'gzip' }),
    };
    const { status } = await fetch(hook.replace(cut, ''), { method: 'POST', body, headers });
    books.deliveries.push(status);
  }
  function answerTo(method: string, path: string, key: string, body: string): object | null {
    const known = created.get(key);
    if (method === 'POST' && path === '/v1/invoices') books.posts += 1;
    if (known !== undefined) return known;
    if (path === '/v1/merchants' && method === 'GET') return { data: [], next_cursor: null };
    if (path === '/v1/webhooks') {
      hook = (JSON.parse(body) as { url: string }).url;
      return { id: 'wh_1', secret: SECRET };
    }
    if (method === 'GET') return { id: path.split('/').at(-1), status: 'issued' };
    const prefix = path === '/v1/merchants' ? 'mrc' : 'inv';
    const made = {
      note: 'x'.repeat(prefix === 'inv' ? echo : 0),
      id: `${prefix}_${created.size}`,
      status: 'processing',
    };
    created.set(key, made);
    // The receiver of a batch that has ended may be gone.
    if (prefix === 'inv') setTimeout(() => void deliver(made.id).catch(() => undefined), 500);
    return made;
  }
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (part: string) => (text += part));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const answer = answerTo(method, url.split('?')[0] ?? '', String(headers['idempotency-key']), text);
      response.writeHead(method === 'POST' ? 201 : 200, { 'content-type': 'application/json' });
      response.end('\uFEFF'.repeat(marks) + JSON.stringify(answer));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, books };
}

async function runWith(habit: Habit) {
  const [port, service] = [await ownPort(), await serviceWith(habit)];
  const WEBHOOK_URL = `http://127.0.0.1:${port}${habit.path ?? '/webhooks'}`;
  const options: StackOptions = {
    ...{ service: { url: service.url, key: 'sk_test_habits' }, receiverPort: port },
    env: { WEBHOOK_URL, LOTE_SETTLE_TIMEOUT: '60s' },
  };
  const { counts } = await withStack(options, (stack) => stack.run('may.csv', testInvoices(INVOICES)));
  return { counts, books: service.books };
}

describe('a service with a habit of its own', () => {
  it.each<[string, Habit]>([
    ['packs deliveries and signs what it packs', { packed: 'signed-plain' }],
    ['packs deliveries and signs what it sends', { packed: 'signed-packed' }],
    ['has the address of the receiver with a final slash', { path: '/webhooks/' }],
    ['has an address behind the prefix of a proxy, which cuts it off', { path: '/lote/webhooks', cut: '/lote' }],
    ['has an address behind the prefix of a proxy, which keeps it', { path: '/lote/webhooks/' }],
    ['has another path', { path: '/hooks/invoices' }],
    ['writes two byte-order marks before an answer', { marks: 2 }],
    ['repeats an invoice of 5 MB in the answer', { echo: 5 * MB }],
  ])('%s: each invoice is issued by one POST and its delivery', async (_name, habit) => {
    const { counts, books } = await runWith(habit);

    expect(counts).toMatchObject({ issued: INVOICES });
    expect(books).toMatchObject({ posts: INVOICES, deliveries: [204, 204, 204] });
  });

  it('repeats more than Lote reads: no POST is repeated in the run, and nothing is called failed', async () => {
    const { counts, books } = await runWith({ echo: 17 * MB });

    expect(counts).toMatchObject({ unknown: INVOICES });
    expect(books.posts).toBe(INVOICES);
  });
});
