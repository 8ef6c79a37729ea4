import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createByteBudget, readBody, type ByteBudget, type ReadBody } from '../../../src/webhooks/read-body.ts';
import { rawConnection } from './receiver-fixture.ts';

/** A server that reads each body by the function under test. */
async function serverOf(budget: ByteBudget, before?: (incoming: IncomingMessage) => Promise<void>) {
  const results: Promise<ReadBody>[] = [];
  let arrived: (() => void) | undefined;
  const server = createServer((incoming, response) => {
    const result = (async () => {
      await before?.(incoming);
      return await readBody(incoming, 100, budget);
    })();
    results.push(result);
    arrived?.();
    void result.then(({ kind }) => response.end(kind));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const firstRequest = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  return { url: `http://127.0.0.1:${port}`, port, results, firstRequest };
}

async function post(url: string, body: string): Promise<string> {
  return await (await fetch(url, { method: 'POST', body })).text();
}

describe('readBody', () => {
  it('reads up to the limit and keeps the bytes taken', async () => {
    const budget = createByteBudget(150);
    const server = await serverOf(budget);

    expect(await post(server.url, 'x'.repeat(100))).toBe('read');
    expect(budget.take(51)).toBe(false);
    expect(budget.take(50)).toBe(true);
  });

  it.each([101, 5_000])('refuses %d declared bytes without taking any', async (length) => {
    const budget = createByteBudget(100);
    const server = await serverOf(budget);

    expect(await post(server.url, 'x'.repeat(length))).toBe('too-large');
    expect(budget.take(100)).toBe(true);
  });

  it('gives back what it took of a chunked body that grows too large', async () => {
    const budget = createByteBudget(1_000);
    const server = await serverOf(budget);
    const connection = await rawConnection(server.port);

    connection.socket.write(
      `POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n50\r\n${'x'.repeat(0x50)}\r\n50\r\n${'x'.repeat(0x50)}\r\n`,
    );
    await connection.until(/too-large/);

    expect(budget.take(1_000)).toBe(true);
  });

  it('refuses when the memory of all requests together is spent', async () => {
    const budget = createByteBudget(120);
    const server = await serverOf(budget);
    await post(server.url, 'x'.repeat(100));

    expect(await post(server.url, 'x'.repeat(30))).toBe('no-memory');
    expect(budget.take(20)).toBe(true);
  });

  it.each<[string, ((incoming: IncomingMessage) => Promise<void>) | undefined]>([
    ['goes away half-way', undefined],
    ['was gone before the reading began', (incoming) => new Promise((resolve) => incoming.once('close', resolve))],
  ])('ends when the sender %s, and gives back', async (_name, before) => {
    const budget = createByteBudget(100);
    const server = await serverOf(budget, before);
    const connection = await rawConnection(server.port);
    connection.socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\nhalf');
    await server.firstRequest;

    connection.socket.resetAndDestroy();

    expect(await server.results[0]).toEqual({ kind: 'aborted' });
    expect(budget.take(100)).toBe(true);
  });
});
