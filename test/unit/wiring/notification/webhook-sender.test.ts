import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it, onTestFinished } from 'vitest';
import { postSigned } from '../../../../src/wiring/notification/webhook-sender.ts';

const SECRET = `whsec_${Buffer.from('0123456789abcdef0123456789abcdef').toString('base64')}`;
const MESSAGE = { id: 'night-default-2026-11-23-1a2b3c4d-webhook', body: '{"type":"night.finished","note":"é"}' };

interface Got {
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

async function receiver(answer: (response: ServerResponse) => void) {
  const got: Got[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      got.push({ headers: request.headers, body });
      answer(response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { got, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook` };
}

describe('a message by webhook', () => {
  it('is one that the library of Standard Webhooks verifies, and a changed one is not', async () => {
    const { got, url } = await receiver((response) => response.writeHead(204).end());

    await postSigned({ url, secret: SECRET }, MESSAGE, Date.now());

    const [{ headers, body } = { headers: {}, body: '' }] = got;
    const given = headers as Record<string, string>;
    expect(new Webhook(SECRET).verify(body, given)).toEqual({ type: 'night.finished', note: 'é' });
    expect(given['webhook-id']).toBe(MESSAGE.id);
    expect(() => new Webhook(SECRET).verify(body.replace('é', 'e'), given)).toThrow('No matching signature');
  });

  it.each([
    [500, 'message-unsent'],
    [429, 'message-unsent'],
    [401, 'message-unsent'],
    [302, 'message-unsent'],
    [410, 'message-refused'],
  ])('that is answered %i ends as %s', async (status, code) => {
    const other = await receiver((response) => response.end());
    const { url } = await receiver((response) => response.writeHead(status, { location: other.url }).end());

    await expect(postSigned({ url, secret: SECRET }, MESSAGE, Date.now())).rejects.toMatchObject({ code });
    expect(other.got).toEqual([]);
  });

  it('may go later when the answer does not come in time', async () => {
    const { url } = await receiver(() => undefined);

    await expect(postSigned({ url, secret: SECRET, timeoutMs: 100 }, MESSAGE, Date.now())).rejects.toMatchObject({
      code: 'message-unsent',
    });
  });
});
