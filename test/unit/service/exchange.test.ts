import { getEventListeners } from 'node:events';
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { Pool } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import { exchange, MAX_ANSWER_BYTES, type ExchangeLimits } from '../../../src/service/exchange.ts';
import type { ExchangeResult } from '../../../src/service/exchange-result.ts';
import { deadAddress, scriptedServer, sendJson, tcpServer } from './scripted-server.ts';

const LIMITS: ExchangeLimits = {
  totalMs: 20_000,
  secret: 'sk_test_secret-of-the-test',
  now: () => 0,
  signal: undefined,
};
const POST = { method: 'POST', path: '/v1/invoices', headers: {}, body: '{"a":1}' } as const;

function poolOf(baseUrl: string, options: Pool.Options = {}): Pool {
  const pool = new Pool(baseUrl, { connections: 1, pipelining: 1, ...options });
  onTestFinished(async () => await pool.destroy());
  return pool;
}

/** A server that answers everything with the same. */
const serving = (status: number, value: unknown, headers: Record<string, string> = {}) =>
  scriptedServer((_request, response) => sendJson(response, status, value, headers));

const confirm = async () => true;
const permitOf = (withdrawn: AbortSignal, isValid = () => true) => ({ withdrawn, isValid, confirm });

async function post(baseUrl: string, limits: Partial<ExchangeLimits> = {}): Promise<ExchangeResult> {
  return await exchange(poolOf(baseUrl), POST, { ...LIMITS, ...limits });
}

describe('exchange: permits', () => {
  it('writes nothing when the permit is over by the time the connection stands', async () => {
    const server = await serving(201, { id: 'inv_1' });
    const permit = permitOf(new AbortController().signal, () => false);

    expect(await post(server.baseUrl, { permit })).toEqual({ kind: 'not-permitted' });
    expect(server.received).toEqual([]);
  });

  it('asks for no connection when the permit was withdrawn before', async () => {
    const server = await tcpServer((socket) => socket.resume());

    expect(await post(server.baseUrl, { permit: permitOf(AbortSignal.abort()) })).toEqual({ kind: 'not-permitted' });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(server.connections()).toBe(0);
  });

  it('leave no listener behind on signals that live for a whole batch', async () => {
    const server = await serving(201, {});
    const [{ signal }, { signal: withdrawn }] = [new AbortController(), new AbortController()];

    await post(server.baseUrl, { signal, permit: permitOf(withdrawn) });

    expect([signal, withdrawn].flatMap((one) => getEventListeners(one, 'abort'))).toEqual([]);
  });

  it('hears the answer of what had left when the permit was withdrawn', async () => {
    const stop = new AbortController();
    const permit = permitOf(stop.signal, () => !stop.signal.aborted);
    const server = await scriptedServer((_request, response) => {
      stop.abort();
      setTimeout(() => sendJson(response, 201, { id: 'inv_1' }), 50);
    });

    expect(await post(server.baseUrl, { permit })).toMatchObject({ kind: 'answer', status: 201 });
  });

  it('does not wait for a connection any longer when the permit is withdrawn', async () => {
    const stop = new AbortController();
    const server = await scriptedServer((_request, response) => void setTimeout(() => response.end(), 300));
    const pool = poolOf(server.baseUrl);
    const first = exchange(pool, POST, LIMITS);
    const second = exchange(pool, POST, { ...LIMITS, permit: permitOf(stop.signal) });

    stop.abort();

    expect(await second).toEqual({ kind: 'not-permitted' });
    await first;
    expect(server.received).toHaveLength(1);
  });
});

