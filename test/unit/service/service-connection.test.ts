import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openConnection, serviceAddress, type ConnectionOptions } from '../../../src/service/service-connection.ts';
import { DEFAULT_PROFILE } from '../../../src/service/profile/profile.ts';
import { scriptedServer, sendJson, tcpServer } from './scripted-server.ts';
import type { MeasureRequest } from '../../../src/domain/records/measures.ts';

const GET = { operation: 'get-invoice', method: 'GET', path: '/v1/invoices/inv_1', signal: undefined } as const;
const BODY = { body: '{"a":1}', idempotencyKey: 'lote_1' };
const POST = { ...GET, operation: 'create-invoice', method: 'POST', path: '/v1/invoices', ...BODY } as const;

/** Whoever opens it closes it. */
function opened(baseUrl: string, options: Partial<ConnectionOptions> = {}) {
  return openConnection({
    ...{ baseUrl, apiKey: 'sk_test_connection', profile: DEFAULT_PROFILE, application: 'tests' },
    ...options,
  });
}

function connectionTo(baseUrl: string, options: Partial<ConnectionOptions> = {}) {
  const connection = opened(baseUrl, options);
  onTestFinished(async () => await connection.close());
  return connection;
}

describe('the time that an answer has in its head', () => {
  it('is told, of a refusal too; null where there is no such head, or none that is a time', async () => {
    const heard: (number | null)[] = [];
    const dates = ['Fri, 27 Nov 2026 05:00:00 GMT', 'Fri, 27 Nov 2026 05:00:01 GMT', 'soon'];
    const server = await scriptedServer((_request, response) => {
      const date = dates.shift();
      response.sendDate = false;
      if (date !== undefined) response.setHeader('date', date);
      sendJson(response, dates.length === 1 ? 503 : 200, {});
    });
    const connection = connectionTo(server.baseUrl, { heard: (at) => void heard.push(at) });

    await connection.call(POST);
    for (let call = 0; call < 3; call += 1) await connection.call(GET);

    expect(heard).toEqual([Date.UTC(2026, 10, 27, 5), Date.UTC(2026, 10, 27, 5, 0, 1), null, null]);
  });
});

describe('time-outs of a request', () => {
  it.each([
    ['the headers do', { headers: 50 }, '', { kind: 'broken', code: 'answer-timeout' }],
    [
      'the body does',
      { body: 50 },
      'HTTP/1.1 201 Created\r\ncontent-length: 9\r\n\r\n{',
      { kind: 'answer', body: { kind: 'unreadable', why: 'cut-short' } },
    ],
  ])('end it when %s not come', async (_name, timeouts, bytes, end) => {
    const server = await tcpServer((socket) => socket.on('data', () => socket.write(bytes)));

    // Undici looks at its own clock every half second or so.
    expect(await connectionTo(server.baseUrl, { timeouts }).call(POST)).toMatchObject(end);
  });

  it('end it before anything was sent when no connection comes about', async () => {
    // A server that takes connections and speaks no TLS: the handshake never ends.
    const server = await tcpServer((socket) => socket.resume());
    const connection = connectionTo(server.baseUrl.replace('http:', 'https:'), { timeouts: { connect: 50 } });

    expect(await connection.call(POST)).toEqual({ kind: 'not-sent', code: 'connect-timeout', retryAfterMs: null });
  });
});

describe('what each request tells those who measure', () => {
  it('is its kind, how long it waited for its permit, and how it ended', async () => {
    const measured: unknown[] = [];
    const measure: MeasureRequest = (operation, waitedMs) => {
      measured.push([operation, waitedMs >= 0 && waitedMs < 60_000]);
      return (outcome) => void measured.push(outcome);
    };
    const server = await scriptedServer((_request, response, nth) => sendJson(response, nth === 1 ? 201 : 503, {}));
    const connection = connectionTo(server.baseUrl, { measure });

    await connection.call(POST);
    await connection.call(GET);

    expect(measured).toEqual([['create-invoice', true], '2xx', ['get-invoice', true], '5xx']);
  });
});

describe('a connection that is closed', () => {
  it('lets what is on its way end, and sends nothing more', async () => {
    const server = await scriptedServer((_request, response) => {
      setTimeout(() => sendJson(response, 201, { id: 'inv_1' }), 50);
    });
    const connection = opened(server.baseUrl);
    const onItsWay = connection.call(POST);
    while (server.received.length === 0) await sleep(5);

    await connection.close();

    expect(await onItsWay).toMatchObject({ kind: 'answer', status: 201 });
    expect(await connection.call(POST)).toMatchObject({ kind: 'not-sent' });
    expect(server.received).toHaveLength(1);
  });
});

const KEY = 'sk_test_very-secret-1234';

function addressOf(baseUrl: string, apiKey: string, allowPlainHttp = false) {
  return serviceAddress({ baseUrl, apiKey, application: 'a', profile: { allowPlainHttp } });
}

describe('serviceAddress', () => {
  it.each([
    ['https://api.example.org', 'https://api.example.org', ''],
    ['https://api.example.org/', 'https://api.example.org', ''],
    ['https://api.example.org/tax//', 'https://api.example.org/tax', '/tax'],
    ['http://127.0.0.1:8092/tax/', 'http://127.0.0.1:8092/tax', '/tax'],
    ['HTTPS://API.example.org:443', 'https://api.example.org', ''],
  ])('reads %s', (baseUrl, expected, pathPrefix) => {
    expect(addressOf(baseUrl, KEY)).toMatchObject({ baseUrl: expected, pathPrefix });
  });

  it.each(['sk_live_very-secret', 'anything-else', 'sk_tes_typo'])(
    'refuses to send the key %j over plain http to another machine, without showing it',
    (apiKey) => {
      const attempt = (): unknown => addressOf('http://a.example:8080', apiKey);

      expect(attempt).toThrow(expect.objectContaining({ code: 'configuration-invalid' }));
      expect(attempt).toThrow(/"a\.example"\. Nothing was sent.*"allowPlainHttp": true/s);
      expect(attempt).not.toThrow(new RegExp(apiKey));
      for (const baseUrl of [
        'http://127.0.0.1.a.example',
        'http://localhost.a.example',
        'http://10.0.0.1',
        'http://evil-localhost',
        'http://my.localhost',
        'http://0.0.0.0',
      ]) {
        expect(() => addressOf(baseUrl, apiKey)).toThrow(/must go over https/);
      }
    },
  );

  it.each([
    ['https://a.example', 'sk_live_x', false],
    ['http://127.0.0.1:8092', 'sk_live_x', false],
    ['http://localhost:8092', 'sk_live_x', false],
    ['http://127.10.20.130:8092', 'sk_live_x', false],
    ['http://[::1]:8092', 'sk_live_x', false],
    ['http://a.example', 'sk_test_x', false],
    ['http://a.example', 'sk_live_x', true],
  ])('takes %s with %s, where plain HTTP is allowed: %j', (baseUrl, apiKey, allowPlainHttp) => {
    expect(addressOf(baseUrl, apiKey, allowPlainHttp).baseUrl).toBe(baseUrl);
  });
});
