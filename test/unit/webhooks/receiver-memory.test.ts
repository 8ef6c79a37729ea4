import { fork } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import { deliver, eventOf, rawConnection, signatureOf } from './receiver-fixture.ts';

const CONNECTIONS = 200;

/** 20 MB measured, sockets and code included; 200 oversize bodies read to their end would be 200 MB. */
const FLAT_BYTES = 60 * 1024 * 1024;

interface Measured {
  readonly url: string;
  readonly port: number;
  readonly rss: number;
}

/** A receiver in a process of its own; each call asks it how much memory it has. */
async function receiverProcess(): Promise<() => Promise<Measured>> {
  const child = fork(new URL('receiver-process.ts', import.meta.url), { execArgv: ['--import', 'tsx'] });
  onTestFinished(() => {
    child.disconnect();
  });
  await once(child, 'message');
  return async () => {
    const answer = once(child, 'message');
    child.send('measure');
    const [measured] = (await answer) as [Measured];
    return measured;
  };
}

describe('the receiver', () => {
  it('keeps its memory flat under 200 slow and 200 oversize connections, and serves real deliveries', async () => {
    const measure = await receiverProcess();
    const { url, port } = await measure();
    await deliver(url, eventOf(0));
    const before = await measure();
    const head = `POST /webhooks HTTP/1.1\r\nHost: lote\r\nX-Service-Signature: ${signatureOf('')}\r\n`;

    for (let n = 0; n < CONNECTIONS; n += 1) {
      const slow = await rawConnection(port);
      slow.socket.write(`${head}Content-Length: 250000\r\n\r\n${'x'.repeat(1_000)}`);
    }
    const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`.repeat(16);
    const answers = await Promise.all(
      Array.from({ length: CONNECTIONS }, async () => {
        const oversize = await rawConnection(port);
        oversize.socket.write(`${head}Transfer-Encoding: chunked\r\n\r\n${chunk}`);
        return (await oversize.closed).slice(0, 12);
      }),
    );
    const real = await deliver(url, eventOf(1));
    const after = await measure();

    expect(real.status).toBe(204);
    // A sender that is still writing when the receiver hangs up may see a reset in place of the answer.
    expect(new Set(answers)).toSatisfy((seen: Set<string>) =>
      [...seen].every((start) => start === '' || start === 'HTTP/1.1 413'),
    );
    expect(after.rss - before.rss).toBeLessThan(FLAT_BYTES);
    console.log('MB', (after.rss - before.rss) / 1e6, new Set(answers), answers.filter((a) => a !== '').length);
  });
});