describe('exchange: answers', () => {
  it('hands back status, Retry-After and JSON', async () => {
    const server = await serving(429, { n: 1 }, { 'retry-after': '3' });

    const end = await exchange(poolOf(server.baseUrl), { ...POST, headers: { 'x-version': '2' } }, LIMITS);

    expect(end).toEqual({
      ...{ kind: 'answer', status: 429, retryAfterMs: 3_000, body: { kind: 'json', value: { n: 1 } } },
      headers: expect.objectContaining({ 'retry-after': '3' }) as unknown,
    });
    expect(server.received, 'method, path, headers and body as they are').toMatchObject([
      { method: 'POST', url: '/v1/invoices', headers: { 'x-version': '2' }, body: '{"a":1}' },
    ]);
  });

  it('takes the last word after an announcement (103)', async () => {
    const server = await scriptedServer((_request, response) => {
      response.writeEarlyHints({ link: '</x>; rel=preload' });
      sendJson(response, 201, { id: 'inv_1' });
    });

    expect(await post(server.baseUrl)).toMatchObject({ kind: 'answer', status: 201 });
  });

  it('does not follow a redirect', async () => {
    const other = await serving(201, { id: 'inv_1' });
    const server = await scriptedServer((_request, response) =>
      response.writeHead(307, { location: other.baseUrl }).end(),
    );

    expect(await post(server.baseUrl)).toMatchObject({ kind: 'answer', status: 307 });
    expect(other.received).toEqual([]);
  });

  it.each([
    ['HTML', Buffer.from('<html>Bad gateway</html>'), 'not-json'],
    ['nothing', Buffer.alloc(0), 'empty'],
    ['broken UTF-8', Buffer.from([0x22, 0xff, 0x22]), 'not-json'],
    ['half a document', Buffer.from('{"id":"inv_1"'), 'not-json'],
    ['two documents', Buffer.from('{"id":"inv_1"}{"id":"inv_2"}'), 'not-json'],
    ['bottomless nesting', Buffer.from('['.repeat(200_000)), 'not-json'],
  ])('finds %s unreadable', async (_name, bytes, why) => {
    const server = await scriptedServer((_request, response) => response.writeHead(201).end(bytes));

    expect(await post(server.baseUrl)).toMatchObject({
      kind: 'answer',
      status: 201,
      body: { kind: 'unreadable', why },
    });
  });

  it.each([
    ['a bomb', gzipSync(Buffer.alloc(50 * 1024 * 1024)), {}],
    ['nothing', Buffer.alloc(0), { 'content-length': '0' }],
  ])('asks for nothing compressed and unfolds nothing: %s', async (_name, packed, headers) => {
    const server = await scriptedServer((_request, response) =>
      response.writeHead(201, { 'content-encoding': 'gzip', ...headers }).end(packed),
    );

    expect(await post(server.baseUrl)).toMatchObject({ body: { kind: 'unreadable', why: 'encoded' } });
  });

  it.each(['identity', ' Identity '])('reads an answer in the encoding %j: it is none', async (encoding) => {
    const server = await serving(201, { id: 'inv_1' }, { 'content-encoding': encoding });

    expect(await post(server.baseUrl)).toMatchObject({ body: { kind: 'json', value: { id: 'inv_1' } } });
  });

  it.each([
    ['encoded', { 'content-encoding': 'gzip' }, 64],
    ['oversize', {}, MAX_ANSWER_BYTES + 1],
  ])('hangs up on an answer that is %s: the rest of it costs nothing', async (why, headers, bytes) => {
    let hungUp: () => void = () => undefined;
    const gone = new Promise<void>((resolve) => (hungUp = resolve));
    const server = await scriptedServer((_request, response) => {
      response.on('close', hungUp);
      response.writeHead(201, headers).write(Buffer.alloc(bytes, 0x20));
    });

    expect(await post(server.baseUrl)).toMatchObject({ status: 201, body: { kind: 'unreadable', why } });
    await gone;
  });

  it('keeps the connection of an answer that was read to its end', async () => {
    const ports = new Set<number | undefined>();
    const server = await scriptedServer((_request, response) => {
      ports.add(response.socket?.remotePort);
      sendJson(response, 201, {});
    });
    const pool = poolOf(server.baseUrl);

    for (let nth = 0; nth < 3; nth += 1) await exchange(pool, POST, LIMITS);

    expect(ports.size).toBe(1);
  });

  it('reads an answer of exactly the limit', async () => {
    const text = JSON.stringify('x'.repeat(MAX_ANSWER_BYTES - 2));
    const server = await scriptedServer((_request, response) => response.writeHead(200).end(text));

    expect(await post(server.baseUrl)).toMatchObject({ body: { kind: 'json' } });
  });

  it('gives up on a slow drip, though each byte comes in time', async () => {
    const server = await scriptedServer((_request, response) => {
      response.writeHead(201);
      const drip = setInterval(() => response.write(' '), 10);
      response.on('close', () => clearInterval(drip));
    });

    expect(await post(server.baseUrl, { totalMs: 200 })).toMatchObject({
      status: 201,
      body: { kind: 'unreadable', why: 'cut-short' },
    });
  });

  it('knows a body that ends before its declared length', async () => {
    const server = await scriptedServer((_request, response) => {
      response.writeHead(201, { 'content-length': '1000' });
      response.write('{"id":"inv_1"}', () => response.destroy());
    });

    expect(await post(server.baseUrl)).toMatchObject({ status: 201, body: { kind: 'unreadable', why: 'cut-short' } });
  });

  it('hides the key when the answer quotes it', async () => {
    const server = await scriptedServer((request, response) =>
      sendJson(response.setHeader('www-authenticate', `Bearer error="${LIMITS.secret}"`), 401, {
        error: { message: `bad ${LIMITS.secret}!` },
        request,
      }),
    );

    const end = await post(server.baseUrl);

    expect(JSON.stringify(end)).toContain('bad [key]!');
    expect(end).toMatchObject({ headers: { 'www-authenticate': 'Bearer error="[key]"' } });
    expect(JSON.stringify(end)).not.toContain(LIMITS.secret);
  });
});

