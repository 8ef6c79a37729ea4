import { describe, expect, it } from 'vitest';
import { deliver, eventOf, rawConnection, receiverOf, signatureOf } from './receiver-fixture.ts';

const BODY = eventOf(1);
const SIGNATURE = signatureOf(BODY);
const IMPATIENT = { headers: 300, request: 300, check: 50 };

function rawRequest(headers: readonly string[], body = ''): string {
  return ['POST /webhooks HTTP/1.1', 'Host: lote', ...headers, '', body].join('\r\n');
}

describe('other addresses of the receiver', () => {
  it.each([
    ['GET', '/webhooks', 405],
    ['PUT', '/webhooks', 405],
    ['DELETE', '/webhooks', 405],
    ['OPTIONS', '/webhooks', 405],
    ['POST', '/health', 405],
    ['POST', '/', 404],
    ['POST', '/webhooks/x', 404],
    ['POST', '/Webhooks', 404],
    ['GET', '/../../etc/passwd', 404],
    ['GET', '/health', 200],
  ])('%s %s is answered %d', async (method, path, status) => {
    const receiver = await receiverOf();

    const response = await fetch(new URL(path, receiver.url), {
      method,
      ...(method === 'POST' || method === 'PUT' ? { body: BODY, headers: { 'x-service-signature': SIGNATURE } } : {}),
    });

    expect(response.status).toBe(status);
    expect(receiver.ledger.groups).toEqual([]);
  });

  it('says which method it takes', async () => {
    const receiver = await receiverOf();

    expect((await fetch(receiver.url)).headers.get('allow')).toBe('POST');
  });
});

it.each([
  ['wrong', signatureOf(BODY, 'other')],
  ['10 KB long', 'a'.repeat(10_240)],
])('a signature that is %s: 401, and nothing is stored or said', async (_name, signature) => {
  const receiver = await receiverOf();

  const response = await deliver(receiver.url, BODY, { 'x-service-signature': signature });

  expect(response.status).toBe(401);
  expect(await response.text()).toBe('');
  expect(receiver.ledger.groups).toEqual([]);
  expect(receiver.logged.join()).not.toContain(SIGNATURE);
});

describe('hostile bodies', () => {
  it('one byte more than the limit, declared: 413', async () => {
    const receiver = await receiverOf();

    expect((await deliver(receiver.url, 'x'.repeat(256 * 1024 + 1))).status).toBe(413);
  });

  it('exactly the limit: stored', async () => {
    const receiver = await receiverOf();

    expect((await deliver(receiver.url, 'x'.repeat(256 * 1024))).status).toBe(204);
  });

  it('chunked without end: 413, and the connection is closed', async () => {
    const receiver = await receiverOf();
    const connection = await rawConnection(receiver.port);
    connection.socket.write(rawRequest([`X-Service-Signature: ${SIGNATURE}`, 'Transfer-Encoding: chunked']));
    const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
    // A write to a closed connection fails at once: to go on then is to leave the event loop no turn.
    const flood = (error?: Error | null): void => {
      if ((error ?? null) === null && !connection.socket.destroyed) connection.socket.write(chunk, flood);
    };

    flood();

    expect(await connection.until(/HTTP\/1\.1 \d+/)).toMatch(/^HTTP\/1\.1 413 /);
    await connection.closed;
    expect(receiver.ledger.groups).toEqual([]);
  });

  it('broken off half-way: nothing is stored, and the receiver lives on', async () => {
    const receiver = await receiverOf();
    for (let round = 0; round < 20; round += 1) {
      const connection = await rawConnection(receiver.port);
      connection.socket.write(
        rawRequest([`X-Service-Signature: ${SIGNATURE}`, `Content-Length: ${BODY.length}`], BODY.slice(0, 10)),
      );
      if (round % 2 === 0) connection.socket.resetAndDestroy();
      else connection.socket.destroy();
      await connection.closed;
    }

    expect((await deliver(receiver.url, BODY)).status).toBe(204);
    expect(receiver.ledger.groups.flat()).toHaveLength(1);
  });
});

describe('what no client would send', () => {
  const signed = `X-Service-Signature: ${SIGNATURE}`;
  const length = `Content-Length: ${BODY.length}`;

  it.each([
    ['the signature twice, both right', rawRequest([signed, signed, length], BODY), /^HTTP\/1\.1 401 /],
    ['a length that is smaller than the body', rawRequest([signed, 'Content-Length: 5'], BODY), /^HTTP\/1\.1 40[01] /],
    [
      'length and chunks together (smuggling)',
      rawRequest([signed, length, 'Transfer-Encoding: chunked'], BODY),
      /^HTTP\/1\.1 400 /,
    ],
    ['headers larger than Node takes', rawRequest([`X-Padding: ${'a'.repeat(40_000)}`]), /^HTTP\/1\.1 431 /],
    ['what is not HTTP at all', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', /^HTTP\/1\.1 400 /],
  ])('is refused, and nothing is stored: %s', async (_name, bytes, answer) => {
    const receiver = await receiverOf();
    const connection = await rawConnection(receiver.port);

    connection.socket.write(bytes);

    expect(await connection.closed).toMatch(answer);
    expect(receiver.ledger.groups).toEqual([]);
  });
});

describe('slow requests', () => {
  it('headers that never end: 408 and closed', async () => {
    const receiver = await receiverOf({ timeouts: IMPATIENT });
    const connection = await rawConnection(receiver.port);

    connection.socket.write('POST /webhooks HTTP/1.1\r\nHost: lote\r\nX-A: ');

    expect(await connection.closed).toMatch(/^HTTP\/1\.1 408 /);
  });

  it('a body that drips: closed, and nothing is stored', async () => {
    const receiver = await receiverOf({ timeouts: IMPATIENT });
    const connection = await rawConnection(receiver.port);
    connection.socket.write(rawRequest([`X-Service-Signature: ${SIGNATURE}`, `Content-Length: ${BODY.length}`]));
    const drip = setInterval(() => connection.socket.write('{'), 20);

    await connection.closed;
    clearInterval(drip);

    expect(receiver.ledger.groups).toEqual([]);
    expect((await deliver(receiver.url, BODY)).status).toBe(204);
  });
});
