import { Agent, createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { closeServer } from '../../../src/platform/listen.ts';

const BEFORE_CLOSE = 3;
/** Far more than one connection may bring after the end has begun. */
const MOST = 1_000;

it('a server that closes ends the connection of a sender that goes on, with an answer to each request that it took', async () => {
  let taken = 0;
  const closing: Promise<void>[] = [];
  const server = createServer((_, response) => {
    taken += 1;
    if (taken === BEFORE_CLOSE) closing.push(closeServer(server));
    void sleep(5).then(() => response.end('answered'));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });

  const answers: string[] = [];
  for (let nth = 0; nth < MOST; nth += 1) {
    const answer = await ask(port, agent);
    if (answer === null) break;
    answers.push(answer.headers.connection ?? '');
  }
  await Promise.all(closing);
  agent.destroy();

  expect(taken).toBe(answers.length);
  expect(answers.slice(0, BEFORE_CLOSE)).toEqual(Array.from({ length: BEFORE_CLOSE }, () => 'keep-alive'));
  expect(answers.slice(BEFORE_CLOSE).every((connection) => connection === 'close')).toBe(true);
  expect(answers.length).toBeLessThanOrEqual(BEFORE_CLOSE + 1);
});

it('a server that closes answers the request in hand, and waits for nothing after it', async () => {
  const server = createServer((_, response) => void sleep(50).then(() => response.end('answered')));
  server.keepAliveTimeout = 60_000;
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const arrived = once(server, 'request');
  const asked = ask(port, agent);
  await arrived;

  const closed = closeServer(server);
  let cut = false;
  const { closeAllConnections } = server;
  server.closeAllConnections = () => {
    cut = true;
    closeAllConnections.call(server);
  };

  expect((await asked)?.statusCode).toBe(200);
  await closed;
  agent.destroy();
  expect(cut, 'its connection was cut').toBe(false);
});

/** Null: no answer. */
function ask(port: number, agent: Agent): Promise<IncomingMessage | null> {
  return new Promise((resolve) => {
    const request = get({ host: '127.0.0.1', port, agent }, (answer) => {
      answer.resume().on('end', () => resolve(answer));
    });
    request.on('error', () => resolve(null));
  });
}