describe('exchange: nothing was sent', () => {
  it('when nobody listens', async () => {
    const end = await post(await deadAddress());

    expect(end).toEqual({ kind: 'not-sent', code: 'connection-refused', retryAfterMs: null });
  });

  it('when the name cannot be resolved', async () => {
    const lookup = (
      _name: string,
      _options: unknown,
      done: (error: Error, address: string, family: number) => void,
    ): void => done(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }), '', 4);
    const pool = poolOf('http://service.invalid', { connect: { lookup } });

    expect(await exchange(pool, POST, LIMITS)).toMatchObject({ kind: 'not-sent', code: 'name-not-resolved' });
  });

  it.each<[string, (socket: Socket) => unknown, string, number]>([
    [
      'the other side does not speak TLS',
      (socket) => socket.on('data', () => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n')),
      'tls-refused',
      20_000,
    ],
    [
      'the connection is reset during the handshake: the same error code means something else later',
      (socket) => socket.on('data', () => socket.resetAndDestroy()),
      'connection-reset-early',
      20_000,
    ],
    ['the handshake never ends', (socket) => socket.resume(), 'connect-timeout', 100],
  ])('when %s', async (_name, onConnection, code, totalMs) => {
    const server = await tcpServer(onConnection);

    const end = await post(server.baseUrl.replace('http:', 'https:'), { totalMs });

    expect(end).toMatchObject({ kind: 'not-sent', code });
  });

  it('when it was cancelled before', async () => {
    const server = await serving(201, {});

    const end = await post(server.baseUrl, { signal: AbortSignal.abort() });

    expect(end).toMatchObject({ kind: 'not-sent', code: 'cancelled' });
    expect(server.received).toEqual([]);
  });

  it('when it was cancelled in the queue', async () => {
    const stop = new AbortController();
    const server = await scriptedServer((_request, response) => void setTimeout(() => response.end(), 100));
    const pool = poolOf(server.baseUrl);
    const first = exchange(pool, POST, LIMITS);
    const second = exchange(pool, POST, { ...LIMITS, signal: stop.signal });

    stop.abort();

    expect(await second).toEqual({ kind: 'not-sent', code: 'cancelled', retryAfterMs: null });
    await first;
    expect(server.received).toHaveLength(1);
  });

  it('when the pool is closed', async () => {
    const pool = poolOf(await deadAddress());
    await pool.close();

    expect(await exchange(pool, POST, LIMITS)).toMatchObject({ kind: 'not-sent', code: 'request-not-sent' });
  });

  it('when it was given up in the queue, and it is not sent afterwards either', async () => {
    let answerFirst: () => void = () => undefined;
    const mayAnswer = new Promise<void>((resolve) => (answerFirst = resolve));
    const server = await scriptedServer((_request, response, nth) => {
      if (nth === 1) void mayAnswer.then(() => sendJson(response, 200, {}));
      else sendJson(response, 200, {});
    });
    const pool = poolOf(server.baseUrl);
    const first = exchange(pool, { ...POST, path: '/first' }, LIMITS);

    const end = await exchange(pool, { ...POST, path: '/second' }, { ...LIMITS, totalMs: 50 });
    answerFirst();
    await first;
    await exchange(pool, { ...POST, path: '/third' }, LIMITS);

    expect(end).toMatchObject({ kind: 'not-sent' });
    expect(server.received.map(({ url }) => url)).toEqual(['/first', '/third']);
  });
});

describe('exchange: it may have arrived', () => {
  it.each<[string, (socket: Socket) => unknown, object]>([
    ['the connection is reset after the request', (socket) => socket.resetAndDestroy(), { code: 'connection-reset' }],
    ['the other side closes without a word', (socket) => socket.end(), { code: 'connection-reset' }],
    [
      'nothing follows an announcement (103): it is no status line',
      (socket) => socket.end('HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n'),
      {},
    ],
    [
      '"100 Continue" comes unasked, whatever follows',
      (socket) => socket.write('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\ncontent-length: 2\r\n\r\n{}'),
      {},
    ],
    ['the answer is not HTTP', (socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n'), {}],
  ])('when %s', async (_name, onRequest, expected) => {
    const server = await tcpServer((socket) => socket.on('data', () => onRequest(socket)));

    expect(await post(server.baseUrl)).toMatchObject({ kind: 'broken', ...expected });
  });

  it('when no answer comes in time, and nothing waits on that connection any longer', async () => {
    let hungUp: () => void = () => undefined;
    const gone = new Promise<void>((resolve) => (hungUp = resolve));
    const server = await scriptedServer((_request, response) => void response.on('close', hungUp));

    expect(await post(server.baseUrl, { totalMs: 200 })).toEqual({ kind: 'broken', code: 'answer-timeout' });
    await gone;
  });

  it('when it was cancelled on the way', async () => {
    const stop = new AbortController();
    const server = await scriptedServer(() => stop.abort());

    expect(await post(server.baseUrl, { signal: stop.signal })).toEqual({ kind: 'broken', code: 'cancelled' });
  });

  it('when a kept-alive connection turns out to be dead, and it is not repeated behind our back', async () => {
    const server = await tcpServer((socket, nth) => {
      let requests = 0;
      socket.on('data', () => {
        requests += 1;
        if (requests === 1 && nth === 1) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}');
        else socket.resetAndDestroy();
      });
    });
    const pool = poolOf(server.baseUrl);
    await exchange(pool, POST, LIMITS);

    expect(await exchange(pool, POST, LIMITS)).toMatchObject({ kind: 'broken' });
    expect(server.connections()).toBe(1);
  });
});
