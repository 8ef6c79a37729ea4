import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { call, errorOf } from './support/client.ts';
import { sandbox } from './support/fixtures.ts';

describe('authentication', () => {
  it.each([
    ['none', ''],
    ['an unknown key', 'Bearer sk_test_unknown'],
    ['a live key', 'Bearer sk_live_sandbox'],
    ['another scheme', 'Basic sk_test_sandbox'],
    ['a key that only begins alike', 'Bearer sk_test_sandbox2'],
  ])('refuses %s with 401', async (_, authorization) => {
    const { url } = await sandbox();

    const reply = await call(url, 'GET', '/v1/merchants', { headers: { Authorization: authorization } });

    expect(reply.status).toBe(401);
    expect(errorOf(reply)['code']).toBe('api_key_refused');
    expect(reply.headers.get('www-authenticate')).toBe('Bearer');
  });
});

describe('the server', () => {
  it('answers its health without a key', async () => {
    const { url } = await sandbox();

    const reply = await call(url, 'GET', '/_sandbox/health', { headers: { Authorization: '' } });

    expect(reply.json).toEqual({ status: 'ok' });
  });

  it.each([
    ['GET', '/', 404, null],
    ['GET', '/v1', 404, null],
    ['POST', '/v1/invoices/', 404, null],
    ['GET', '/v1/webhooks/whk_1', 404, null],
    ['GET', '/v2/merchants', 404, null],
    ['GET', '/v1/invoices', 405, 'POST'],
    ['DELETE', '/v1/invoices/inv_1', 405, 'GET'],
    ['PUT', '/v1/merchants', 405, 'POST, GET'],
    ['GET', '/v1/webhooks', 405, 'POST'],
  ])('answers to %s %s with %d, and what is allowed', async (method, path, status, allowed) => {
    const { url } = await sandbox();

    const reply = await call(url, method, path);

    expect([reply.status, reply.headers.get('allow')]).toEqual([status, allowed]);
    expect(errorOf(reply)['code']).toBe(status === 404 ? 'route_not_found' : 'method_not_allowed');
  });

  it.each<[string, string | Buffer, Record<string, string>, number, string]>([
    ['a body that is not UTF-8', Buffer.from([0x22, 0xe9, 0x22]), {}, 400, 'body_unreadable'],
    ['the content type text/plain', '{}', { 'Content-Type': 'text/plain' }, 415, 'content_type_unsupported'],
    ['a longer content type', '{}', { 'Content-Type': 'application/jsonp' }, 415, 'content_type_unsupported'],
    [
      'a content type with a charset',
      '{}',
      { 'Content-Type': 'Application/JSON; charset=utf-8' },
      422,
      'field_missing',
    ],
    ['a body of just under 256 KiB', JSON.stringify('x'.repeat(256 * 1024 - 2)), {}, 422, 'field_invalid'],
    ['an empty key', '{}', { 'Idempotency-Key': '' }, 400, 'idempotency_key_invalid'],
    ['a key that is too long', '{}', { 'Idempotency-Key': 'k'.repeat(256) }, 400, 'idempotency_key_invalid'],
    ['a key with a space', '{}', { 'Idempotency-Key': 'a b' }, 400, 'idempotency_key_invalid'],
    ['a key that is not ASCII', '{}', { 'Idempotency-Key': 'é' }, 400, 'idempotency_key_invalid'],
  ])('answers to %s as the documentation says', async (_, body, headers, status, code) => {
    const { url } = await sandbox();
    const given = { Authorization: 'Bearer sk_test_sandbox', 'Content-Type': 'application/json', ...headers };

    const response = await fetch(`${url}/v1/merchants`, { method: 'POST', headers: given, body });

    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ error: { code } });
  });

  it('answers 413 to a body over 256 KiB that comes in chunks without an end', async () => {
    const { port } = await sandbox();
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    socket.write(
      'POST /v1/merchants HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer sk_test_sandbox\r\n' +
        'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n',
    );
    for (let chunk = 0; chunk < 40; chunk += 1) socket.write(`2000\r\n${'x'.repeat(0x2000)}\r\n`);

    const answer = await new Promise<string>((resolve) => socket.once('data', (data) => resolve(data.toString())));
    socket.destroy();

    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
  });
});
